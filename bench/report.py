"""How a measure is printed: what was reached, what was asked."""


def at_least(name: str, value: float, goal: float) -> bool:
    """Print a speed-up and whether it reaches its goal."""
    return _line(name, f"{value:.1f}x faster", f"goal {goal:g}x", value >= goal)


def at_most(name: str, value: float, goal: float, unit: str) -> bool:
    """Print a ratio that should stay small."""
    return _line(name, f"{value:.2f}x {unit}", f"goal {goal:g}x or less", value <= goal)


def _line(name: str, value: str, goal: str, good: bool) -> bool:
    print(f"{'ok  ' if good else 'MISS'}  {name:<62} {value:<34} {goal}", flush=True)
    return good
