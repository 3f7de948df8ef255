"""What the judge is worth: position, agreement, length, repeats, its own family, panels."""
