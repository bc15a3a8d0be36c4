"""Cases nobody wrote down: files, stored summaries, command lines and surroundings, made up and mutated by a seed."""
