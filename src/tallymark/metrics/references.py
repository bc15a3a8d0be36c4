"""Sources that several metrics share."""

GUBBELS = "Gubbels (2023), master thesis, TU Eindhoven, ch. 1."
