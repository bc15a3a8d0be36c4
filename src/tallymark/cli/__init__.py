"""The command line. It computes nothing that the library does not."""
