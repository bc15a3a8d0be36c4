"""A local page for people who do not use a command line: files, questions, answers; nothing leaves the machine."""
