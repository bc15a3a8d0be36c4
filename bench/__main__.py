"""``python -m bench list`` and ``python -m bench run [NAME …]``: peers and us in one run on the same data."""

import argparse
import importlib
import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

#: Each benchmark: its module, the rows it runs on by default, and what it compares.
BENCHMARKS: Mapping[str, tuple[str, int, str]] = {
    "startup": ("bench.startup", 0, "import and --help beside import numpy"),
    "first-look": ("bench.curves_and_ranking", 10_000_000, "AUROC and both curves beside scikit-learn and one sort"),
    "frames": ("bench.frames", 10_000_000, "AUROC from dataframes beside scikit-learn"),
    "scan": ("bench.scanning", 20_000_000, "a Parquet file beside DuckDB's own sum over it"),
    "growth": ("bench.growth", 20_000_000, "time per row of a scan as files grow"),
    "evaluate": ("bench.evaluating", 10_000_000, "groups, all metrics, many classes beside loops, tallies and sorts"),
    "intervals": (
        "bench.intervals",
        100_000,
        "bootstrap and DeLong beside scikit-learn, MLstatkit, confidenceinterval",
    ),
    "quantifiers": ("bench.quantifiers", 10_000_000, "quantifiers beside QuaPy, and beside tallying what they count"),
    "neighbours": ("bench.neighbours", 10_000, "the grid of PWKα beside a scikit-learn loop; MOD beside its searches"),
    "structured_svm": ("bench.structured_svm", 100_000, "argmax and fits beside LinearSVC, and how they grow"),
    "rare": ("bench.rare", 100_000, "1 000 machines on generated texts, 0.23 % positive, in time and memory"),
    "study": (
        "bench.study",
        1_000_000,
        "a protocol beside QuaPy, a store of a million cells, a whole study of the thesis",
    ),
    "index_under_error": (
        "bench.index_under_error",
        10_000,
        "an index of thousands of drawn classifiers beside a pandas loop",
    ),
    "report": ("bench.reports", 10_000_000, "a report of two models beside evaluating them"),
    "clusters": ("bench.clusters", 2_000_000, "Spark beside MLlib, Dask beside fetching the rows"),
}
PEERS = tuple(
    line.split("==")[0].split("[")[0]
    for line in (Path(__file__).parent / "peers.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="what there is")
    run = commands.add_parser("run", help="run some, or all")
    run.add_argument("names", nargs="*", metavar="NAME", choices=[*BENCHMARKS, []])
    run.add_argument("--size", type=int, help="rows, instead of each benchmark's own")
    run.add_argument("--repeats", type=int, default=3)
    run.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if options.command == "list":
        for name, (_, rows, what) in BENCHMARKS.items():
            print(f"{name:<12} {what}" + (f" ({rows / 1e6:g} M rows)" if rows else ""))
        return
    here = {"python": platform.python_version(), "cores": os.cpu_count(), **{peer: version(peer) for peer in PEERS}}
    if not options.json:
        print(", ".join(f"{name} {value}" for name, value in here.items()))
    measured = []
    for name in options.names or BENCHMARKS:
        module, rows, _ = BENCHMARKS[name]
        for one in importlib.import_module(module).run(options.size or rows, options.repeats):
            measured.append(one)
            if not options.json:
                print(one.line(), flush=True)
    if options.json:
        print(json.dumps({"versions": here, "measures": [one.to_dict() for one in measured]}, indent=2))
    raise SystemExit(0 if all(one.reached for one in measured) else 1)


if __name__ == "__main__":
    main()
