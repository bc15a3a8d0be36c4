"""A command that is stopped: one line, its own status, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

SLOW = """
import sys, time
import tallymark.cli.app as app
from tallymark.sources.duck import connected

def slow():
    with connected("f", []):
        print("ready", flush=True)
        time.sleep(60)

app.main = slow
from tallymark.__main__ import main
main()
"""

#: Stopped while a library of the program's is loaded.
STARTING = """
import sys, time

class Slow:
    def find_spec(self, name, *_):
        if name == "tallymark.cli.app":
            print("ready", flush=True)
            time.sleep(60)

from tallymark.__main__ import main
sys.meta_path.insert(0, Slow())
main()
"""

#: Stopped where Python drops exceptions.
DROPPED = """
import sys, time
import tallymark.cli.app as app

class Held:
    def __del__(self):
        print("ready", flush=True)
        time.sleep(60)

def slow():
    held = Held()
    del held
    time.sleep(60)

app.main = slow
from tallymark.__main__ import main
main()
"""


@pytest.mark.parametrize("script", [SLOW, STARTING, DROPPED], ids=["running", "starting", "destructor"])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"])
def test_one_line_and_nothing_left(script, number, status, tmp_path):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    running = subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout.readline() == "ready\n"
    time.sleep(0.1)
    running.send_signal(number)
    try:
        _, said = running.communicate(timeout=30)
    finally:
        running.kill()
    assert said == "tallymark: stopped.\n"
    assert running.returncode == status
    assert not list(tmp_path.iterdir())


def test_an_exit_of_its_own_keeps_its_status():
    done = subprocess.run([sys.executable, "-m", "tallymark", "evaluate", "none.csv"], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=False)  # fmt: skip
    assert done.returncode == 2
    assert "stopped" not in done.stderr
