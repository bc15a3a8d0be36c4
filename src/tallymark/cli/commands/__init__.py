"""The commands, one file each, named for what one types."""
