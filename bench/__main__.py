"""``python -m bench``: run the benchmarks and print each measure beside its goal."""

import argparse
import platform

import numpy as np

from bench import curves_and_ranking, scanning, startup


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--file-rows", type=int, default=20_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    reached = [
        *startup.run(options.repeats * 3),
        *curves_and_ranking.run(options.rows, options.repeats),
        *scanning.run(options.file_rows, options.repeats),
    ]
    raise SystemExit(0 if all(reached) else 1)


if __name__ == "__main__":
    main()
