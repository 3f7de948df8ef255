"""The commands: each module parses its flags, calls the harness and prints; no command computes anything."""
