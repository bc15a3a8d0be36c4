"""How metrics, threshold policies, losses and quantifiers are declared once and found by name.

A lower room can look a name up without importing the room that declares it: a registry knows its home
and loads it on first use.
"""

from __future__ import annotations

import importlib
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
        self._loaded = False

    def add(self, entry: Entry) -> None:
        """Declare; a name or alias can be taken only once."""
        for name in (entry.name, *entry.aliases):
            if name in self._entries or name in self._aliases:
                raise ValueError(f"{self._kind} {name!r} is declared twice")
        self._entries[entry.name] = entry
        self._aliases.update(dict.fromkeys(entry.aliases, entry.name))

    def __getitem__(self, name: str) -> Entry:
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

#: ``order``: better whenever a positive rises or a negative falls, so the two extreme orders bracket it. ``moments``:
#: a function of moments, which stay exact. Otherwise a function that gives the least and most it could be.
Bound = Literal["order", "moments"] | Callable[..., tuple[float, float]] | None


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
    #: An average of precision over the top of the list, which few negatives decide.
    top_heavy: bool = False
    #: Negatives and positives from which its default interval was found to hold its level.
    holds_from: tuple[int, int] = (0, 0)
    #: Adds up over rows: twice the rows have twice the value.
    extensive: bool = False


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
    #: The share it takes from densities of each class, for those that maximise a likelihood.
    densities: Callable[..., Any] | None = None


def metric_names(asked: object) -> list[str]:
    """Names of metrics from one name or several, aliases resolved."""
    listed = [asked] if isinstance(asked, str) else asked
    if not isinstance(listed, Iterable):
        raise InputError(f"metrics is {asked!r}, expected a name or a list of names.")
    return [METRICS[name].name for name in listed]


METRICS: Registry[Metric] = Registry("metric", "tallymark.metrics")
POLICIES: Registry[Policy] = Registry("threshold policy", "tallymark.thresholds")
LOSSES: Registry[Loss] = Registry("quantification loss", "tallymark.quantify.losses")
QUANTIFIERS: Registry[Method] = Registry("quantifier", "tallymark.quantify.methods")


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


def asked_parameters(threshold: object, given: Mapping[str, float]) -> dict[str, float]:
    """Parameters of metrics that a caller named, or said by a policy: ``cost:1,50`` sets the costs, ``fbeta:3`` beta.

    Costs of the two errors say at which probability one would act, so they set that too (Elkan 2001).
    """
    found = dict(given)
    if isinstance(threshold, str) and threshold.partition(":")[0].strip() in POLICIES:
        policy, numbers = parse_policy(threshold)
        found = dict(zip(policy.arguments, numbers, strict=True)) | found
    costs = found.get("cost_fp"), found.get("cost_fn")
    if None not in costs and sum(costs) > 0.0:  # type: ignore[arg-type]
        found.setdefault("odds_at", costs[0] / sum(costs))  # type: ignore[arg-type, operator]
    return found


def _spelling(policy: Policy) -> str:
    return f"{policy.example} ({', '.join(policy.arguments)})" if policy.arguments else policy.name
