"""What most users never open; the core reaches it by name, through the registry."""
