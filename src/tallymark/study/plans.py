"""What a study is made of, and how a TOML file says it."""

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
from tallymark.registry import LOSSES, QUANTIFIERS
from tallymark.study.datasets import DATASETS, Dataset, dataset
from tallymark.study.estimators import made


@dataclass(frozen=True)
class Classifier:
    """A classifier whose scores several methods share: trained once in each fold, its parameters searched where there is a grid."""

    estimator: Any
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    #: A metric at one threshold, or a name that scikit-learn's ``scoring`` knows.
    scoring: str = "geometric_mean"

    @property
    def description(self) -> Any:
        """What it is, for the key of a cell."""
        return {"estimator": described(self.estimator), "grid": described(dict(self.grid)), "scoring": self.scoring}


@dataclass(frozen=True)
class Method:
    """A way to count: a quantifier by name on a classifier's scores, a function of (validation tally, target scores), or anything
    with ``fit`` and ``predict``."""

    name: str
    quantifier: Any
    classifier: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    #: A quantifier on the same scores that answers where this one has no value.
    fallback: str | None = None

    @property
    def description(self) -> Any:
        """What it is, for the key of a cell."""
        parts = {"quantifier": described(self.quantifier), "options": described(dict(self.options))}
        return parts if self.fallback is None else parts | {"fallback": self.fallback}


@dataclass(frozen=True)
class DataSource:
    """A data set to be read when it is needed: registered, in a file, or in memory; attributes brought to mean 0 and deviation `scale`."""

    name: str
    read: Callable[[], Dataset]
    scale: float | None = None

    def load(self) -> Dataset:
        """The rows, scaled where that was asked for."""
        found = self.read()
        if self.scale is None:
            return found
        spread = found.X.std(axis=0)
        X = (found.X - found.X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0) * self.scale
        return Dataset(found.name, X, found.y, found.positive)


def described(value: Any) -> Any:
    """A value as JSON that changes whenever it would compute something else."""
    if isinstance(value, str):
        own = QUANTIFIERS[value].kernel if value in QUANTIFIERS.user_defined else None
        return value if own is None else [value, described(own)]
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
    """A checked study: nothing is read or imported before it is run, but what is named is known to exist."""

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
            known = QUANTIFIERS[method.quantifier]
            if unknown := set(method.options) - {*known.options, "threshold"}:
                allowed = ", ".join(sorted({*known.options})) or "none"
                raise InputError(
                    f"{method.name}: {known.name} has no option {min(unknown)!r}; its options are {allowed}."
                )
        if method.fallback is not None:
            _ = QUANTIFIERS[method.fallback]
        estimator = not named and hasattr(method.quantifier, "fit") and hasattr(method.quantifier, "predict")
        if not named and not estimator and not callable(method.quantifier):
            raise InputError(
                f"{method.name}: the quantifier is {method.quantifier!r}, expected a name, something with fit and predict, or a "
                "function of (validation tally, target scores)."
            )
        if estimator:
            if method.fallback not in (None, "bl"):
                raise InputError(
                    f"{method.name} brings its own estimator, which has no scores to fall back on; its fallback can only be bl."
                )
            if method.classifier is not None:
                raise InputError(f"{method.name} brings its own estimator; leave its classifier out.")
        elif method.classifier not in self.classifiers:
            raise InputError(
                f"{method.name} needs a classifier, {method.classifier!r} is not among {', '.join(self.classifiers) or 'none'}."
                + nearest(method.classifier, self.classifiers)
            )

    def key(self, data: Dataset, fold: int, method: Method) -> str:
        """The content of a cell: data, protocol, fold, seed, method, classifier and version; never an order or a file's name."""
        content = {
            "data": data.digest, "protocol": described(dict(self.protocol)), "fold": fold, "seed": self.seed,
            "method": method.description, "version": __version__,
            "classifier": None if method.classifier is None else self.classifiers[method.classifier].description,
        }  # fmt: skip
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
        "name": (str,), "quantifier": (str,), "classifier": (str,), "options": (dict,), "fallback": (str,), "estimator": (str,),
        "params": (dict,),
    },
}  # fmt: skip

#: What TOML calls a type.
_TYPES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "a table"}

#: Bytes of a file's name that leave room for the names a store adds to it.
_NAME_BYTES = 200


def default_store(folder: Path, name: str) -> Path:
    """The file in which the results of a study of this name are kept; refuses a name that no file can have."""
    if (
        not name.strip(". ")
        or len(name.encode("utf-8", "replace")) > _NAME_BYTES
        or any(c in "/\\" or not c.isprintable() for c in name)
    ):
        raise InputError(
            f"The study is called {name[:40]!r}, which cannot be the name of the file of its results; use letters, digits, '-' and "
            f"'_', at most {_NAME_BYTES} of them."
        )
    return folder / f"{name}.sqlite"


class _File:
    """A TOML file that knows in which line a word stands."""

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
            raise self.refused(f"[{kind}] must be a table, not {given!r}.", kind.rsplit(".", maxsplit=1)[-1])
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
            name=name, seed=_whole(file, study.get("seed", 0), "seed"), losses=tuple(losses), protocol=protocol,
            datasets=tuple(_source_of(file, part) for part in file.parts("dataset")),
            classifiers={name: _classifier(file, name, given) for name, given in listed.items()},
            methods=tuple(_method(file, part) for part in file.parts("method")),
        )  # fmt: skip
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
        return DataSource(name, lambda: dataset(name), scale)
    place = file.path.parent / part["file"]
    if "label" not in part:
        raise file.refused(
            f"The data set in {part['file']!r} needs label, the column with the true class.", part["file"]
        )
    if not _is_file(place):
        raise file.refused(f"There is no file {part['file'][:80]!r} beside {file.path.name}.", part["file"])
    called = name or place.stem
    return DataSource(called, lambda: _of_file(called, place, part["label"], part.get("positive")), scale)


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
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
    return Classifier(_made(file, part, grid), grid, part.get("scoring", "geometric_mean"))


def _method(file: _File, part: Mapping[str, Any]) -> Method:
    name = part.get("name", part.get("quantifier", ""))
    if ("quantifier" in part) == ("estimator" in part):
        raise file.refused(
            f"The method {name!r} needs quantifier (a name, on a classifier's scores) or estimator, one of them.", name
        )
    if "estimator" in part:
        return Method(name, _made(file, part, {}), part.get("classifier"), fallback=part.get("fallback"))
    return Method(name, part["quantifier"], part.get("classifier"), part.get("options", {}), part.get("fallback"))


def _made(file: _File, part: Mapping[str, Any], grid: Mapping[str, Any]) -> Any:
    try:
        return made(part["estimator"], part.get("params", {}), grid)
    except InputError as error:
        raise file.refused(str(error), part["estimator"]) from None
