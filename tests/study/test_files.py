"""A study's TOML file: it runs no code, whatever it names, and what is wrong with it is a sentence."""

import importlib
import inspect
import sqlite3
from pathlib import Path

import joblib
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import HasMethods
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app
from tallymark.study.estimators import ESTIMATORS, estimator_of
from tallymark.study.plans import plan_of

HERE = Path(__file__).parents[2]

TOML = """
[study]
name = "t"
[study.protocol]
kind = "app"
folds = 3
prevalences = [0.2, 0.5]
samples = 2
size = 40
[[dataset]]
name = "d"
file = "d.csv"
label = "y"
[classifier.lr]
estimator = "sklearn.linear_model.LogisticRegression"
params = { C = 1.0 }
[[method]]
name = "cc"
quantifier = "cc"
classifier = "lr"
"""

#: A value of each kind that TOML can hold.
VALUES = ["cache", 1, 0.5, True, [1, 2], {"a": 1}]


@pytest.fixture
def folder(tmp_path):
    rows = "".join(f"{i * 37 % 100},{i % 2}\n" for i in range(60))
    (tmp_path / "d.csv").write_text("x,y\n" + rows)
    return tmp_path


def loaded(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("path", ESTIMATORS)
def test_only_listed_parameters_of_a_listed_class_can_be_set(path):
    parameters = set(inspect.signature(loaded(path)).parameters)
    assert ESTIMATORS[path] <= parameters
    for name in parameters - ESTIMATORS[path] | {"memory", "estimator", "steps", "estimator__memory", "__class__"}:
        for value in VALUES:
            with pytest.raises(tm.InputError, match="may not set"):
                estimator_of(path, {name: value}, {})
            with pytest.raises(tm.InputError, match="may not set"):
                estimator_of(path, {}, {name: [value]})
    for name in ESTIMATORS[path]:
        for value in ({"a": 1}, [[1]], [{"a": 1}], None):
            with pytest.raises(tm.InputError, match="expected a number, a word"):
                estimator_of(path, {name: value}, {})
            with pytest.raises(tm.InputError, match="expected a number, a word"):
                estimator_of(path, {}, {name: [value]})


@pytest.mark.parametrize("path", [path for path in ESTIMATORS if path.startswith("sklearn.")])
def test_words_of_listed_parameters_come_from_fixed_sets(path):
    """A parameter that takes any string may be a path; one that takes an object with methods, a cache or an estimator."""
    constraints = loaded(path)._parameter_constraints
    for name in ESTIMATORS[path]:
        for one in constraints[name]:
            assert one is not str, (path, name)
            assert not isinstance(one, HasMethods), (path, name)


def test_every_other_class_of_scikit_learn_and_of_ours_is_refused():
    listed = {loaded(path) for path in ESTIMATORS}
    others = [f"{one.__module__}.{one.__name__}" for _, one in all_estimators() if one not in listed]
    for room in (tm.learners, tm.quantify, tm.calibration, tm.rare, tm.study):
        others += [f"{room.__name__}.{name}" for name in room.__all__ if f"{room.__name__}.{name}" not in ESTIMATORS]
    assert len(others) > 200
    for path in [*others, "os.system", "sklearn.svm._classes.LinearSVC", "sklearn.svm.LinearSVC.fit", "", "sklearn"]:
        with pytest.raises(tm.InputError, match="may name only"):
            estimator_of(path, {}, {})


def test_a_cache_of_pickles_is_never_read(folder):
    class Harm:
        def __reduce__(self):
            return (Path.mkdir, (folder / "harm",))

    (folder / "cache").mkdir()
    joblib.dump(Harm(), folder / "cache" / "output.pkl")
    for estimator, params in (
        ("sklearn.cluster.FeatureAgglomeration", 'params = { memory = "cache", n_clusters = 2 }'),
        ("sklearn.pipeline.Pipeline", 'params = { memory = "cache", steps = [] }'),
        ("sklearn.linear_model.LogisticRegression", 'params = { memory = "cache" }'),
        ("sklearn.linear_model.LogisticRegression", 'grid = { memory = ["cache"] }'),
    ):
        text = TOML.replace("sklearn.linear_model.LogisticRegression", estimator).replace(
            "params = { C = 1.0 }", params
        )
        (folder / "t.toml").write_text(text)
        with pytest.raises(tm.InputError, match="a file may name only|may not set 'memory'"):
            plan_of(folder / "t.toml")
    assert not (folder / "harm").exists()


def test_the_studies_that_come_along_are_read():
    files = sorted((HERE / "studies").glob("*.toml"))
    assert len(files) > 2
    for path in files:
        assert plan_of(path).methods


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "t"', 'name = "a/b"', "cannot be the name of the file"),
        ('name = "t"', 'name = "a\\u0000b"', "cannot be the name of the file"),
        ('name = "t"', f'name = "{"n" * 300}"', "cannot be the name of the file"),
        ('name = "t"', 'name = ".."', "cannot be the name of the file"),
        ('name = "t"', "name = 5", "line 3: name is 5, expected text"),
        ("folds = 3", 'folds = "x"', "line 6: folds is 'x', expected a whole number"),
        ("folds = 3", "folds = true", "folds.*expected a whole number"),
        ('name = "t"', 'name = "t"\nlosses = 5', "losses.*is 5, expected a list"),
        ('name = "t"', 'name = "t"\nlosses = [5]', "expected a list of names"),
        ('name = "t"', 'name = "t"\nlosses = []', "expected a list of names"),
        ('quantifier = "cc"', 'quantifier = "cc"\noptions = 5', "options.*is 5, expected a table"),
        ("params = { C = 1.0 }", "params = 5", "params.*is 5, expected a table"),
        ("params = { C = 1.0 }", "grid = 5", "grid.*is 5, expected a table"),
        ("params = { C = 1.0 }", "grid = { C = 5 }", "grid.*expected a list of values"),
        ('label = "y"', 'label = "y"\nscale = "x"', "scale.*is 'x', expected a whole number or a number"),
        ('label = "y"', 'label = "y"\nscale = -1.0', "scale is -1.0, expected a positive number"),
        ('label = "y"', 'label = "y"\nscale = nan', "scale is nan, expected a positive number"),
        ('file = "d.csv"', 'file = "d\\u0000.csv"', "no file"),
        ('file = "d.csv"', f'file = "{"d" * 300}"', "no file"),
        ("[classifier.lr]", "[[classifier]]", "classifier.*write .classifier.NAME."),
        ("[[method]]", "[method]", "method.*write ..method.."),
        ("prevalences = [0.2, 0.5]", "prevalences = [[1, 2], [3]]", "prevalences are"),
        ("prevalences = [0.2, 0.5]", "prevalences = []", "prevalences are"),
        ("prevalences = [0.2, 0.5]", 'prevalences = ["x"]', "prevalences are 'x'"),
        ("folds = 3", "folds = 100000", "fewer than the 100000 folds"),
        ("folds = 3", "folds = 0", "folds"),
    ],
)
def test_what_is_wrong_is_a_sentence(folder, old, new, told):
    assert old in TOML
    (folder / "s.toml").write_text(TOML.replace(old, new, 1))
    with pytest.raises(tm.InputError, match=told):
        tm.study.Study.from_toml(folder / "s.toml").run()
    assert not list(folder.glob("*.sqlite"))


def test_names_of_studies_made_in_python_are_held_to_the_same():
    with pytest.raises(tm.InputError, match="cannot be the name"):
        tm.study.Study("a/b", ["iris"], {"EM": "em"}, GaussianNB())


def test_a_run_ends_with_1_as_long_as_a_cell_has_failed(folder):
    (folder / "s.toml").write_text(TOML.replace("C = 1.0", "C = -1.0"))
    for options in ([], [], ["--retry"], ["--json"]):
        done = CliRunner().invoke(app, ["study", "run", str(folder / "s.toml"), *options])
        assert done.exit_code == 1, options
        assert '"failed": 3' in done.output if options == ["--json"] else "3 failed" in done.output
    (folder / "s.toml").write_text(TOML)
    assert CliRunner().invoke(app, ["study", "run", str(folder / "s.toml")]).exit_code == 0


def test_a_damaged_cell_is_named_and_worked_on_again(folder):
    (folder / "s.toml").write_text(TOML)
    study = tm.study.Study.from_toml(folder / "s.toml")
    study.run()
    wanted = list(study.results().lines())
    connection = sqlite3.connect(study.store, isolation_level=None)
    (blob,) = connection.execute("SELECT estimates FROM cells WHERE fold = 1").fetchone()
    flipped = bytes([blob[0] ^ 1, *blob[1:]])
    connection.execute("UPDATE cells SET estimates = ? WHERE fold = 1", (flipped,))
    connection.close()
    with pytest.raises(tm.InputError, match="damaged: the cell of the data set 'd', fold 1, method 'cc'.*--retry"):
        study.results()
    assert study.run(retry=True).done == 1
    assert list(study.results().lines()) == wanted
