"""From a kernel to a published count: checks, limits, groups and assumptions."""
