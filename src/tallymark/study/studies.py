"""Studies of quantifiers: data sets × methods × folds × prevalences, run in parallel, stored cell by cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from tallymark import _check
from tallymark._display import Row, Shown
from tallymark.errors import InputError
from tallymark.registry import QUANTIFIERS
from tallymark.study.datasets import Dataset, MissingData
from tallymark.study.outcomes import Ranks, StudyResults, StudyTest
from tallymark.study.plans import Classifier, DataSource, Method, Plan, default_store, plan_of, registered
from tallymark.study.protocols import Protocol, protocol
from tallymark.study.stores import reading, writing
from tallymark.study.units import Outcome, Unit

Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False, repr=False)
class Run(Shown):
    """Summary of a run: cells computed now, finished before, failed (now or before), and data sets not available."""

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


class _Loaded(NamedTuple):
    """A data set and its protocol, or the reason why it is missing."""

    source: DataSource
    data: Dataset | None
    sampled: Protocol | None
    missing: str = ""


class Study:
    """A comparison of quantifiers on many data sets; :meth:`from_toml` reads one from a file.

    Parameters
    ----------
    name
        Its name, and that of the file of its results.
    datasets
        Registered names, :class:`Dataset`, or (name, X, y).
    methods
        By name: a quantifier's name, a function of (validation tally, target scores), an object with ``fit`` and
        ``predict``, or a :class:`Method`.
    classifier
        The scikit-learn classifier (or :class:`Classifier`) whose scores quantifiers and functions use, or several by
        name.
    protocol
        Options of :func:`protocol`.
    losses
        Names of quantification losses.
    seed
        Seed of folds, samples and classifiers.
    store
        File of the results; by default the study's name in the current folder.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import tallymark as tm, tempfile, pathlib
    >>> classifier, methods = LogisticRegression(max_iter=5000), {"AC": "ac", "CC": "cc"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "two.sqlite"
    ...     study = tm.study.Study("two", ["breast_cancer"], methods, classifier, protocol={"folds": 2}, store=store)
    ...     done = study.run()
    ...     len(study.results().errors("ae")[0])
    11
    """

    def __init__(
        self,
        name: str,
        datasets: Sequence[Any],
        methods: Mapping[str, Any],
        classifier: Any = None,
        *,
        protocol: Mapping[str, Any] | None = None,
        losses: Sequence[str] = ("ae",),
        seed: int = 0,
        store: str | PathLike[str] | None = None,
    ) -> None:
        classifiers = _classifiers(classifier)
        self._plan = Plan(
            name=name,
            seed=seed,
            losses=tuple(losses),
            protocol={"kind": "folds", **(protocol or {})},
            datasets=tuple(map(_source, datasets)),
            classifiers=classifiers,
            methods=tuple(_method(title, method, classifiers) for title, method in methods.items()),
        )
        self._store = default_store(Path(), name) if store is None else Path(store)

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Study:
        """The study that a TOML file describes.

        Parameters
        ----------
        path
            The file; results are stored beside it.

        Returns
        -------
        Study
            The checked study; nothing is read or run yet.
        """
        plan = plan_of(path)
        return cls(
            plan.name,
            plan.datasets,
            {method.name: method for method in plan.methods},
            plan.classifiers,
            protocol=plan.protocol,
            losses=plan.losses,
            seed=plan.seed,
            store=default_store(Path(path).parent, plan.name),
        )

    @property
    def name(self) -> str:
        """Its name."""
        return self._plan.name

    @property
    def store(self) -> Path:
        """The file of its results."""
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
        """Compute every unfinished cell and store each at once; a run that was stopped is resumed.

        Data sets are loaded one after the other, when their cells run. The same seed gives the same results, whatever
        the order and the number of jobs.

        Parameters
        ----------
        jobs
            Processes that compute (joblib; inside ``joblib.parallel_config("dask")`` a cluster does); one process
            writes.
        store
            Another file for the results of this run; read them with ``results(store)``.
        progress
            Called with the percentage of cells that are finished.
        retry
            Compute failed and damaged cells again.

        Returns
        -------
        Run
            How many cells were computed, finished before and failed, and which data sets were missing.
        """
        _check.callback(progress)
        plan = self._plan
        for source in plan.datasets:
            source.require()
        loaded = self._loaded()
        # A study whose first data set is refused leaves no store behind.
        first = []
        for one in loaded:
            first.append(one)
            if one.data is not None:
                break
        else:
            raise InputError(f"None of the data sets of {plan.name!r} is here: {first[0].missing}")
        computed, finished, failed = 0, 0, 0
        cells_of_one = plan.folds * len(plan.methods)
        total = len(plan.datasets) * cells_of_one
        skipped: dict[str, str] = {}
        with writing(self._store if store is None else store) as kept:
            if retry:
                kept.forget(kept.damaged())
            status = kept.status()
            for source, data, sampled, missing in itertools.chain(first, loaded):
                if data is None or sampled is None:
                    kept.record(source.identity, None, missing)
                    skipped[source.name] = missing
                    total -= cells_of_one
                    continue
                kept.record(source.identity, data.digest)
                keys = plan.keys(data.digest)
                names = {key: (source.name, fold, method.name) for key, fold, method in keys}
                units = self._units(data, sampled, status, retry=retry)
                pending = {key for unit in units for key, _ in unit.methods}
                kept.forget(pending & status.keys())
                finished += sum(key not in pending for key, *_ in keys)
                failed += sum(status.get(key) is not None for key, *_ in keys if key not in pending)
                for outcome in _outcomes(units, jobs):
                    kept.add(*names[outcome.key], outcome)
                    computed += 1
                    failed += outcome.error is not None
                    if progress is not None:
                        progress(100.0 * (computed + finished) / total)
        return Run(computed, finished, failed, skipped)

    def _loaded(self) -> Iterator[_Loaded]:
        """The data sets, each loaded and checked against the protocol when it is reached."""
        for source in self._plan.datasets:
            try:
                data = source.load()
            except MissingData as error:
                yield _Loaded(source, None, None, str(error))
                continue
            yield _Loaded(source, data, protocol(data.y, seed=self._plan.seed, **self._plan.protocol))

    def results(self, store: str | PathLike[str] | None = None) -> StudyResults:
        """The finished cells, read from the store; data sets are not needed.

        Parameters
        ----------
        store
            The file that was passed to :meth:`run`; by default the study's own.

        Returns
        -------
        StudyResults
            Estimates of every finished cell, with ranks and tests; what failed or was skipped is listed.
        """
        plan = self._plan
        datasets: list[str] = []
        skipped: dict[str, str] = {}
        cells = []
        with reading(self._store if store is None else store) as kept:
            records = kept.datasets()
            for source in plan.datasets:
                digest, reason = records.get(source.identity, (None, None))
                if reason is not None:
                    skipped[source.name] = reason
                    continue
                datasets.append(source.name)
                keys = [] if digest is None else plan.keys(digest)
                stored = {cell.key: cell for cell in kept.cells(key for key, *_ in keys)}
                # A data set or a method may have been renamed since its cells were computed.
                cells += [
                    replace(stored[key], dataset=source.name, method=method.name)
                    for key, _, method in keys
                    if key in stored
                ]
        return StudyResults(
            name=plan.name,
            losses=plan.losses,
            datasets=tuple(datasets),
            methods=tuple(method.name for method in plan.methods),
            cells=tuple(cell for cell in cells if cell.error is None),
            failed=tuple(cell for cell in cells if cell.error is not None),
            unfinished=len(datasets) * plan.folds * len(plan.methods) - len(cells),
            skipped=skipped,
        )

    def ranks(self, loss: str) -> Ranks:
        """Mean ranks of the methods by a loss: ``results().ranks(loss)``."""
        return self.results().ranks(loss)

    def test(self, loss: str, *, level: float = 0.95) -> StudyTest:
        """Friedman, Iman–Davenport and Nemenyi tests by a loss: ``results().test(loss)``."""
        return self.results().test(loss, level=level)

    def _units(self, data: Dataset, sampled: Protocol, status: Mapping[str, str | None], *, retry: bool) -> list[Unit]:
        """The unfinished cells of a data set, grouped by fold and classifier, which their methods share."""
        plan = self._plan
        groups: dict[tuple[int, str | None, str], list[tuple[str, Method]]] = {}
        for key, fold, method in plan.keys(data.digest):
            if key not in status or (retry and status[key] is not None):
                # A method with its own estimator shares no scores.
                alone = method.name if method.classifier is None else ""
                groups.setdefault((fold, method.classifier, alone), []).append((key, method))
        return [
            Unit(data, sampled, fold, None if name is None else plan.classifiers[name], methods, plan.seed)
            for (fold, name, _), methods in groups.items()
        ]


def _outcomes(units: Sequence[Unit], jobs: int | None) -> Iterator[Outcome]:
    """Outcomes in the order in which they are finished."""
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for outcomes in pool(delayed(unit.work)() for unit in units):
        yield from outcomes


def _source(data: Any) -> DataSource:
    if isinstance(data, DataSource):
        return data
    if isinstance(data, str):
        return registered(data)
    if isinstance(data, tuple) and len(data) == 3:
        data = Dataset(str(data[0]), data[1], data[2])
    if not isinstance(data, Dataset):
        raise InputError(f"A data set is {data!r}, expected a registered name, a Dataset, or (name, X, y).")
    return DataSource(data.name, lambda: data, {"digest": data.digest})


def _classifiers(given: Any) -> dict[str, Classifier]:
    """Classifiers by name; one alone is called ``classifier``."""
    if given is None:
        return {}
    named = given if isinstance(given, Mapping) else {"classifier": given}
    return {name: one if isinstance(one, Classifier) else Classifier(one) for name, one in named.items()}


def _method(name: str, method: Any, classifiers: Mapping[str, Classifier]) -> Method:
    """A quantifier by its name or a function uses the first classifier's scores; an estimator uses its own."""
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        _ = QUANTIFIERS[method]
    estimator = not isinstance(method, str) and hasattr(method, "fit")
    return Method(name, method, None if estimator else next(iter(classifiers), None))
