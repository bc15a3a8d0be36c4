"""``python -m fuzz [--minutes 60] [--start 0] [AREA …]``: cases until the time is over; a finding says how to see it again.

``python -m fuzz --case AREA SEED`` runs one case.
"""

import argparse
import sys
import time
from collections import Counter

from fuzz.areas import AREAS, tried


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"some of: {', '.join(AREAS)}; left out, all")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long, all areas together")
    parser.add_argument("--start", type=int, default=0, help="first seed")
    parser.add_argument("--case", nargs=2, metavar=("AREA", "SEED"), help="run one case")
    asked = parser.parse_args()
    if asked.case:
        found = tried(asked.case[0], int(asked.case[1]))
        print(found or "nothing found")
        return int(found is not None)
    areas = asked.areas or list(AREAS)
    cases, findings = Counter(), Counter()
    for area in areas:
        seed, until = asked.start, time.monotonic() + 60.0 * asked.minutes / len(areas)
        while time.monotonic() < until:
            found = tried(area, seed)
            cases[area] += 1
            if found is not None:
                findings[area] += 1
                print(f"{area} {seed}: {found}", flush=True)
            seed += 1
        print(f"{area}: {cases[area]} cases, {findings[area]} findings", flush=True)
    return int(sum(findings.values()) > 0)


if __name__ == "__main__":
    sys.exit(main())
