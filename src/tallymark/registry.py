"""How metrics, threshold policies, losses and quantifiers are declared once and found by name.

A lower room can look a name up without importing the room that declares it: a registry knows its home
and loads it on first use.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from tallymark.errors import InputError, UnknownNameError, nearest


class Named(Protocol):
    """Anything with a name and other spellings of it."""

    @property
    def name(self) -> str:
        """The one name it is declared under."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other spellings."""


Entry = TypeVar("Entry", bound=Named)


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Declared things by name; iterates in the order of declaration."""

    def __init__(self, kind: str, home: str) -> None:
        self._kind = kind
        self._home = home
        self._entries: dict[str, Entry] = {}
        self._aliases: dict[str, str] = {}
        self._own: set[str] = set()
        self._loaded = False

    def add(self, entry: Entry) -> None:
        """Declare; a name or alias can be taken only once."""
        for name in (entry.name, *entry.aliases):
            if name in self._entries or name in self._aliases:
                raise ValueError(f"{self._kind} {name!r} is declared twice")
        self._entries[entry.name] = entry
        self._aliases.update(dict.fromkeys(entry.aliases, entry.name))

    def add_own(self, entry: Entry) -> None:
        """Declare an entry of a user's; it may replace one of theirs, never one of ours."""
        self._load()
        mine = {entry.name} & self._own
        taken = {*(self._entries.keys() - mine), *(alias for alias, name in self._aliases.items() if name not in mine)}
        if clash := next((name for name in (entry.name, *entry.aliases) if name in taken), None):
            raise InputError(f"{self._kind} {clash!r} is declared already; choose another name.")
        self.remove_own(entry.name)
        self.add(entry)
        self._own.add(entry.name)

    @property
    def own(self) -> tuple[str, ...]:
        """Names that users declared."""
        return tuple(sorted(self._own))

    def remove_own(self, name: str) -> None:
        """Forget an entry of a user's."""
        if name in self._own:
            self._own.remove(name)
            self._entries.pop(name)
            self._aliases = {alias: owner for alias, owner in self._aliases.items() if owner != name}

    def __getitem__(self, name: str) -> Entry:
        if not self._loaded:
            self._load()
        try:
            return self._entries[self._aliases.get(name, name)]
        except (KeyError, TypeError):
            known = [*self._entries, *self._aliases]
            raise UnknownNameError(
                f"No {self._kind} is called {name!r}.{nearest(name, known)} There are: {', '.join(self._entries)}."
            ) from None

    def __contains__(self, name: object) -> bool:
        self._load()
        return isinstance(name, str) and (name in self._entries or name in self._aliases)

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
#: function that gives the least and most it could be; None for a metric of moments, which stay exact.
Bound = Literal["order"] | Callable[..., tuple[float, float]] | None

#: Cells of a confusion matrix.
Cells = tuple[Literal["tp", "fp", "fn", "tn"], ...]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """All that is known of a metric: what it computes and the facts that glossary, reports and tests are made from."""

    name: str
    title: str
    family: str
    needs: Needs
    formula: str
    meaning: str
    reference: str
    low: float
    high: float
    better: Better
    #: Does not move when one class is thinned or repeated.
    prevalence_free: bool
    #: Does not move under an increasing map of the scores.
    rank_only: bool
    #: What an answer that knows nothing reaches: scores (or predictions) unrelated to the labels, and for losses of
    #: probabilities the prevalence said to everyone.
    chance: Callable[..., float]
    #: The number itself; raises Undefined instead of returning nan.
    compute: Callable[..., float]
    #: What users call: nan with a warning where it is undefined.
    function: Callable[..., float]
    aliases: tuple[str, ...] = ()
    #: Defined when only one of the two classes occurs.
    one_class: bool = False
    #: For metrics at one threshold: the value of many tp, fp, fn, tn at once (arrays), and of the parameters by name.
    cells: Callable[..., Any] | None = None
    #: The formula of the four cells that Python and the report's page share, where there is one.
    expression: str | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    #: The parameter that is the threshold itself unless it is given.
    threshold_parameter: str | None = None
    #: How a quantised tally bounds it.
    bound: Bound = None
    #: A function of the classes' masses, means and variances alone.
    moments: bool = False
    #: Takes the scores of each class for normal, so that skewed ones mislead it.
    normal_theory: bool = False
    #: For a metric that is hits of rows: the cells of its hits and of its misses.
    proportion: tuple[Cells, Cells] | None = None
    #: Does not depend on the model: the data alone have it.
    model_free: bool = False
    #: For metrics at one threshold: the value of many K-class matrices at once, from their :class:`Margins`, without averaging.
    of_classes: Callable[..., Any] | None = None
    #: An average of precision over the top of the list, which few negatives decide.
    top_heavy: bool = False
    #: Negatives and positives from which its default interval was found to hold its level.
    holds_from: tuple[int, int] = (0, 0)
    #: Adds up over rows: twice the rows have twice the value.
    extensive: bool = False
    #: What it says of a classifier in a few words, for a table's head.
    brief: str = ""
    #: The name people say, where it is not the title.
    short: str = ""

    @property
    def label(self) -> str:
        """The name people say: a heading of a table."""
        return self.short or self.title.partition(" (")[0]

    def __post_init__(self) -> None:
        if self.needs == "confusion" and self.cells is None:
            raise ValueError(
                f"{self.name} is a metric at one threshold, so it needs cells=, a function of arrays tp, fp, fn, tn"
            )


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A way to choose a threshold from a labelled tally."""

    name: str
    meaning: str
    reference: str
    #: Names of the numbers written behind the colon, as in ``cost:1,50``.
    arguments: tuple[str, ...]
    choose: Callable[..., float]
    aliases: tuple[str, ...] = ()
    #: How it is written with numbers.
    example: str = ""
    #: Numbers that may be left out, with the value they then have.
    defaults: tuple[float, ...] = ()
    #: The metric that says how good its choice is.
    judged_by: str = "balanced_accuracy"
    #: Metrics that have their best value of all thresholds at its choice, with its numbers as their parameters.
    maximises: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A measure of how far an estimated class distribution is from the true one."""

    name: str
    title: str
    formula: str
    meaning: str
    reference: str
    low: float
    high: float
    better: Better
    #: Of two (samples, classes) arrays, one value per sample.
    compute: Callable[..., Any]
    aliases: tuple[str, ...] = ()
    #: The classes have an order that the loss looks at.
    ordinal: bool = False
    #: Infinite at shares of 0 unless smoothed; takes `size`, the rows of a sample, half of one of which is added.
    smoothed_by_size: bool = False


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to estimate the share of positives in an unlabelled sample of scores."""

    name: str
    title: str
    formula: str
    meaning: str
    reference: str
    #: The shares of many samples at once, nan where there is none.
    kernel: Callable[..., Any]
    #: Where its interval comes from unless another is asked for.
    interval: Literal["analytic", "profile", "bootstrap"]
    #: Scores must be probabilities.
    probabilities: bool = False
    #: Consistent under prior shift: whatever the prevalence, as long as the scores of each class keep their distribution.
    shift_proof: bool = True
    #: Takes the scores for calibrated probabilities.
    trusts_probabilities: bool = False
    aliases: tuple[str, ...] = ()
    #: Densities of the classes at the target's scores, for those that maximise a likelihood.
    densities: Callable[..., Any] | None = None
    #: Its own options and their defaults; the kernel takes each by name.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Options that its default interval does not speak of: where one is given, rows are resampled.
    resampled_with: tuple[str, ...] = ()
    #: Looks at the target's scores at all.
    reads_target: bool = True
    #: Takes a target of whole rows only, no weights.
    whole_rows: bool = False
    #: Learns something from the validation sample.
    reads_validation: bool = True
    #: Needs the prevalence the model was trained at.
    uses_training_prevalence: bool = False
    #: Options that fit its densities to the validation sample, where it otherwise takes them from the scores as they are.
    fitted_with: Mapping[str, Any] = field(default_factory=dict)
    #: Which of several estimates speaks for the count: the least. Fixed before anyone looks, for to pick the narrowest
    #: interval afterwards would flatter it.
    precedence: int = 100


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A way to turn scores into probabilities."""

    name: str
    meaning: str
    reference: str
    #: From a labelled tally, and from the target where it is needed, to a map of scores.
    fit: Callable[..., Any]
    aliases: tuple[str, ...] = ()
    #: Looks at the scores it will be used on, and holds at their prevalence instead of the labelled sample's.
    uses_target: bool = False


def picture_of(result: object) -> str:
    """The small SVG that a notebook shows beside a result's table; nothing where there is none, or nothing to draw it with."""
    if any(importlib.util.find_spec(name) is None for name in ("altair", "vl_convert")):
        return ""
    drawn: str = importlib.import_module("tallymark.charts.pictures").small_picture(result)
    return drawn


def metric_names(asked: object) -> list[str]:
    """Names of metrics from one name or several, aliases resolved."""
    listed = [asked] if isinstance(asked, str) else asked
    if not isinstance(listed, Iterable):
        raise InputError(f"metrics is {asked!r}, expected a name or a list of names.")
    return [METRICS[name].name for name in listed]


METRICS: Registry[Metric] = Registry("metric", "tallymark.metrics")
POLICIES: Registry[Policy] = Registry("threshold policy", "tallymark.thresholds")
LOSSES: Registry[Loss] = Registry("quantification loss", "tallymark.quantify.losses")
CALIBRATIONS: Registry[Calibration] = Registry("calibration", "tallymark.quantify")
QUANTIFIERS: Registry[Method] = Registry("quantifier", "tallymark.quantify.kernels")


def require_one_of(name: str, value: str, options: Iterable[str]) -> Any:
    """The word, if it is one of the options; else an error that lists them."""
    return choose(name, value, {option: option for option in options})


def choose(name: str, value: str, options: Mapping[str, Any]) -> Any:
    """The option a caller named, or an error that lists what there is."""
    if isinstance(value, str) and value in options:
        return options[value]
    raise InputError(f"{name}={value!r} is not known.{nearest(value, options)} Choose one of: {', '.join(options)}.")


def parse_policy(text: str) -> tuple[Policy, tuple[float, ...]]:
    """Read ``youden``, ``tpr:0.9`` or ``cost:1,50`` into the policy and its numbers."""
    name, _, written = text.partition(":")
    policy = POLICIES[name.strip()]
    try:
        numbers = tuple(float(part) for part in written.split(",")) if written.strip() else ()
    except ValueError:
        raise InputError(f"{text!r}: {written!r} is not a list of numbers; write {_spelling(policy)}.") from None
    missing = len(policy.arguments) - len(numbers)
    if not 0 <= missing <= len(policy.defaults):
        raise InputError(
            f"{text!r} has {len(numbers) or 'no'} number{'s' if len(numbers) > 1 else ''} behind it; write {_spelling(policy)}."
        )
    return policy, numbers + policy.defaults[len(policy.defaults) - missing :]


def policy_in(threshold: object) -> str | None:
    """The policy that a threshold names; None for a number, also one written as text."""
    if not isinstance(threshold, str):
        return None
    try:
        float(threshold)
    except ValueError:
        return threshold
    return None


#: Costs of the two errors, unless told.
COSTS = {"cost_fp": 1.0, "cost_fn": 1.0}


def asked_parameters(threshold: object, given: Mapping[str, float]) -> dict[str, float]:
    """Parameters of metrics that a caller named, or said by a policy: ``cost:1,50`` sets the costs, ``fbeta:3`` beta.

    Costs of the two errors say at which probability one would act, so they set that too (Elkan 2001); a cost that is not
    named beside the other is 1.
    """
    entries = dict(given)
    if isinstance(threshold, str) and threshold.partition(":")[0].strip() in POLICIES:
        policy, numbers = parse_policy(threshold)
        entries = dict(zip(policy.arguments, numbers, strict=True)) | entries
    costs = {name: entries.get(name, cost) for name, cost in COSTS.items()}
    if entries.keys() & costs and sum(costs.values()) > 0.0:
        entries.setdefault("odds_at", costs["cost_fp"] / sum(costs.values()))
    return entries


def _spelling(policy: Policy) -> str:
    return f"{policy.example} ({', '.join(policy.arguments)})" if policy.arguments else policy.name
