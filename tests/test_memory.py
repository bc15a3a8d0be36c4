"""Commands in little memory: a sentence, never a crash, a traceback or an endless wait."""

import re
import resource
import subprocess
import sys

import pytest

from tallymark import _memory


def in_memory(megabytes, *words, folder):
    """A command that may take so much address space."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))

    return subprocess.run(
        [sys.executable, "-m", "tallymark", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("megabytes", "said"),
    [
        (300, "not enough memory"),
        # Between these, loading a linear algebra never ended.
        (360, "not enough memory"),
        (540, "Reading 'rows.csv' takes .* MB of address space, and this process may take .* MB more"),
        # Here the engine crashed.
        (760, "raise its limit"),
    ],
)
def test_too_little_is_said(tmp_path, megabytes, said):
    (tmp_path / "rows.csv").write_text("y,p\n" + "0,0.1\n1,0.8\n0,0.4\n1,0.35\n" * 10)
    done = in_memory(megabytes, "evaluate", "rows.csv", "--label", "y", "--score", "p", folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert re.search(said, done.stderr)


def test_enough_is_enough(tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n" + "0,0.1\n1,0.8\n0,0.4\n1,0.35\n" * 10)
    done = in_memory(1_400, "evaluate", "rows.csv", "--label", "y", "--score", "p", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_room_is_known_where_there_is_a_limit():
    assert _memory.room() is None
    code = "from tallymark import _memory; print(_memory.room())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)),
    )
    assert 0.8 * 2**30 < int(done.stdout) < 2**30
