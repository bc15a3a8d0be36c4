"""Names that are imported when first used."""

import subprocess
import sys

import pytest

from tallymark._lazy import lazy_names


def test_names_are_loaded_from_their_modules():
    load, listed, names = lazy_names("tallymark.errors", {"errors": ("InputError",)}, ("errors",))
    assert names == ["errors", "InputError"]
    assert listed() == [*names, "__version__"]
    assert load("InputError") is load("errors").InputError
    with pytest.raises(AttributeError, match="module 'tallymark.errors' has no attribute 'OutputError'"):
        load("OutputError")


def test_results_load_what_is_used():
    code = (
        "import sys; from tallymark.results import Tally; "
        "assert not any(name.startswith(('tallymark.prices', 'tallymark.study', 'tallymark.rare')) for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
