"""Rooms that are being replaced; only `harness.cli`, the public functions and `viewer.old` use them."""
