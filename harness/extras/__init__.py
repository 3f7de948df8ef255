"""Rooms that the core never imports: it reaches them by the names of `harness.registry`."""
