"""How long the first line takes: import and ``--help`` beside ``import numpy``."""

from collections.abc import Iterator
from statistics import median

from bench.report import at_most
from bench.timing import command_seconds


def run(repeats: int) -> Iterator[bool]:
    numpy = median(command_seconds(["-c", "import numpy"], repeats))
    imported = median(command_seconds(["-c", "import tallymark"], repeats))
    used = median(command_seconds(["-c", "import tallymark as tm; tm.tally; tm.evaluate"], repeats))
    asked = median(command_seconds(["-m", "tallymark.cli.app", "--help"], repeats))
    yield at_most("import tallymark", imported / numpy, 2.5, "of import numpy")
    yield at_most("import tallymark and load tally and evaluate", used / numpy, 2.5, "of import numpy")
    yield at_most("tallymark --help", asked / numpy, 4.0, "of import numpy")
