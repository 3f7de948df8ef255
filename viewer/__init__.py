"""The web viewer: every verdict within two clicks."""
