"""Check rows by hand: plan which, and estimate from them."""

COMMANDS = {"Commands": ("plan", "estimate", "matrix", "replicates", "change", "stop", "index")}
