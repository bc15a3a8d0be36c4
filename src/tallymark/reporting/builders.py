"""Which report a result gets: every ``of_….py`` beside this file registers what it makes a page of."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import tallymark.reporting
from tallymark._display import Shown
from tallymark.errors import InputError
from tallymark.inference.interval import Sampling
from tallymark.measures import Evaluation
from tallymark.notes import Note
from tallymark.prices.advice import Advice
from tallymark.quantify.estimation.mixture_test import MixtureFit, MixtureFits
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity
from tallymark.reporting.page_model import Content


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """What was asked of a report beside its data."""

    title: str | None = None
    threshold: float | str | None = None
    level: float = 0.95
    prevalence: float | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    sampling: Sampling = "plain"
    fit: MixtureFit | None = None
    expectation: Evaluation | None = None
    warnings: tuple[Note, ...] = ()
    growth: str | None = None
    order: Sequence[Any] | None = None
    fits: MixtureFits | None = None
    unseen: Sensitivity | None = None
    known: tuple[float, float] | None = None
    audit: Prevalence | Prevalences | None = None
    advice: Advice | None = None


#: Makes a page's content from results by name, from what was passed as it was, and from what was asked.
Builder = Callable[[Mapping[str, Any], Any, ReportRequest], Content]

_BUILDERS: list[tuple[tuple[type, ...], Builder]] = []


def contents(*kinds: type, uses: Sequence[str] = ()) -> Callable[[Builder], Builder]:
    """Register a builder for results of these kinds, alone or several by name; it `uses` these options beside the title."""

    def register(builder: Builder) -> Builder:
        def checked(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:
            require_used(request, ("title", *uses), next(iter(named.values())))
            return builder(named, data, request)

        _BUILDERS.append((kinds, checked))
        return builder

    return register


def require_used(request: ReportRequest, used: Sequence[str], result: object) -> None:
    """Refuse an option that the report about this kind of result would ignore."""
    unstated = ReportRequest()
    for option in fields(request):
        given, default = getattr(request, option.name), getattr(unstated, option.name)
        if option.name in used or given is default or (default is not None and given == default):
            continue
        names = ", ".join(f"{name}=" for name in (given if option.name == "parameters" else [option.name]))
        usable = ", ".join(f"{name}=" for name in used if name != "parameters")
        raise InputError(
            f"A report about {type(result).__name__} does not use {names}; leave it out. It uses {usable}."
        )


def content_of(data: object, request: ReportRequest) -> Content:
    """The content of a report about a result, or about several of one kind by name."""
    for module in pkgutil.iter_modules(tallymark.reporting.__path__):
        if module.name.startswith("of_"):
            importlib.import_module(f"tallymark.reporting.{module.name}")
    several = isinstance(data, Mapping) and not isinstance(data, Shown) and not _builder_of([data])
    named: Mapping[str, Any] = data if several else {getattr(data, "method", "model"): data}  # type: ignore[assignment]
    if not named:
        raise InputError("There is no model to draw; pass a labelled tally, a panel, or several by name.")
    builder = _builder_of(list(named.values()))
    if builder is None:
        passed = " and ".join(dict.fromkeys(type(one).__name__ for one in named.values()))
        known = ", ".join(kind.__name__ for kinds, _ in _BUILDERS for kind in kinds)
        raise InputError(
            f"There is no report about {passed}; pass one of these, or several of one kind by name: {known}."
        )
    return builder({str(name): one for name, one in named.items()}, data, request)


def _builder_of(things: list[Any]) -> Builder | None:
    for kinds, builder in _BUILDERS:
        if things and all(isinstance(one, kinds) for one in things):
            return builder
    return None


def only(named: Mapping[str, Any], what: str = "result") -> Any:
    """The one result a page is about."""
    if len(named) > 1:
        raise InputError(f"A report shows one {what}; write one for each.")
    return next(iter(named.values()))
