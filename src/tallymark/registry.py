"""Registries of declared metrics, parameters, threshold policies, losses, quantifiers and calibrations.

A registry loads the package that declares its entries on first use, so that a lower package can look up a name without
importing a higher one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from tallymark.errors import InputError, UnknownNameError, nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Named(Protocol):
    """What a registry needs of an entry."""

    @property
    def name(self) -> str:
        """The name it is declared under."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other spellings."""


Entry = TypeVar("Entry", bound=Named)


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Declared entries by name or alias; iterates over names in the order of declaration.

    `kind` is what messages call an entry, `home` the module that declares the built-in ones, and `listed_by` says where
    all of them are listed, where that is too long for a message.
    """

    def __init__(self, kind: str, home: str, listed_by: str = "") -> None:
        self._kind = kind
        self._home = home
        self._listed_by = listed_by
        self._entries: dict[str, Entry] = {}
        self._aliases: dict[str, str] = {}
        self._user_defined: set[str] = set()
        self._loaded = False
        #: Makes an entry for a name that was not declared, or gives None. Such entries are not iterated over.
        self.derive: Callable[[str], Entry | None] = lambda _: None

    def add(self, entry: Entry) -> None:
        """Declare a built-in entry; each name and alias can be declared once."""
        for name in (entry.name, *entry.aliases):
            if name in self._entries or name in self._aliases:
                raise ValueError(f"{self._kind} {name!r} is declared twice")
        self._entries[entry.name] = entry
        self._aliases.update(dict.fromkeys(entry.aliases, entry.name))

    def add_user_defined(self, entry: Entry) -> None:
        """Declare a user's entry; it may replace another user-defined entry, not a built-in one."""
        self._load()
        replaced = {entry.name} & self._user_defined
        taken = {
            *(self._entries.keys() - replaced),
            *(alias for alias, name in self._aliases.items() if name not in replaced),
        }
        if clash := next((name for name in (entry.name, *entry.aliases) if name in taken), None):
            raise InputError(f"{self._kind} {clash!r} is declared already; choose another name.")
        self.remove_user_defined(entry.name)
        self.add(entry)
        self._user_defined.add(entry.name)

    @property
    def user_defined(self) -> tuple[str, ...]:
        """Names of the user-defined entries."""
        return tuple(sorted(self._user_defined))

    def remove_user_defined(self, name: str) -> None:
        """Remove a user-defined entry, if there is one of this name."""
        if name in self._user_defined:
            self._user_defined.remove(name)
            self._entries.pop(name)
            self._aliases = {alias: target for alias, target in self._aliases.items() if target != name}

    def __getitem__(self, name: str) -> Entry:
        if not self._loaded:
            self._load()
        try:
            return self._entries[self._aliases.get(name, name)]
        except (KeyError, TypeError):
            if isinstance(name, str) and (derived := self.derive(name)) is not None:
                return derived
            meant = nearest(name, [*self._entries, *self._aliases])
            all_ = self._listed_by or f"There are: {', '.join(self._entries)}."
            raise UnknownNameError(f"No {self._kind} is called {name!r}.{meant} {all_}") from None

    def __contains__(self, name: object) -> bool:
        self._load()
        return isinstance(name, str) and (
            name in self._entries or name in self._aliases or self.derive(name) is not None
        )

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(self._entries)

    def __len__(self) -> int:
        self._load()
        return len(self._entries)

    def _load(self) -> None:
        if not self._loaded:
            importlib.import_module(self._home)
            self._loaded = True


Needs = Literal["confusion", "tally", "probabilities", "moments", "multiclass"]
Better = Literal["higher", "lower", "zero", "neither"]

#: ``order``: better whenever a positive rises or a negative falls, so the two extreme orders bracket it. Otherwise a
#: function that gives the lowest and the highest possible value; None for a metric of moments, which stay exact.
Bound = Literal["order"] | Callable[..., tuple[float, float]] | None

#: Cells of a confusion matrix.
Cells = tuple[Literal["tp", "fp", "fn", "tn"], ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter of metrics: its range, its symbol in LaTeX and one sentence of help for options and sliders."""

    name: str
    low: float
    high: float
    symbol: str
    help: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Described:
    """Facts of metrics, policies, losses, quantifiers and calibrations alike."""

    #: One sentence.
    meaning: str
    reference: str
    #: Other spellings of the name.
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Declared(Described):
    """Facts under the name of a registry's entry."""

    name: str


@dataclass(frozen=True, kw_only=True)
class MetricFacts(Described):
    """Facts declared of any metric; glossary, reports and tests are made from them."""

    title: str
    low: float = 0.0
    high: float = 1.0
    better: Better = "higher"
    #: Invariant to removing or repeating rows of one class.
    prevalence_free: bool = False
    #: What it says of a classifier in a few words, for a table's head.
    brief: str = ""
    #: The usual name, where it is not the title.
    short: str = ""


@dataclass(frozen=True, kw_only=True)
class ScoreFacts(MetricFacts):
    """Facts declared of a metric that is a function of a summary."""

    family: str
    needs: Needs
    #: In LaTeX.
    formula: str
    #: Invariant to an increasing transformation of the scores.
    rank_only: bool = False
    #: Defined when only one of the two classes occurs.
    one_class: bool = False
    #: How a quantised tally bounds it.
    bound: Bound = None
    #: A function of the classes' masses, means and variances alone.
    moments: bool = False
    #: Assumes normal scores in each class, so that skewed scores mislead it.
    normal_theory: bool = False
    #: An average of precision over the top of the list, which few negatives decide.
    top_heavy: bool = False
    #: Negatives and positives from which its default interval reaches its nominal coverage.
    holds_from: tuple[int, int] = (0, 0)
    #: A sum over rows: twice the rows have twice the value.
    extensive: bool = False
    #: For metrics at one threshold: the values of arrays tp, fp, fn, tn and of the parameters by name.
    cells: Callable[..., NDArray[np.float64]] | None = None


@dataclass(frozen=True, kw_only=True)
class CellFacts(MetricFacts):
    """Facts declared of a metric that is a formula of the four cells."""

    #: Defaults of the parameters by name; :data:`PARAMETERS` has their ranges.
    parameters: Mapping[str, float] = field(default_factory=dict)
    #: The parameter that is the threshold itself unless it is given.
    threshold_parameter: str | None = None
    #: For a metric that is a proportion of rows: the cells of its hits and of its misses.
    proportion: tuple[Cells, Cells] | None = None
    #: Does not depend on the model, only on the labels.
    model_free: bool = False
    #: The values of many K-class matrices, from their :class:`Margins`, without averaging over classes.
    of_classes: Callable[..., NDArray[np.float64]] | None = None


@dataclass(frozen=True, kw_only=True)
class Metric(ScoreFacts, CellFacts, Declared):
    """A declared metric: its facts and the functions that compute it."""

    #: Value of an uninformative classifier: scores (or predictions) unrelated to the labels, and for losses of
    #: probabilities the prevalence stated for every row.
    chance: Callable[..., float]
    #: The value; raises Undefined instead of returning nan.
    compute: Callable[..., float]
    #: The public function: nan with a warning where the metric is undefined.
    function: Callable[..., float]
    #: The formula of the four cells that Python and the report's page share, where there is one.
    expression: str | None = None

    @property
    def label(self) -> str:
        """The usual name: a heading of a table."""
        return self.short or self.title.partition(" (")[0]

    def __post_init__(self) -> None:
        if self.needs == "confusion" and not isinstance(self, CellMetric):
            raise ValueError(
                f"{self.name} is a metric at one threshold, so it needs cells=, a function of arrays tp, fp, fn, tn"
            )


@dataclass(frozen=True, kw_only=True)
class CellMetric(Metric):
    """A metric at one threshold: a function of the four cells of a confusion matrix."""

    cells: Callable[..., NDArray[np.float64]]
    #: Errors of the two kinds cancel, so that correcting one error may make it worse.
    errors_cancel: bool = False


@dataclass(frozen=True, kw_only=True)
class Policy(Declared):
    """A rule that chooses a threshold from a labelled tally."""

    #: Names of the numbers written behind the colon, as in ``cost:1,50``.
    arguments: tuple[str, ...]
    choose: Callable[..., float]
    #: How it is written with numbers.
    example: str = ""
    #: Numbers that may be left out, with the value they then have.
    defaults: tuple[float, ...] = ()
    #: The metric that its choice is judged by.
    judged_by: str = "balanced_accuracy"
    #: Metrics that have their best value of all thresholds at its choice, with its numbers as their parameters.
    maximises: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Loss(Declared):
    """A distance of an estimated class distribution from the true one."""

    title: str
    formula: str
    low: float
    high: float
    better: Better
    #: Of two (samples, classes) arrays, one value per sample.
    compute: Callable[..., Any]
    #: Depends on the order of the classes.
    ordinal: bool = False
    #: Infinite at shares of 0 unless smoothed; takes `size`, the rows of a sample, and adds half a row to each class.
    smoothed_by_size: bool = False


@dataclass(frozen=True, kw_only=True)
class Method(Declared):
    """A quantifier: estimates the share of positives in an unlabelled sample of scores."""

    title: str
    formula: str
    #: The shares of many samples at once, nan where there is none.
    kernel: Callable[..., Any]
    #: Where its interval comes from unless another method is chosen.
    interval: Literal["analytic", "profile", "bootstrap"]
    #: Scores must be probabilities.
    probabilities: bool = False
    #: Consistent under prior shift: at any prevalence, as long as the scores of each class keep their distribution.
    shift_proof: bool = True
    #: Assumes that the scores are calibrated probabilities.
    trusts_probabilities: bool = False
    #: Densities of the classes at the target's scores, for those that maximise a likelihood.
    densities: Callable[..., Any] | None = None
    #: The method's options and their defaults; the kernel takes each by name.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Options that its default interval does not cover: where one is given, rows are resampled.
    resampled_with: tuple[str, ...] = ()
    #: Uses the target's scores.
    reads_target: bool = True
    #: Takes a target of whole rows only, no weights.
    whole_rows: bool = False
    #: Is fitted on the validation sample.
    reads_validation: bool = True
    #: Needs the prevalence the model was trained at.
    uses_training_prevalence: bool = False
    #: Options with which its densities are fitted on the validation sample instead of taken from the scores.
    fitted_with: Mapping[str, Any] = field(default_factory=dict)
    #: Of several estimates the one with the lowest precedence is published. It is fixed in advance, because choosing
    #: the narrowest interval afterwards would understate the uncertainty.
    precedence: int = 100


@dataclass(frozen=True, kw_only=True)
class Calibration(Declared):
    """A method that turns scores into probabilities."""

    #: From a labelled tally, and from the target where it is needed, to a map of scores.
    fit: Callable[..., Any]
    #: Uses the scores of the target, and holds at their prevalence instead of the labelled sample's.
    uses_target: bool = False


METRICS: Registry[Metric] = Registry("metric", "tallymark.metrics", "`tallymark metrics` (dir(tm.metrics)) lists them.")
PARAMETERS: Registry[Parameter] = Registry("parameter", "tallymark.metrics.parameters")
POLICIES: Registry[Policy] = Registry("threshold policy", "tallymark.thresholds")
LOSSES: Registry[Loss] = Registry("quantification loss", "tallymark.quantify.losses")
CALIBRATIONS: Registry[Calibration] = Registry("calibration", "tallymark.quantify")
QUANTIFIERS: Registry[Method] = Registry(
    "quantifier", "tallymark.quantify.kernels", "`tallymark quantifiers` lists them."
)


def cell_metric_named(name: str) -> CellMetric:
    """The metric at one threshold of this name; refuses any other metric."""
    metric = METRICS[name]
    if not isinstance(metric, CellMetric):
        raise InputError(f"{name} is not a metric at one threshold; take one such as f1 or balanced_accuracy.")
    return metric


def metric_names(names: object) -> list[str]:
    """Names of metrics from one name or several, aliases resolved."""
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, Iterable):
        raise InputError(f"metrics is {names!r}, expected a name or a list of names.")
    return [METRICS[name].name for name in listed]


def require_one_of(name: str, value: str, options: Iterable[str]) -> Any:
    """The value, if it is one of the options; else an error that lists them."""
    return choose(name, value, {option: option for option in options})


def choose(name: str, value: str, options: Mapping[str, Any]) -> Any:
    """The option of this name, or an error that lists the options."""
    if isinstance(value, str) and value in options:
        return options[value]
    raise InputError(f"{name}={value!r} is not known.{nearest(value, options)} Choose one of: {', '.join(options)}.")
