"""``tm.study.Study``: data sets × methods × folds × prevalences, run in parallel, kept cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from tallymark import _check
from tallymark._display import Row, Shown
from tallymark.errors import InputError
from tallymark.registry import QUANTIFIERS
from tallymark.study.datasets import Dataset, MissingData, dataset
from tallymark.study.outcomes import Ranks, StudyResults, StudyTest
from tallymark.study.plans import Classifier, DataSource, Method, Plan, default_store, plan_of
from tallymark.study.protocols import Protocol, protocol
from tallymark.study.stores import reading, writing
from tallymark.study.units import Outcome, Unit

Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False, repr=False)
class Run(Shown):
    """What a run did: cells worked on now, found finished, failed (now or before), and data sets that were not there."""

    done: int
    found: int
    failed: int
    skipped: Mapping[str, str]

    def heading(self) -> str:
        """In one line."""
        rest = f", {self.failed} failed (run again with retry=True to try them anew)" if self.failed else ""
        skipped = "".join(f"\nskipped {name}: {why}" for name, why in self.skipped.items())
        return f"{self.done} cells done, {self.found} were finished already{rest}{skipped}"

    def rows(self) -> Sequence[Row]:
        """One line."""
        return [{"done": self.done, "found": self.found, "failed": self.failed, "skipped": len(self.skipped)}]


class Study:
    """A comparison of quantifiers on many data sets.

    From a TOML file (:meth:`from_toml`), or from Python: `datasets` are registered names, :class:`Dataset` or (name, X, y);
    `methods` maps a name to a quantifier's name, a function of (validation tally, target scores), or anything with ``fit`` and
    ``predict``; `classifier` is the scikit-learn classifier whose scores named quantifiers and functions use.

    >>> from sklearn.linear_model import LogisticRegression
    >>> import tallymark as tm, tempfile, pathlib
    >>> study = tm.study.Study("two", ["breast_cancer"], {"AC": "ac", "CC": "cc"}, LogisticRegression(max_iter=5000), protocol={"folds": 2})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = study.run(store=pathlib.Path(folder) / "two.sqlite")
    ...     len(study.results().errors("ae")[0])
    11
    """

    def __init__(
        self, name: str, datasets: Sequence[Any], methods: Mapping[str, Any], classifier: Any = None, *,
        protocol: Mapping[str, Any] | None = None, losses: Sequence[str] = ("ae",), seed: int = 0,
        store: str | PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        classifiers = (
            {}
            if classifier is None
            else {"classifier": classifier if isinstance(classifier, Classifier) else Classifier(classifier)}
        )
        listed = tuple(
            one if isinstance(one, Method) else _method(called, one, classifiers) for called, one in methods.items()
        )
        plan = Plan(
            name=name, seed=seed, losses=tuple(losses), protocol={"kind": "folds", **(protocol or {})},
            datasets=tuple(map(_source, datasets)), classifiers=classifiers, methods=listed,
        )  # fmt: skip
        self._begin(plan, Path(store) if store is not None else default_store(Path(), name))

    def _begin(self, plan: Plan, store: Path) -> None:
        self._plan, self._store = plan, store

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Study:
        """The study a file describes; its results go beside it."""
        plan = plan_of(path)
        made = cls.__new__(cls)
        made._begin(plan, default_store(Path(path).parent, plan.name))  # noqa: SLF001 - another way to make the same
        return made

    @property
    def name(self) -> str:
        """Its name."""
        return self._plan.name

    @property
    def store(self) -> Path:
        """Where its results are kept."""
        return self._store

    def __repr__(self) -> str:
        plan = self._plan
        return (
            f"Study {plan.name}: {len(plan.methods)} methods, {len(plan.datasets)} data sets, results in {self._store}"
        )

    def run(
        self,
        jobs: int | None = 1,
        store: str | PathLike[str] | None = None,
        progress: Progress | None = None,
        *,
        retry: bool = False,
    ) -> Run:
        """Work on every cell that is not finished, and keep each at once; a run that was stopped goes on where it was.

        `jobs` processes work side by side (joblib; inside ``joblib.parallel_config("dask")`` a cluster does), one writes. `retry`
        works on failed and on damaged cells again. The same seed gives the same results, whatever the order and the number of jobs.
        """
        _check.callback(progress)
        if store is not None:
            self._store = Path(store)
        data, skipped = self._loaded()
        protocols = self._protocols(data)
        keys = self._keys(data, protocols)
        with writing(self._store) as kept:
            status = kept.status()
            if retry:
                again = {key for key, *_ in keys if status.get(key) is not None} | set(kept.damaged())
                kept.forget(again)
                status = {key: error for key, error in status.items() if key not in again}
            missing = {key for key, *_ in keys if key not in status}
            units = self._units(data, protocols, keys, missing)
            names = {key: (source, fold, method.name) for key, source, fold, method in keys}
            done, failed = 0, sum(status.get(key) is not None for key, *_ in keys)
            for outcomes in _worked(units, jobs):
                for outcome in outcomes:
                    kept.add(*names[outcome.key], outcome)
                    done += 1
                    failed += outcome.error is not None
                if progress is not None and missing:
                    progress(100.0 * done / len(missing))
        return Run(done, len(keys) - len(missing), failed, skipped)

    def results(self) -> StudyResults:
        """What is finished so far."""
        data, skipped = self._loaded()
        keys = self._keys(data, self._protocols(data))
        with reading(self._store) as kept:
            found = {cell.key: cell for cell in kept.cells(key for key, *_ in keys)}
        cells = [found[key] for key, *_ in keys if key in found]
        # A data set or method may be called otherwise than when its cell was finished; what it is called now counts.
        named = {key: (source, method.name) for key, source, _, method in keys}
        cells = [replace(cell, dataset=named[cell.key][0], method=named[cell.key][1]) for cell in cells]
        return StudyResults(
            self._plan.name, self._plan.losses, tuple(data), tuple(method.name for method in self._plan.methods),
            tuple(cell for cell in cells if cell.error is None), tuple(cell for cell in cells if cell.error is not None),
            len(keys) - len(cells), skipped,
        )  # fmt: skip

    def ranks(self, loss: str) -> Ranks:
        """Mean ranks by a loss."""
        return self.results().ranks(loss)

    def test(self, loss: str, *, level: float = 0.95) -> StudyTest:
        """Friedman, Iman–Davenport and Nemenyi by a loss."""
        return self.results().test(loss, level=level)

    def _loaded(self) -> tuple[dict[str, Dataset], dict[str, str]]:
        """Data sets that are there, and why others are not."""
        data, skipped = {}, {}
        for source in self._plan.datasets:
            try:
                data[source.name] = source.load()
            except MissingData as error:
                skipped[source.name] = str(error)
        if not data:
            raise InputError(f"None of the data sets of {self._plan.name!r} is here: {next(iter(skipped.values()))}")
        return data, skipped

    def _protocols(self, data: Mapping[str, Dataset]) -> dict[str, Protocol]:
        """How each data set is sampled; refuses what does not fit its rows."""
        return {name: protocol(one.y, seed=self._plan.seed, **self._plan.protocol) for name, one in data.items()}

    def _keys(
        self, data: Mapping[str, Dataset], protocols: Mapping[str, Protocol]
    ) -> list[tuple[str, str, int, Method]]:
        """Every cell: its key, data set, fold and method, in the order of the plan."""
        return [
            (self._plan.key(one, fold, method), name, fold, method)
            for name, one in data.items()
            for fold in range(len(protocols[name]))
            for method in self._plan.methods
        ]

    def _units(
        self, data: Mapping[str, Dataset], protocols: Mapping[str, Protocol], keys: Sequence[Any], missing: set[str]
    ) -> Iterator[Unit]:
        """Work for one process at a time: the methods that share a fold and a classifier."""
        groups: dict[tuple[str, int, Any], list[tuple[str, Method]]] = {}
        for key, name, fold, method in keys:
            if key in missing:
                # What brings its own estimator shares nothing.
                shared = method.classifier if method.classifier is not None else ("own", method.name)
                groups.setdefault((name, fold, shared), []).append((key, method))
        for (name, fold, shared), methods in groups.items():
            classifier = self._plan.classifiers[shared] if isinstance(shared, str) else None
            yield Unit(data[name], protocols[name], fold, classifier, methods, self._plan.seed)


def _worked(units: Iterator[Unit], jobs: int | None) -> Iterator[list[Outcome]]:
    """Outcomes as they come."""
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(
        delayed(unit.work)() for unit in units
    )


def _source(one: Any) -> DataSource:
    if isinstance(one, str):
        return DataSource(one, lambda: dataset(one))
    if isinstance(one, tuple) and len(one) == 3:
        one = Dataset(str(one[0]), one[1], one[2])
    if not isinstance(one, Dataset):
        raise InputError(f"A data set is {one!r}, expected a registered name, a Dataset, or (name, X, y).")
    return DataSource(one.name, lambda: one)


def _method(name: str, quantifier: Any, classifiers: Mapping[str, Classifier]) -> Method:
    """A quantifier by its name or a function uses the classifier's scores, an estimator brings its own."""
    own = not isinstance(quantifier, str) and hasattr(quantifier, "fit")
    if isinstance(quantifier, str):
        _ = QUANTIFIERS[quantifier]
    return Method(name, quantifier, None if own else next(iter(classifiers), None))
