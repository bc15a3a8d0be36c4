"""The commands, one module or package each, listed by the question they answer."""

COMMANDS = {
    "What is in a file?": ("look", "serve"),
    "How good is it?": ("evaluate", "thresholds", "mann-whitney", "by-size", "sample-size"),
    "Which is better?": ("compare", "space", "detect"),
    "How many are there?": ("quantify", "from-counts", "rare", "calibrate"),
    "What do errors do?": ("costs", "impact", "index", "advise"),
    "Has it changed?": ("watch",),
    "Which rows must people check?": ("audit",),
    "Are judges or raters right?": ("judge", "agree"),
    "Studies": ("study",),
    "Tools": ("metrics", "policies", "quantifiers", "merge", "skill", "demo"),
}
