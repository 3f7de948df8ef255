"""Rooms that are being replaced; only `harness.cli` and the public functions use them."""
