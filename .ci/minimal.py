"""What must work without any extra: run by ``make minimal`` in an environment that has none, by no one else."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import tallymark as tm

for name in ("sklearn", "altair", "jinja2", "pandas", "polars", "pyarrow"):
    assert importlib.util.find_spec(name) is None, f"{name} is installed, so this shows nothing"

y, p = [0, 0, 1, 0, 1, 1, 0, 0, 1, 0], [0.10, 0.35, 0.40, 0.20, 0.80, 0.90, 0.60, 0.05, 0.55, 0.30]
t = tm.tally(y, p)
assert 0.9 < tm.evaluate(t)["auroc"].value < 0.92
assert tm.compare(tm.panel(y, {"a": p, "b": p[::-1]})).low < 1
assert 0 <= tm.quantify.estimate("ac", t, tm.tally(scores=p)).prevalence <= 1
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "d.csv"
    file.write_text("y,p\n" + "\n".join(f"{a},{b}" for a, b in zip(y, p, strict=True)), encoding="utf-8")
    command = [sys.executable, "-m", "tallymark", "evaluate", str(file), "--label", "y", "--score", "p"]
    assert "auroc" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for call, needed in ((lambda: tm.report(t, f"{folder}/r.html"), "report"), (lambda: tm.quantify.AC, "sklearn")):
        try:
            call()
        except tm.InputError as error:
            assert f"tallymark[{needed}]" in str(error), error
        else:
            raise AssertionError(f"{needed} is not installed, but nothing was said")
print("Works without extras.")
