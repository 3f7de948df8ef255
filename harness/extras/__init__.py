"""Rooms that the core never imports; the registry finds them by name."""
