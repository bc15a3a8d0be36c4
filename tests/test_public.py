"""The surface people rely on: names, lightness, documentation."""

import subprocess
import sys

import pytest

import tallymark as tm
from stubs import stubs


def loaded_by(statement):
    code = f"{statement}\nimport sys; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


HEAVY = {"altair", "duckdb", "narwhals", "pandas", "polars", "pyarrow", "rich", "scipy", "sklearn", "typer"}


def test_every_public_name_exists_and_is_documented():
    assert list(tm.__all__) == sorted(tm.__all__, key=str.casefold)
    for name in tm.__all__:
        assert getattr(tm, name).__doc__, name
    assert set(tm.__all__) < set(dir(tm))
    with pytest.raises(AttributeError, match="no attribute 'talley'"):
        tm.talley


@pytest.mark.parametrize(("path", "text"), stubs().items(), ids=lambda one: getattr(one, "name", ""))
def test_editors_are_shown_the_names_that_are_declared(path, text):
    assert path.read_text(encoding="utf-8") == text, "python tests/stubs.py writes the stubs"


def test_a_name_stays_what_it_is_on_second_use():
    code = (
        "import tallymark as tm; a = tm.tally; import tallymark.summaries.tally; assert tm.tally is a and callable(a)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_imports_are_quiet():
    assert not loaded_by("import tallymark") & (HEAVY | {"numpy"})
    work = (
        "import tallymark as tm; t = tm.tally([0, 1, 0], [.1, .7, .3]); tm.metrics.auroc(t); t.at('youden'); tm.roc(t)"
    )
    assert not loaded_by(work) & (HEAVY - {"scipy"})
    assert not loaded_by("from tallymark.cli import app") & (HEAVY - {"typer", "rich"} | {"numpy"})


def test_an_engine_brings_in_no_other():
    frame = "import pandas as pd, tallymark as tm; tm.tally(pd.DataFrame({'y': [0, 1], 'p': [0.1, 0.2]}), label='y', score='p')"
    assert not loaded_by(frame) & {"polars", "duckdb", "sklearn"}
