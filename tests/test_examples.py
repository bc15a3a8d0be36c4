"""Every example runs and prints something."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path):
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert len(run.stdout.splitlines()) > 3
    assert run.stderr == ""
