"""Which model is better on the same rows, and is it sure."""
