"""Numbers from grades of single answers."""
