"""How long the first line takes: import and ``--help`` beside ``import numpy``."""

from collections.abc import Iterator

from bench.report import Measured, at_most
from bench.timing import ratios, rounds, run_python


def run(rows: int, repeats: int) -> Iterator[Measured]:
    """Each command in a fresh interpreter; the first round, which fills the disk cache, does not count."""
    del rows
    contenders = {
        "numpy": ["-c", "import numpy"],
        "import tallymark": ["-c", "import tallymark"],
        "import tallymark, load tally and evaluate": ["-c", "import tallymark as tm; tm.tally; tm.evaluate"],
        "tallymark --help": ["-m", "tallymark.cli.app", "--help"],
    }
    timed = rounds({name: lambda code=code: run_python(code) for name, code in contenders.items()}, 3 * repeats + 1)
    seconds = {name: times[1:] for name, times in timed.items()}
    for name in list(contenders)[1:]:
        yield at_most(name, ratios(seconds, name, "numpy"), 4.0 if "help" in name else 2.5, "of import numpy")
