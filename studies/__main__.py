"""``python -m studies``: *The seeds reproduced*, one page with every table and figure of the five documents.

A run that is stopped goes on where it was. The data are read from the folder that TALLYMARK_DATA names. Ends with
status 1 where an exact fact disagrees.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
import warnings
from pathlib import Path

from bench.datasets import data_folder

from studies.exhibits import EXHIBITS, Effort, Finished, Store
from studies.page import write_page
from tallymark.study.datasets import MissingData

#: One module a document, in the order of the page.
DOCUMENTS = ("pearson", "rare_events", "roc_exercise", "price_classifiers", "quantification", "simple_objects")


def main() -> int:
    """Make the page."""
    parser = argparse.ArgumentParser(prog="studies", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("seeds"), help="folder of the page (default: seeds)")
    parser.add_argument("--quick", action="store_true", help="few draws, bags and data sets: does everything work?")
    parser.add_argument("--only", nargs="*", help="exhibits whose document and name contain one of these texts")
    options = parser.parse_args()
    for name in DOCUMENTS:
        importlib.import_module(f"studies.{name}")
    os.environ.setdefault("TALLYMARK_DATA", str(data_folder()))
    warnings.simplefilter("ignore")
    folder = options.out / ("quick" if options.quick else "whole")
    store = Store(folder / "answers", Effort(options.quick, folder))
    started = time.perf_counter()
    chosen = [
        one
        for one in EXHIBITS
        if options.only is None or any(text.lower() in f"{one.document} {one.name}".lower() for text in options.only)
    ]
    answers = {}
    for place, one in enumerate(chosen, 1):
        print(f"[{place}/{len(chosen)}] {one.document}, {one.name}: {one.title}", file=sys.stderr, flush=True)
        try:
            answers[one] = store.answer(one)
        except MissingData as error:
            answers[one] = Finished(0.0, remark=f"Not made: {error}")
            print(f"  not made: {error}", file=sys.stderr, flush=True)
    page = folder / "index.html"
    write_page(page, answers, quick=options.quick)
    facts = [(one, fact) for one, answer in answers.items() for fact in answer.facts]
    wrong = [(one, fact) for one, fact in facts if fact.exact and not fact.agrees]
    for one, fact in wrong:
        print(f"{one.document}, {one.name}: {fact.what}: printed {fact.printed}, ours {fact.ours}")
    print(
        f"{page}: {len(answers)} exhibits, {sum(len(answer.figures) for answer in answers.values())} figures, "
        f"{sum(fact.agrees for _, fact in facts)} of {len(facts)} facts agree, "
        f"{len(wrong)} exact ones disagree; {time.perf_counter() - started:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
