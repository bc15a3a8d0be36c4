"""Check rows by hand: plan which, and estimate from them."""

COMMANDS = {"Commands": ("plan", "estimate", "matrix", "change", "stop", "index")}
