"""What is tried in each area. A case gives None, or a sentence that says what went wrong."""

import inspect
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tallymark as tm
from fuzz import cases
from fuzz.commands import WRITTEN, arguments
from fuzz.working_calls import CALLS
from tallymark.monitor.history import remember
from tallymark.study import stores
from tallymark.study.units import Outcome

Case = Callable[[np.random.Generator, Path], str | None]

#: Ways to read a file, and their number of threads: rows, cells counted here, cells counted by the engine.
_WAYS = ((True, 1), (False, 1), (False, 4))

#: Where cells stand for rows, ranking metrics differ by less than their bound and a little rounding.
_ROUNDING = 1e-9


def _scanned(
    path: Path, made: cases.Rows, mass: str | None, by: str | None, *, exact: bool, threads: int = 1
) -> tm.Tally | tm.Tallies | str:
    """The tally of a file, or the sentence that refuses it."""
    options = {} if mass is None else {("count" if mass == "n" else "weight"): mass}
    # Formats that record types keep text as text.
    typed = any(ending in path.name for ending in (".parquet", ".jsonl", ".ndjson"))
    positive = made.pos_label if typed else _plain(made.pos_label)
    try:
        return tm.scan(
            path, label="y", score="p", pos_label=positive, by=by or (), exact=exact, threads=threads, **options
        )
    except tm.TallymarkError as error:
        if len(str(error)) < 10:
            raise AssertionError(f"no sentence: {error!r}") from error
        return str(error)


def _disagree(first, second, what: str) -> str | None:
    """Two ways to one answer: both refuse, or both say the same."""
    if isinstance(first, str) or isinstance(second, str):
        return None if isinstance(first, str) and isinstance(second, str) else f"{what}: {first!r} but {second!r}"[:400]
    if isinstance(first, tm.Tallies):
        if list(first) != list(second):
            return f"{what}: groups {list(first)} but {list(second)}"
        found = [_disagree(first[key], second[key], what) for key in first]
        return next((one for one in found if one), None)
    if not np.isclose(float(first.n), float(second.n), rtol=1e-9) or not np.isclose(
        float(first.positives), float(second.positives), rtol=1e-9
    ):
        return f"{what}: {first.n}, {first.positives} rows but {second.n}, {second.positives}"
    if first.range != second.range:
        return f"{what}: range {first.range} but {second.range}"
    if not first.positives or not first.negatives:
        return None
    value = tm.metrics.auroc(first)
    low, high = tm.bound(second, "auroc")
    if not low - _ROUNDING <= value <= high + _ROUNDING:
        return f"{what}: AUROC {value} outside {low} to {high}"
    return None


def _file_case(write: Callable[[cases.Rows, Path, np.random.Generator], None], endings: tuple[str, ...]) -> Case:
    def case(rng: np.random.Generator, folder: Path) -> str | None:
        made = cases.rows(rng)
        path = folder / f"rows{rng.choice(endings)}"
        write(made, path, rng)
        mass = [None, "n", "w"][rng.integers(3)]
        by = "g" if rng.random() < 0.3 else None
        if rng.random() < 0.4:
            counts = made.count if mass == "n" else None
            weights = made.weight if mass == "w" else None
            score = made.score.astype(made.kept)
            truth = tm.tally(
                [_plain(one) for one in made.label],
                score,
                counts=counts,
                weights=weights,
                pos_label=_plain(made.pos_label),
            )
            for exact, threads in _WAYS:
                found = _scanned(path, made, mass, None, exact=exact, threads=threads)
                if isinstance(found, str):
                    return f"a good file was refused ({made.shape}): {found}"
                if wrong := _disagree(truth, found, f"memory and file, exact={exact}, {made.shape}, {mass}"):
                    return wrong
            return None
        path.write_bytes(cases.spoiled(path.read_bytes(), rng))
        if not path.stat().st_size:
            return None
        rows, *cells = (_scanned(path, made, mass, by, exact=exact, threads=threads) for exact, threads in _WAYS)
        wrong = (_disagree(rows, found, f"exact and cells of a spoiled file, {mass}, {by}") for found in cells)
        return next((one for one in wrong if one), None)

    return case


def _plain(label):
    """A label as a CSV gives it back."""
    return {"0": 0, "1.0": 1}.get(label, label) if isinstance(label, str) else label


def _write_csv(made, path, rng):
    path.write_bytes(cases.packed(cases.as_csv(made, rng), path.name))


def _write_json(made, path, rng):
    path.write_bytes(cases.packed(cases.as_json_lines(made, rng), path.name))


def _stored(rng: np.random.Generator, folder: Path) -> str | None:
    made = cases.rows(rng)
    path = folder / "x.tally"
    y = [_plain(one) for one in made.label]
    kind = rng.integers(0, 4)
    t = tm.tally(y, made.score, pos_label=_plain(made.pos_label), weights=made.weight if kind == 1 else None)
    summary = [t, t.quantise([0.5]), t.at(0.5), tm.panel(y, {"a": made.score}, pos_label=_plain(made.pos_label))][kind]
    summary.save(path)
    path.write_bytes(cases.spoiled(path.read_bytes(), rng))
    try:
        back = tm.load(path)
    except tm.TallymarkError:
        return None
    same = json.dumps(back.to_dict(), default=str) == json.dumps(summary.to_dict(), default=str)
    return None if same else "a spoiled file was read as something else"


def _store(rng: np.random.Generator, folder: Path) -> str | None:
    """A study's results or a watch's history with some bytes changed: what is read was written, or it is refused."""
    path = folder / "x.db"
    if rng.random() < 0.5:
        write, read = _write_study, _read_study
    else:
        write, read = _write_history, _read_history
    write(path, rng)
    wanted = read(path)
    path.write_bytes(cases.spoiled(path.read_bytes(), rng))
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    if not path.stat().st_size:
        return None
    try:
        found = read(path)
    except tm.TallymarkError:
        return None
    return None if all(row in wanted for row in found) else "a spoiled store was read as something else"


def _write_study(path: Path, rng: np.random.Generator) -> None:
    with stores.writing(path) as store:
        for number in range(int(rng.integers(1, 40))):
            shares = rng.dirichlet(np.ones(2), int(rng.integers(1, 12)))
            cell = Outcome(str(number), shares[:, 1], shares, np.full(len(shares), 9), shares[::-1], None, 0.1)
            store.add("d", number, "m", cell)


def _read_study(path: Path) -> list[tuple[object, ...]]:
    with stores.reading(path) as store:
        return [(c.key, c.drawn.tolist(), c.sizes.tolist(), c.estimates.tolist()) for c in store.cells()]


def _write_history(path: Path, rng: np.random.Generator) -> None:
    rows = [
        {"period": f"2024-{i:02}", "rows": i, "reference": i < 4, "mean_score": float(rng.random())}
        for i in range(1, 13)
    ]
    remember(path, rows)


def _read_history(path: Path) -> list[dict[str, object]]:
    return remember(path, [])


#: A study that works, and what is put in the place of one of its values.
_STUDY = """[study]
name = "t"
seed = 1
losses = ["ae"]
[study.protocol]
kind = "app"
folds = 3
prevalences = [0.2, 0.5]
samples = 2
size = 40
[[dataset]]
file = "d.csv"
label = "y"
scale = 1.0
[classifier.lr]
estimator = "sklearn.linear_model.LogisticRegression"
params = { C = 1.0 }
grid = { C = [1.0, 2.0] }
scoring = "geometric_mean"
[[method]]
name = "cc"
quantifier = "cc"
classifier = "lr"
options = {}
[[method]]
name = "knn"
estimator = "tallymark.quantify.KNN"
"""
_VALUES = ("5", "-1", "1e400", "nan", "true", '""', '"x"', '"a/b"', '"a\\u0000"', "[]", "[[1], [2, 3]]", "{}", '{ memory = "c" }', "2020-01-01",
           '"sklearn.pipeline.Pipeline"', '"os.system"', "[{}]", "1" * 300, "[1, 'x']", '"\\u001b[31m"', f'"{"n" * 300}"')  # fmt: skip


def _study(rng: np.random.Generator, folder: Path) -> str | None:
    (folder / "d.csv").write_text("x,y\n" + "".join(f"{i * 37 % 100},{i % 2}\n" for i in range(60)))
    lines = _STUDY.splitlines()
    for _ in range(int(rng.integers(1, 3))):
        place = int(rng.integers(len(lines)))
        if " = " in lines[place]:
            lines[place] = f"{lines[place].split(' = ')[0]} = {rng.choice(_VALUES)}"
        else:
            lines[place] = str(rng.choice(["", "[x]", "[study", "[[classifier]]", "[method]"]))
    (folder / "s.toml").write_text("\n".join(lines))
    try:
        tm.study.Study.from_toml(folder / "s.toml")
    except tm.TallymarkError as error:
        return None if len(str(error)) > 10 else f"no sentence: {error!r}"
    return None


def _argument(rng: np.random.Generator, folder: Path) -> str | None:
    """A public function with one wrong argument among right ones."""
    function = list(CALLS)[int(rng.integers(len(CALLS)))]
    given = inspect.signature(function).bind(*CALLS[function][0], **CALLS[function][1])
    names = [one.name for one in inspect.signature(function).parameters.values() if not isinstance(one.default, bool) and one.kind < one.VAR_KEYWORD and one.kind != one.VAR_POSITIONAL]  # fmt: skip
    name, bad = str(rng.choice(names)), _WRONG[int(rng.integers(len(_WRONG)))]
    right = inspect.signature(function).bind_partial()
    right.arguments.update(given.arguments | {name: bad})
    home = Path.cwd()
    os.chdir(folder)
    try:
        function(*right.args, **right.kwargs)
    except tm.TallymarkError as error:
        return None if len(str(error)) > 10 else f"no sentence: {error!r}"
    except Exception as error:  # noqa: BLE001 - a raw exception is what is looked for
        return f"{function.__module__}.{function.__name__}({name}={bad!r}): {error!r}"[:400]
    finally:
        os.chdir(home)
    return None


_WRONG = (
    -1, 0, 5, 0.5, float("nan"), float("inf"), 10**400, True, "x", "", "\0", b"x", [], ["a", None], [[1], [2, 3]], [1, 2], {"a": 1}, {1: 2}, (), {1, 2},
    object(), np.array([]), np.array([1 + 2j]), np.ma.masked_array([1.0, 2.0], [True, False]), np.datetime64("2020-01-01"), range(3), iter([1]),
)  # fmt: skip


def _command(rng: np.random.Generator, folder: Path) -> str | None:
    from typer.testing import CliRunner

    from tallymark.cli.app import app

    made = cases.rows(rng, 60)
    path = folder / "rows.csv"
    _write_csv(made, path, rng)
    before = path.read_bytes()
    words = arguments(rng)
    home = Path.cwd()
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = CliRunner().invoke(app, words)
    finally:
        os.chdir(home)
    if path.read_bytes() != before:
        return f"the input was changed by {words}"
    if result.exception is not None and not isinstance(result.exception, tm.TallymarkError | SystemExit):
        return f"{words}: {result.exception!r}"
    if "--json" in words and result.exit_code == 0 and words[0] != "merge":
        try:
            json.loads(result.stdout)
        except ValueError:
            return f"{words}: no JSON"
    left = {one.name for one in folder.iterdir()} - WRITTEN
    return f"{words} left {left}" if left else None


#: Surroundings a program may find itself in, and the commands tried there.
_SURROUNDINGS = (
    "ascii", "latin-1", "no home", "read-only tmp", "closed stdout", "head", "full stdout", "no room", "little memory", "two runs", "killed",
    "stopped",
    "narrow", "no term", "unreadable",
)  # fmt: skip


def _surrounding(rng: np.random.Generator, folder: Path) -> str | None:
    made = cases.rows(rng, 150)
    path = folder / "rows.csv"
    _write_csv(made, path, rng)
    kind = str(rng.choice(_SURROUNDINGS))
    command = [
        "evaluate rows.csv --label y --score p --by g --level 0", "evaluate rows.csv --label y --score p --metric auroc --metric f1 --json",
        "calibrate rows.csv rows.csv --label y --score p --out out.csv --method platt", "metrics auroc",
        "thresholds rows.csv --label y --score p --policy youden",
    ][rng.integers(5)].split()  # fmt: skip
    words = [sys.executable, "-m", "tallymark", *command]
    if made.pos_label in {"yes", "ß"} and "rows.csv" in command:
        words += ["--pos-label", str(made.pos_label)]
    environment, limits, stdout = dict(os.environ), None, subprocess.PIPE
    if kind == "ascii":
        environment |= {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    elif kind == "latin-1":
        environment |= {"PYTHONIOENCODING": "latin-1"}
    elif kind == "no home":
        environment.pop("HOME", None)
        environment["XDG_CACHE_HOME"] = "/proc/nowhere"
    elif kind == "stopped":
        environment["TMPDIR"] = str(folder)
    elif kind == "read-only tmp":
        environment["TMPDIR"] = "/proc"
    elif kind == "narrow":
        environment["COLUMNS"] = str(rng.integers(1, 30))
    elif kind == "no term":
        environment |= {"TERM": "dumb", "NO_COLOR": "1"}
    elif kind == "no room":
        limits = (resource.RLIMIT_FSIZE, int(rng.integers(0, 4_000)))
    elif kind == "little memory":
        limits = (resource.RLIMIT_AS, int(rng.integers(300, 1_500)) * 2**20)
    elif kind == "unreadable":
        path.write_bytes(b"\x00" * 200)

    def prepare() -> None:
        if limits is not None:
            resource.setrlimit(limits[0], (limits[1], limits[1]))
        if kind == "closed stdout":
            os.close(1)

    if kind == "full stdout":
        stdout = Path("/dev/full").open("w")  # noqa: SIM115 - closed below
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=prepare,  # noqa: PLW1509
    )
    if kind == "head":
        process.stdout.read(10)
        process.stdout.close()
    other = (
        subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kind == "two runs"
        else None
    )
    if kind == "killed":
        try:
            process.wait(float(rng.random()) * 1.5)
        except subprocess.TimeoutExpired:
            process.kill()
    if kind == "stopped":
        time.sleep(0.3 + float(rng.random()) * 2.0)
        process.send_signal(rng.choice([signal.SIGINT, signal.SIGTERM]))
    try:
        _, said = process.communicate(timeout=60) if kind != "head" else (None, process.stderr.read())
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        return f"{kind}: {command} hangs"
    finally:
        if other is not None:
            other.wait(60)
        if kind == "full stdout":
            stdout.close()
    if kind == "little memory" and process.returncode not in (0, 2):
        return f"{kind}: {command} ended with {process.returncode}: {said.decode(errors='replace')[-300:]}"
    # Before the program's first line a signal is Python's own matter.
    if b"Traceback" in said and kind != "killed" and (kind != "stopped" or b"__main__.py" in said):
        return f"{kind}: {command}: {said.decode(errors='replace')[-300:]}"
    left = {one.name for one in folder.iterdir()} - {"rows.csv", "out.csv"}
    # What a signal ended could not tidy up.
    left = {name for name in left if not (process.returncode < 0 and name.startswith(".out.csv."))}
    if (folder / "out.csv").exists() and kind != "no room":
        lines = (folder / "out.csv").read_bytes().splitlines()
        if len(lines) < 2:
            return f"{kind}: half a file was left"
    return f"{kind}: {command} ended with {process.returncode}, left {left}, said {said[-200:]!r}" if left else None


#: Each area: what is tried, and the cases of the short form in the tests.
AREAS: dict[str, tuple[Case, int]] = {
    "csv": (_file_case(_write_csv, (".csv", ".csv.gz", ".tsv")), 60),
    "json lines": (_file_case(_write_json, (".jsonl", ".jsonl.gz")), 60),
    "parquet": (_file_case(cases.as_parquet, (".parquet",)), 60),
    "stored": (_stored, 200),
    "stores": (_store, 20),
    "studies": (_study, 60),
    "arguments": (_argument, 60),
    "command": (_command, 60),
    "surroundings": (_surrounding, 6),
}


def tried(area: str, seed: int) -> str | None:
    """One case of an area; the same seed gives the same case."""
    case, _ = AREAS[area]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return case(np.random.default_rng([seed, list(AREAS).index(area)]), Path(folder))
        except tm.TallymarkError as error:
            return f"refused outside a door: {error}"
        except Exception as error:  # noqa: BLE001 - a raw exception is what is looked for
            return f"raw {error!r}"[:400]
