"""Doors into the library: whatever holds labels and scores becomes a summary."""
