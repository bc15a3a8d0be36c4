"""Compare quantifiers on many data sets."""

COMMANDS = {"Commands": ("run", "show", "export", "test", "report")}
