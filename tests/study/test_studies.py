"""Studies: shared work, stores that survive anything, files that say what is wrong with them."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

import tallymark as tm
from tallymark.study import stores, units
from tallymark.study.units import Outcome

pytestmark = pytest.mark.slow

TOML = """
[study]
name = "small"
seed = 1
losses = ["ae", "kld"]
[study.protocol]
kind = "folds"
folds = 3
prevalences = 5
[[dataset]]
name = "breast_cancer"
scale = 1.0
[[dataset]]
file = "own.csv"
label = "kind"
positive = "good"
[classifier.lr]
estimator = "sklearn.linear_model.LogisticRegression"
grid = { C = [0.1, 1.0] }
[[method]]
name = "CC"
quantifier = "cc"
classifier = "lr"
[[method]]
name = "AC"
quantifier = "ac"
fallback = "cc"
classifier = "lr"
[[method]]
name = "KNN"
estimator = "tallymark.quantify.KNN"
params = { n_neighbors = 5 }
"""


def data(seed=0, n=120, distance=1.0, name="made"):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < n // 3).astype(int)
    return name, rng.normal(size=(n, 2)) + distance * y[:, None], y


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    good = np.arange(90) < 40
    lines = [
        "x,z,note,kind",
        *(
            f"{a:.4f},{b:.4f},n,{'good' if g else 'bad'}"
            for a, b, g in zip(rng.normal(good), rng.normal(size=90), good, strict=True)
        ),
    ]
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "small.toml").write_text(TOML)
    return tmp_path


def small(tmp_path, **options):
    given = {
        "datasets": [data(0, name="one"), data(1, name="two")],
        "methods": {"CC": "cc", "AC": "ac", "MS": "ms"},
    } | options
    return tm.study.Study(
        "small",
        given.pop("datasets"),
        given.pop("methods"),
        LogisticRegression(),
        protocol={"folds": 3},
        store=tmp_path / "s.sqlite",
        **given,
    )


def test_a_file_is_run_and_gone_on_with(folder):
    study = tm.study.Study.from_toml(folder / "small.toml")
    first = study.run()
    assert (first.done, first.found, first.failed) == (18, 0, 0)
    again = study.run()
    assert (again.done, again.found) == (0, 18)
    results = study.results()
    assert results.datasets == ("breast_cancer", "own")
    assert len(list(results.lines())) == 18 * 5
    assert set(next(iter(results.lines()))) == {
        "dataset",
        "fold",
        "sample",
        "nominal",
        "prevalence",
        "size",
        "method",
        "estimate",
        "ae",
        "kld",
    }


def test_changing_a_file_changes_only_what_it_changes(folder):
    tm.study.Study.from_toml(folder / "small.toml").run()
    text = (folder / "small.toml").read_text()
    for change, wanted in (
        (text.replace("n_neighbors = 5", "n_neighbors = 7"), 6),
        (text.replace('losses = ["ae", "kld"]', 'losses = ["se"]'), 0),
        (text.replace('name = "CC"', 'name = "counted"'), 0),
        (text.replace("grid = { C = [0.1, 1.0] }", "grid = { C = [0.1, 2.0] }"), 12),
        (text.replace("seed = 1", "seed = 2"), 18),
        (text.replace("scale = 1.0", "scale = 2.0"), 9),
    ):
        shutil.copy(folder / "small.sqlite", folder / "kept")
        (folder / "small.toml").write_text(change)
        assert tm.study.Study.from_toml(folder / "small.toml").run().done == wanted
        shutil.move(folder / "kept", folder / "small.sqlite")


def test_a_classifier_is_trained_once_for_all_its_methods(tmp_path, monkeypatch):
    calls = []
    whole = units.scores_of
    monkeypatch.setattr(units, "scores_of", lambda *a, **k: calls.append(1) or whole(*a, **k))
    small(tmp_path).run()
    assert len(calls) == 2 * 3


def test_any_number_of_jobs_gives_the_same_lines(tmp_path):
    lines = []
    for jobs in (1, 2):
        study = small(tmp_path)
        study.run(jobs=jobs, store=tmp_path / f"{jobs}.sqlite")
        assert study.store == tmp_path / "s.sqlite"
        lines.append(list(study.results(tmp_path / f"{jobs}.sqlite").lines()))
    assert lines[0] == lines[1]


def test_estimates_are_those_of_the_methods_themselves(tmp_path):
    study = small(tmp_path, datasets=[data()])
    study.run()
    _, X, y = data()
    split = tm.study.protocol(y, folds=3).split(1)
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    # The study seeds the classifier too; a logistic regression has no use for it.
    unseen = cross_val_predict(LogisticRegression(), X[split.train], y[split.train], cv=folds, method="predict_proba")[
        :, 1
    ]
    scores = LogisticRegression().fit(X[split.train], y[split.train]).predict_proba(X[split.test])[:, 1]
    tally = tm.tally(y[split.train], unseen)
    cell = next(c for c in study.results().cells if c.fold == 1 and c.method == "AC")
    for rows, share in zip(split.index, cell.estimates[:, 1], strict=True):
        wanted = tm.quantify.estimate("ac", tally, tm.tally(scores=scores[rows]), threshold=0.5, level=None).prevalence
        assert share == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def test_a_researchers_own_quantifiers_plug_in(tmp_path):
    class Mine:
        def fit(self, X, y):
            self.share = float(np.mean(y))
            return self

        def predict(self, X):
            return [1 - self.share, self.share]

    def halfway(validation, scores):
        return float((scores > 0.5).mean())

    methods = {
        "mine": Mine(),
        "function": halfway,
        "named": "pacc",
        "wrapped": tm.quantify.AC(LogisticRegression(), cv=3),
    }
    study = small(tmp_path, methods=methods)
    assert study.run().failed == 0
    by_method = {cell.method: cell.estimates for cell in study.results().cells}
    assert set(by_method) == set(methods)
    assert (by_method["mine"][:, 1] == by_method["mine"][0, 1]).all()


def test_more_than_two_classes(tmp_path):
    study = tm.study.Study(
        "many", ["iris"], {"AC": "ac", "EM": "em", "MS": "ms"}, LogisticRegression(max_iter=5_000),
        protocol={"kind": "simplex", "folds": 2, "samples": 5, "size": 30}, store=tmp_path / "m.sqlite",
    )  # fmt: skip
    done = study.run()
    # The median sweep counts one class against the rest, which is wrong when the rest shifts too: it fails, and stops nothing.
    assert (done.done, done.failed) == (6, 2)
    results = study.results()
    assert {cell.method for cell in results.failed} == {"MS"}
    assert results.errors("ae")[0, :, 0].max() < 0.2
    assert len(str(next(iter(results.lines()))["estimate"]).split()) == 3


def test_a_failed_cell_is_kept_shown_and_tried_again(tmp_path):
    class Sometimes:
        broken = True

        def fit(self, X, y):
            if Sometimes.broken:
                raise RuntimeError("not today")
            return self

        def predict(self, X):
            return [0.5, 0.5]

    study = small(tmp_path, methods={"CC": "cc", "odd": Sometimes(), "AC": "ac"})
    first = study.run()
    assert (first.done, first.failed) == (18, 6)
    assert "RuntimeError: not today" in study.results().failed[0].error
    assert study.run().done == 0
    Sometimes.broken = False
    again = study.run(retry=True)
    assert (again.done, again.failed) == (6, 0)


SCRIPT = """
import sys
import numpy as np
from sklearn.linear_model import LogisticRegression
import tallymark as tm
rng = np.random.default_rng(0)
sets = []
for number in range(4):
    y = (np.arange(150) < 50).astype(int)
    sets.append((f"set{number}", rng.normal(size=(150, 3)) + y[:, None], y))
study = tm.study.Study("killed", sets, {"CC": "cc", "AC": "ac", "MS": "ms", "EM": "em"}, LogisticRegression(), protocol={"folds": 5}, store=sys.argv[1])
study.run(jobs=1)
with open(sys.argv[2], "w") as file:
    for line in study.results().lines():
        print(line, file=file)
"""


def test_killed_at_any_moment_it_loses_nothing_and_ends_the_same(tmp_path):
    script = tmp_path / "s.py"
    script.write_text(SCRIPT)

    def start(store, out):
        return subprocess.Popen(
            [sys.executable, str(script), str(store), str(out)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )

    assert start(tmp_path / "whole.sqlite", tmp_path / "whole.txt").wait() == 0
    rng = np.random.default_rng(0)
    finished = 0
    for _ in range(4):
        process = start(tmp_path / "killed.sqlite", tmp_path / "killed.txt")
        # Wait for some new cells, then kill it in the middle of whatever it does.
        wanted, deadline = finished + int(rng.integers(1, 25)), time.monotonic() + 30
        while process.poll() is None and time.monotonic() < deadline and _cells(tmp_path / "killed.sqlite") < wanted:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = _cells(tmp_path / "killed.sqlite")
        assert now >= finished
        finished = now
    assert start(tmp_path / "killed.sqlite", tmp_path / "killed.txt").wait() == 0
    assert (tmp_path / "killed.txt").read_bytes() == (tmp_path / "whole.txt").read_bytes()


def _cells(path):
    try:
        with stores.reading(path) as store:
            return len(store.status())
    except tm.InputError:
        return 0


def test_two_runs_at_once(tmp_path):
    study = small(tmp_path)
    with stores.writing(tmp_path / "s.sqlite"), pytest.raises(tm.InputError, match="Another run is writing"):
        study.run()
    assert study.run().failed == 0
    with stores.reading(tmp_path / "s.sqlite") as looked_at:
        # Reading does not keep anyone from writing.
        assert study.run().found == len(looked_at.status())


def outcome(key="k"):
    return Outcome(key, np.zeros(2), np.full((2, 2), 0.5), np.array([3, 4]), np.full((2, 2), 0.5), None, 0.0)


def test_stores_that_cannot_be_trusted_are_refused(tmp_path):
    good = tmp_path / "good.sqlite"
    with stores.writing(good) as store:
        for number in range(200):
            store.add("d", number, "m", outcome(str(number)))
    later = tmp_path / "later.sqlite"
    shutil.copy(good, later)
    with sqlite3.connect(later) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE notes (t TEXT)")
    connection.close()
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(good.read_bytes()[: len(good.read_bytes()) // 2])
    text = tmp_path / "text.sqlite"
    text.write_text("not a database at all, but long enough to look like one" * 50)
    for path, told in (
        (later, "later version"),
        (other, "something else"),
        (cut, "damaged|Cannot use"),
        (text, "Cannot use"),
    ):
        before = path.read_bytes()
        for opened in (stores.reading, stores.writing):
            with pytest.raises(tm.InputError, match=told), opened(path) as store:
                store.status()
        assert path.read_bytes() == before
    with pytest.raises(tm.InputError, match="run the study first"), stores.reading(tmp_path / "none.sqlite"):
        pass


def test_a_full_disk_says_so_and_loses_nothing(tmp_path):
    path = tmp_path / "s.sqlite"
    with stores.writing(path) as store:
        store.add("d", 0, "m", outcome("a"))
        store._connection.execute("PRAGMA max_page_count = 8")
        with pytest.raises(tm.InputError, match="No room left"):
            for number in range(1_000):
                store.add("d", number, "m", outcome(f"b{number}"))
    with stores.reading(path) as store:
        kept = store.status()
    assert "a" in kept
    assert len(kept) > 1


def test_cells_are_kept_as_they_were(tmp_path):
    made = Outcome(
        "k",
        np.array([0.1, np.nan]),
        np.array([[0.25, 0.75], [0.5, 0.5]]),
        np.array([4, 2]),
        np.array([[0.3, 0.7], [np.nan, np.nan]]),
        None,
        1.0,
    )
    with stores.writing(tmp_path / "s.sqlite") as store:
        store.add("d", 3, "m", made)
        (cell,) = store.cells()
    assert (cell.dataset, cell.fold, cell.method, cell.error) == ("d", 3, "m", None)
    for name in ("nominal", "drawn", "sizes", "estimates"):
        assert np.array_equal(getattr(cell, name), getattr(made, name), equal_nan=True)


def test_missing_data_are_skipped_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("TALLYMARK_DATA", str(tmp_path / "nowhere"))
    study = tm.study.Study(
        "s",
        ["cmc.1", "breast_cancer"],
        {"CC": "cc", "AC": "ac"},
        DummyClassifier(),
        protocol={"folds": 2},
        store=tmp_path / "s.sqlite",
    )
    done = study.run()
    assert set(done.skipped) == {"cmc.1"}
    assert "skipped cmc.1" in repr(done)
    assert study.results().datasets == ("breast_cancer",)
    with pytest.raises(tm.InputError, match="TALLYMARK_DATA"):
        tm.study.Study("s", ["cmc.1"], {"CC": "cc"}, DummyClassifier(), store=tmp_path / "t.sqlite").run()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('losses = ["ae", "kld"]', 'losses = ["aee"]'), "line 5.*aee.*Did you mean 'ae'"),
        (('quantifier = "ac"', 'quantifier = "acx"'), "line 2[0-9].*acx"),
        (('name = "breast_cancer"', 'name = "breast_cancr"'), "line 11.*Did you mean 'breast_cancer'"),
        (("[study.protocol]", "[study.protocl]"), "protocl.*Did you mean 'protocol'"),
        (("seed = 1", 'seed = "one"'), "line 4: seed is 'one'"),
        (('classifier = "lr"', 'classifier = "lrr"'), "lrr"),
        (('"sklearn.linear_model.LogisticRegression"', '"os.system"'), "line 1[0-9].*sklearn"),
        (('"sklearn.linear_model.LogisticRegression"', '"sklearn.linear_model.Nothing"'), "sklearn.linear_model.Nothing.*may name only"),
        (('"sklearn.linear_model.LogisticRegression"', '"sklearn.metrics.f1_score"'), "may name only"),
        (("params = { n_neighbors = 5 }", "params = { neighbours = 5 }"), "may not set 'neighbours'.*Did you mean 'n_neighbors'"),
        (('label = "kind"\n', ""), "needs label"),
        (('name = "KNN"', 'name = "AC"'), "Two methods are called 'AC'"),
        (("seed = 1", "seed = "), "small.toml"),
        (('fallback = "cc"', 'fallback = "ccc"'), "ccc"),
    ],
)  # fmt: skip
def test_files_say_what_is_wrong_with_them(folder, change, told):
    assert change[0] in TOML
    (folder / "small.toml").write_text(TOML.replace(*change, 1))
    with pytest.raises(tm.InputError, match=told):
        tm.study.Study.from_toml(folder / "small.toml")
    assert not (folder / "small.sqlite").exists()


def test_a_missing_file_is_named_before_any_cell_is_run(folder):
    (folder / "small.toml").write_text(TOML.replace('file = "own.csv"', 'file = "other.csv"'))
    with pytest.raises(tm.InputError, match="line 14.*no file 'other.csv'"):
        tm.study.Study.from_toml(folder / "small.toml").run()
    assert not (folder / "small.sqlite").exists()


def test_rows_that_cannot_be_studied_are_named(folder):
    for column, told in (("kindd", "kindd"), ("note", "one class|good")):
        (folder / "small.toml").write_text(TOML.replace('label = "kind"', f'label = "{column}"'))
        with pytest.raises(tm.InputError, match=told):
            tm.study.Study.from_toml(folder / "small.toml").run()


def test_the_thesiss_ranks(tmp_path):
    study = small(
        tmp_path, datasets=[data(i, name=f"d{i}", distance=0.5 + 0.3 * i) for i in range(5)], losses=("ae", "nas")
    )
    study.run()
    results = study.results()
    errors = results.errors("ae")
    assert errors.shape == (5, 11, 3)
    final = []
    for per in errors:
        by_prevalence = np.array([np.argsort(np.argsort(line)) + 1.0 for line in per])
        if all(len(set(line)) == 3 for line in per):
            final.append(np.argsort(np.argsort(by_prevalence.mean(axis=0))) + 1.0)
    ranks = results.ranks("ae")
    # Ranks by AE and by NAS are the same: NAS falls as AE rises.
    assert ranks.table.values == pytest.approx(results.ranks("nas").table.values)
    assert ranks.means == pytest.approx(dict(zip(results.methods, ranks.table.values.mean(axis=0), strict=True)))
    test = results.test("ae")
    assert test.friedman.n == 5
    assert test.critical_difference == pytest.approx(tm.study.critical_difference(3, 5))
    pair = results.pairwise("AC")
    line = next(one for one in pair.lines if one["method"] == "CC")
    gap = errors[:, :, 0] - errors[:, :, 1]
    assert (line["wins"], line["losses"]) == ((gap > 1e-12).sum(), (gap < -1e-12).sum())
    assert line["difference"] == pytest.approx(100 * gap.mean())
    split = results.pairwise("AC", by_prevalence=True)
    assert sum(one["wins"] for one in split.lines if one["method"] == "CC") == line["wins"]


def test_training_that_stops_early_is_told_by_data_set_and_fold(tmp_path):
    stopping = LogisticRegression(max_iter=1, C=1e6)
    study = tm.study.Study(
        "s", [data(name="one")], {"AC": "ac"}, stopping, protocol={"folds": 2}, store=tmp_path / "s.sqlite"
    )
    with pytest.warns(tm.errors.TrainingWarning) as told:
        assert study.run().done == 2
    messages = [str(one.message) for one in told]
    assert len(messages) == 2
    # Ten folds of cross-validation and the fit itself.
    assert messages[0].startswith("one, fold 0, LogisticRegression: 11 fits stopped before the training converged")


def test_a_dask_cluster_gives_the_same(tmp_path):
    import joblib
    from distributed import Client, LocalCluster

    plain = small(tmp_path)
    plain.run(store=tmp_path / "plain.sqlite")
    wanted = list(plain.results(tmp_path / "plain.sqlite").lines())
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        study = small(tmp_path)
        study.run(jobs=2, store=tmp_path / "dask.sqlite")
    assert list(study.results(tmp_path / "dask.sqlite").lines()) == wanted


def test_registered_data_have_the_published_sizes():
    from tallymark.study.datasets import DATASETS, dataset

    assert len([name for name in DATASETS if name.startswith("outliers.")]) == 30
    if "TALLYMARK_DATA" in os.environ:
        assert dataset("ctg.1").X.shape == (2126, 22)
        assert dataset("tictactoe").y.sum() == 332


def answers(folder):
    """What every command that reads results prints or writes."""
    from typer.testing import CliRunner

    from tallymark.cli.app import app

    file, texts = str(folder / "small.toml"), []
    for arguments in (["show", file, "--json"], ["test", file, "--loss", "ae", "--json"], ["show", file]):
        answer = CliRunner().invoke(app, ["study", *arguments], catch_exceptions=False)
        assert answer.exit_code == 0, answer.output
        texts.append(answer.stdout)
    for command, name in (("export", "all.csv"), ("report", "all.html")):
        answer = CliRunner().invoke(app, ["study", command, file, str(folder / name)], catch_exceptions=False)
        assert answer.exit_code == 0, answer.output
        texts.append((folder / name).read_bytes())
    return texts


def test_results_are_read_from_the_store_alone(folder, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setenv("TALLYMARK_DATA", str(folder / "nowhere"))
    text = (folder / "small.toml").read_text()
    (folder / "small.toml").write_text(text.replace("[[dataset]]", '[[dataset]]\nname = "cmc.1"\n[[dataset]]', 1))
    assert tm.study.Study.from_toml(folder / "small.toml").run().done == 18
    wanted = answers(folder)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("small.toml", "small.sqlite"):
        shutil.copy(folder / name, elsewhere / name)

    def unread(_):
        raise AssertionError("a data set was read")

    monkeypatch.setattr("tallymark.study.plans.DataSource.load", unread)
    assert answers(elsewhere) == wanted
    results = tm.study.Study.from_toml(elsewhere / "small.toml").results()
    assert results.datasets == ("breast_cancer", "own")
    assert set(results.skipped) == {"cmc.1"}
    assert (len(results.cells), results.unfinished) == (18, 0)


def test_data_sets_are_loaded_when_their_cells_are_run(tmp_path, monkeypatch):
    from tallymark.study.plans import DataSource

    events = []
    load, work = DataSource.load, units.Unit.work
    monkeypatch.setattr(DataSource, "load", lambda source: events.append(source.name) or load(source))
    monkeypatch.setattr(units.Unit, "work", lambda unit: events.append("work") or work(unit))
    percentages = []
    small(tmp_path).run(progress=percentages.append)
    assert events == ["one", "work", "work", "work", "two", "work", "work", "work"]
    assert percentages == sorted(percentages)
    assert percentages[-1] == 100.0


def test_a_store_without_records_of_its_data_says_what_to_do(tmp_path):
    study = small(tmp_path)
    study.run()
    wanted = list(study.results().lines())
    with sqlite3.connect(tmp_path / "s.sqlite") as connection:
        connection.execute("DROP TABLE datasets")
    connection.close()
    with pytest.raises(tm.InputError, match="earlier version.*finished cells are kept"):
        study.results()
    assert study.run().done == 0
    assert list(study.results().lines()) == wanted


def test_several_classifiers_in_python(tmp_path):
    methods = {"A": tm.study.Method("A", "cc", "plain"), "B": tm.study.Method("B", "cc", "dummy"), "C": "cc"}
    classifiers = {"plain": LogisticRegression(), "dummy": tm.study.Classifier(DummyClassifier())}
    study = tm.study.Study("s", [data()], methods, classifiers, protocol={"folds": 2}, store=tmp_path / "s.sqlite")
    assert study.run().failed == 0
    by_method = {cell.method: cell.estimates for cell in study.results().cells}
    assert np.array_equal(by_method["A"], by_method["C"])
    assert not np.array_equal(by_method["A"], by_method["B"])
