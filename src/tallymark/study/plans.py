"""The plan of a study: data sets, protocol, classifiers and methods; and its TOML file."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tallymark._version import __version__
from tallymark.errors import InputError, nearest
from tallymark.inference.interval import checked_number
from tallymark.registry import LOSSES, QUANTIFIERS
from tallymark.study.datasets import DATASETS, Dataset, dataset
from tallymark.study.estimators import estimator_of
from tallymark.study.protocols import FOLDS


@dataclass(frozen=True)
class Classifier:
    """A classifier whose scores several methods share; it is trained once in each fold.

    Parameters
    ----------
    estimator
        A scikit-learn classifier.
    grid
        Values to try of some of its parameters, by name; searched in each fold.
    scoring
        What the search maximises: a metric at one threshold, or a name that scikit-learn's ``scoring`` has.
    """

    estimator: Any
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    scoring: str = "geometric_mean"

    @property
    def description(self) -> Any:
        """All that determines its scores, for the key of a cell."""
        return {"estimator": described(self.estimator), "grid": described(dict(self.grid)), "scoring": self.scoring}


@dataclass(frozen=True)
class Method:
    """A quantification method of a study.

    Parameters
    ----------
    name
        Its name in tables and pictures.
    quantifier
        A quantifier's name, a function of (validation tally, target scores), or an object with ``fit`` and ``predict``.
    classifier
        Name of the classifier whose scores it uses; None for an object with ``fit``.
    options
        Options of the quantifier.
    fallback
        Name of a quantifier on the same scores whose estimate is used where this one is undefined.
    """

    name: str
    quantifier: Any
    classifier: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    fallback: str | None = None

    @property
    def description(self) -> Any:
        """All that determines its estimates, for the key of a cell."""
        parts = {"quantifier": described(self.quantifier), "options": described(dict(self.options))}
        return parts if self.fallback is None else parts | {"fallback": self.fallback}


@dataclass(frozen=True)
class DataSource:
    """A data set that is read when its cells run: registered, in a file, or in memory.

    `origin` says where the rows come from (name, file and columns, or digest); attributes are standardised to mean 0
    and standard deviation `scale`. `require` refuses a data set that cannot be read, before any cell runs.
    """

    name: str
    read: Callable[[], Dataset]
    origin: Mapping[str, Any]
    scale: float | None = None
    require: Callable[[], None] = lambda: None

    @property
    def identity(self) -> str:
        """What a store records the data set under, so that its cells are recognised without reading it."""
        return json.dumps({**self.origin, "scale": self.scale}, sort_keys=True)

    def load(self) -> Dataset:
        """The rows, standardised where `scale` is set."""
        data = self.read()
        if self.scale is None:
            return data
        spread = data.X.std(axis=0)
        X = (data.X - data.X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0) * self.scale
        return Dataset(data.name, X, data.y, data.positive)


def described(value: Any) -> Any:
    """A value as JSON that changes whenever it would compute something else."""
    if isinstance(value, str):
        return [value, described(QUANTIFIERS[value].kernel)] if value in QUANTIFIERS.user_defined else value
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): described(one) for key, one in sorted(value.items(), key=lambda pair: str(pair[0]))}
    if isinstance(value, list | tuple | np.ndarray):
        return [described(one) for one in list(value)]
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "get_params"):
        return {"class": _path(type(value)), "params": described(value.get_params(deep=False))}
    if callable(value):
        return {"function": _path(value), "source": _source(value)}
    return repr(value)


def _path(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _source(function: Any) -> str:
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = getattr(getattr(function, "__code__", None), "co_code", b"").hex()
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Plan:
    """A checked study: every name in it exists; data are read when the study runs."""

    name: str
    seed: int
    losses: tuple[str, ...]
    protocol: Mapping[str, Any]
    datasets: tuple[DataSource, ...]
    classifiers: Mapping[str, Classifier]
    methods: tuple[Method, ...]

    def __post_init__(self) -> None:
        for what, names in (("data set", [d.name for d in self.datasets]), ("method", [m.name for m in self.methods])):
            if not names:
                raise InputError(f"The study {self.name!r} has no {what}.")
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise InputError(f"Two {what}s are called {twice!r}; give each its own name.")
        for loss in self.losses:
            _ = LOSSES[loss]
        for method in self.methods:
            self._require(method)

    def _require(self, method: Method) -> None:
        named = isinstance(method.quantifier, str)
        if named:
            facts = QUANTIFIERS[method.quantifier]
            if unknown := set(method.options) - {*facts.options, "threshold"}:
                allowed = ", ".join(sorted({*facts.options})) or "none"
                raise InputError(
                    f"{method.name}: {facts.name} has no option {min(unknown)!r}; its options are {allowed}."
                )
        if method.fallback is not None:
            _ = QUANTIFIERS[method.fallback]
        estimator = not named and hasattr(method.quantifier, "fit") and hasattr(method.quantifier, "predict")
        if not named and not estimator and not callable(method.quantifier):
            raise InputError(
                f"{method.name}: the quantifier is {method.quantifier!r}, expected a name, something with fit and "
                "predict, or a function of (validation tally, target scores)."
            )
        if estimator:
            if method.fallback not in (None, "bl"):
                raise InputError(
                    f"{method.name} brings its own estimator, which has no scores to fall back on; "
                    "its fallback can only be bl."
                )
            if method.classifier is not None:
                raise InputError(f"{method.name} brings its own estimator; leave its classifier out.")
        elif method.classifier not in self.classifiers:
            names = ", ".join(self.classifiers) or "none"
            raise InputError(
                f"{method.name} needs a classifier, {method.classifier!r} is not among {names}."
                + nearest(method.classifier, self.classifiers)
            )

    @property
    def folds(self) -> int:
        """Folds of each data set."""
        return checked_number(self.protocol.get("folds", FOLDS), "folds", 2)

    def keys(self, digest: str) -> list[tuple[str, int, Method]]:
        """Key, fold and method of every cell of a data set, in the order of the plan."""
        return [
            (self._key(digest, fold, method), fold, method) for fold in range(self.folds) for method in self.methods
        ]

    def _key(self, digest: str, fold: int, method: Method) -> str:
        """Hash of all that determines a cell: data, protocol, fold, seed, method, classifier, version; not of names."""
        content = {
            "data": digest,
            "protocol": described(dict(self.protocol)),
            "fold": fold,
            "seed": self.seed,
            "method": method.description,
            "version": __version__,
            "classifier": None if method.classifier is None else self.classifiers[method.classifier].description,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


#: Keys that each part of a file may have, and the types of their values.
_KEYS: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "study": {"name": (str,), "seed": (int,), "losses": (list,), "protocol": (dict,)},
    "study.protocol": {"kind": (str,), "folds": (int,), "prevalences": (int, list), "samples": (int,), "size": (int,)},
    "dataset": {
        "name": (str,), "file": (str,), "label": (str,), "positive": (str, int, float, bool), "scale": (int, float),
    },
    "classifier": {"estimator": (str,), "params": (dict,), "grid": (dict,), "scoring": (str,)},
    "method": {
        "name": (str,), "quantifier": (str,), "classifier": (str,), "options": (dict,), "fallback": (str,),
        "estimator": (str,), "params": (dict,),
    },
}  # fmt: skip

#: What TOML calls a type.
_TYPES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "a table"}

#: Bytes of a file's name that leave room for the names a store adds to it.
_NAME_BYTES = 200


def default_store(folder: Path, name: str) -> Path:
    """The file in which the results of a study of this name are kept; refuses a name that no file can have."""
    long = len(name.encode("utf-8", "replace")) > _NAME_BYTES
    if not name.strip(". ") or long or any(c in "/\\" or not c.isprintable() for c in name):
        raise InputError(
            f"The study is called {name[:40]!r}, which cannot be the name of the file of its results; "
            f"use letters, digits, '-' and '_', at most {_NAME_BYTES} of them."
        )
    return folder / f"{name}.sqlite"


class _File:
    """A TOML file whose errors name the line of the word at fault."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.exists() and not path.is_file():
                raise InputError(f"Cannot read {str(path)!r}: it is not a regular file.")
            self.text = path.read_text(encoding="utf-8")
            self.content = tomllib.loads(self.text)
        except OSError as error:
            raise InputError(f"Cannot read {str(path)[:80]!r}: {error.strerror or error}.") from None
        except UnicodeDecodeError:
            raise InputError(f"Cannot read {str(path)!r}: it is not UTF-8 text.") from None
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path.name}: {error}.") from None
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"Cannot read {str(path)[:80]!r}: {error}.") from None

    def refused(self, message: str, word: object) -> InputError:
        """An error that names the line in which a word first stands."""
        wanted = re.compile(rf"(?<![\w.]){re.escape(str(word))}(?![\w])")
        line = next((number for number, line in enumerate(self.text.splitlines(), 1) if wanted.search(line)), None)
        return InputError(f"{self.path.name}{'' if line is None else f', line {line}'}: {message}")

    def part(self, given: Any, kind: str) -> dict[str, Any]:
        """A table of the file with none but the keys it may have."""
        if not isinstance(given, Mapping):
            raise self.refused(f"[{kind}] must be a table, not {given!r}.", kind.rpartition(".")[-1])
        for key in given:
            if key not in _KEYS[kind]:
                allowed = ", ".join(sorted(_KEYS[kind]))
                raise self.refused(
                    f"[{kind}] has no key {key!r}.{nearest(key, _KEYS[kind])} It may have {allowed}.", key
                )
            types = _KEYS[kind][key]
            if not isinstance(given[key], types) or (isinstance(given[key], bool) and bool not in types):
                expected = " or ".join(_TYPES[one] for one in types)
                raise self.refused(f"{key} is {given[key]!r}, expected {expected}.", key)
        return dict(given)

    def parts(self, name: str) -> list[dict[str, Any]]:
        """The tables of a list of them, such as every ``[[method]]``."""
        given = self.content.get(name, [])
        if not isinstance(given, list):
            raise self.refused(f"{name} is {given!r}; write [[{name}]] above each.", name)
        return [self.part(one, name) for one in given]


def plan_of(path: str | PathLike[str]) -> Plan:
    """The study that a TOML file describes."""
    file = _File(Path(path))
    for key in file.content:
        if key not in (tops := {"study", "dataset", "classifier", "method"}):
            raise file.refused(
                f"There is no part {key!r}.{nearest(key, tops)} A study has {', '.join(sorted(tops))}.", key
            )
    study = file.part(file.content.get("study", {}), "study")
    protocol = file.part(study.pop("protocol", {"kind": "folds"}), "study.protocol")
    losses = study.get("losses", ["ae"])
    if not losses or not all(isinstance(loss, str) for loss in losses):
        raise file.refused(f"losses is {losses!r}, expected a list of names.", "losses")
    listed = file.content.get("classifier", {})
    if not isinstance(listed, dict):
        raise file.refused(f"classifier is {listed!r}; write [classifier.NAME] above each.", "classifier")
    try:
        name = study.get("name", file.path.stem)
        default_store(file.path.parent, name)
        return Plan(
            name=name,
            seed=_whole(file, study.get("seed", 0), "seed"),
            losses=tuple(losses),
            protocol=protocol,
            datasets=tuple(_source_of(file, part) for part in file.parts("dataset")),
            classifiers={name: _classifier(file, name, given) for name, given in listed.items()},
            methods=tuple(_method(file, part) for part in file.parts("method")),
        )
    except InputError as error:
        if str(error).startswith(file.path.name):
            raise
        words = re.findall(r"'([^']+)'", str(error)) + re.findall(r"^([\w.-]+)", str(error))
        raise file.refused(str(error), next((word for word in words if word in file.text), "study")) from None


def _whole(file: _File, value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise file.refused(f"{name} is {value!r}, expected a whole number of 0 or more.", name)
    return value


def _source_of(file: _File, part: Mapping[str, Any]) -> DataSource:
    name = part.get("name")
    if (scale := part.get("scale")) is not None and not 0.0 < scale < np.inf:
        raise file.refused(f"scale is {scale!r}, expected a positive number.", "scale")
    if "file" not in part:
        if name is None or name not in DATASETS:
            raise file.refused(
                f"No data set is called {name!r}.{nearest(name, DATASETS)} Name a file instead: file, label, positive.",
                name,
            )
        return registered(name, scale)
    path = file.path.parent / part["file"]
    if "label" not in part:
        raise file.refused(
            f"The data set in {part['file']!r} needs label, the column with the true class.", part["file"]
        )

    def require() -> None:
        if not _is_file(path):
            raise file.refused(f"There is no file {part['file'][:80]!r} beside {file.path.name}.", part["file"])

    title, origin = name or path.stem, {key: part.get(key) for key in ("file", "label", "positive")}
    return DataSource(title, lambda: _of_file(title, path, part["label"], part.get("positive")), origin, scale, require)


def registered(name: str, scale: float | None = None) -> DataSource:
    """A registered data set, to be read when it is needed."""
    return DataSource(name, lambda: dataset(name), {"registered": name}, scale)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _of_file(name: str, path: Path, label: str, positive: Any) -> Dataset:
    """Rows of a file: the label, and every other column of numbers."""
    from tallymark.sources.engine import engine
    from tallymark.sources.files import columns_of
    from tallymark.sources.formats import Wanted, is_number

    wanted = [Wanted(label, "label")]
    with engine(path, wanted) as source:
        features = [column for column, kind in source.types.items() if is_number(kind) and column != label]
    if not features:
        raise InputError(f"{path.name} has no column of numbers to learn from.")
    wanted += [Wanted(column, "attribute", "number") for column in features]
    with engine(path, wanted) as source:
        source.keep_order()
        columns = columns_of(source, wanted)
    y = columns[label]
    if positive is not None:
        hits = np.array([str(value) == str(positive) for value in y.tolist()])
        if not hits.any():
            raise InputError(f"{path.name}: no row of {label!r} is {positive!r}.")
        y = hits.astype(np.int64)
    X = np.column_stack([np.ma.filled(np.ma.asarray(columns[name]).astype(np.float64), np.nan) for name in features])
    if np.isnan(X).any():
        raise InputError(f"{path.name}: {int(np.isnan(X).any(axis=1).sum())} rows lack a number; leave them out first.")
    return Dataset(name, X, np.asarray(y), None if positive is None else 1)


def _classifier(file: _File, name: str, given: Any) -> Classifier:
    part = file.part(given, "classifier")
    if "estimator" not in part:
        raise file.refused(f'The classifier {name!r} needs estimator, such as "sklearn.svm.LinearSVC".', name)
    grid = part.get("grid", {})
    return Classifier(_estimator(file, part, grid), grid, part.get("scoring", "geometric_mean"))


def _method(file: _File, part: Mapping[str, Any]) -> Method:
    name = part.get("name", part.get("quantifier", ""))
    if ("quantifier" in part) == ("estimator" in part):
        raise file.refused(
            f"The method {name!r} needs quantifier (a name, on a classifier's scores) or estimator, one of them.", name
        )
    if "estimator" in part:
        return Method(name, _estimator(file, part, {}), part.get("classifier"), fallback=part.get("fallback"))
    return Method(name, part["quantifier"], part.get("classifier"), part.get("options", {}), part.get("fallback"))


def _estimator(file: _File, part: Mapping[str, Any], grid: Mapping[str, Any]) -> Any:
    try:
        return estimator_of(part["estimator"], part.get("params", {}), grid)
    except InputError as error:
        raise file.refused(str(error), part["estimator"]) from None
