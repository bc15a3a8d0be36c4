"""Dispatch of reports: each ``of_….py`` beside this file declares the types of which it builds a page."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import tallymark.reporting
from tallymark._display import Shown
from tallymark.errors import InputError
from tallymark.reporting.page_model import Content

if TYPE_CHECKING:
    from tallymark.inference.interval import Sampling
    from tallymark.prices.advice import Advice


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Options of a report."""

    title: str | None = None
    threshold: float | str | None = None
    level: float = 0.95
    prevalence: float | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    sampling: Sampling = "plain"
    advice: Advice | None = None
    private: int | None = None


#: Builds the content of a page from results by name, the data as they were passed, and the options.
Builder = Callable[[Mapping[str, Any], Any, ReportRequest], Content]

_BUILDERS: dict[str, Builder] = {}


def contents(*types: str, uses: Sequence[str] = ()) -> Callable[[Builder], Builder]:
    """Register a builder for results of these types, alone or several by name; it `uses` options beside the title.

    Types are named, not imported, so that a report loads the code of its own results only.
    """

    def register(builder: Builder) -> Builder:
        def checked(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:
            require_used(request, ("title", *uses), next(iter(named.values())))
            return builder(named, data, request)

        _BUILDERS.update(dict.fromkeys(types, checked))
        return builder

    return register


def require_used(request: ReportRequest, used: Sequence[str], result: object) -> None:
    """Refuse an option that the report on this type of result would ignore."""
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
    """The content of a report on a result, or on several of one kind by name."""
    several = isinstance(data, Mapping) and not type(data).__module__.startswith("tallymark.")
    named: Mapping[str, Any] = data if several else {getattr(data, "method", "model"): data}  # type: ignore[assignment]
    if not named:
        raise InputError("There is no model to draw; pass a labelled tally, a panel, or several by name.")
    builder, *others = {_builder_of(one) for one in named.values()}
    if builder is None or others:
        passed = " and ".join(dict.fromkeys(type(one).__name__ for one in named.values()))
        raise InputError(
            f"There is no report about {passed}; pass a tally, a panel, a confusion or any result of this library, or "
            "several of one kind by name."
        )
    return builder({str(name): one for name, one in named.items()}, data, request)


def _builder_of(data: object) -> Builder | None:
    """The builder declared for a type or the nearest of its bases; modules are loaded until one declares it."""
    names = [kind.__name__ for kind in type(data).__mro__ if kind is not Shown]
    modules = [one.name for one in pkgutil.iter_modules(tallymark.reporting.__path__) if one.name.startswith("of_")]
    for module in sorted(modules, key=lambda name: (name != "of_models", name)):
        if any(name in _BUILDERS for name in names):
            break
        importlib.import_module(f"tallymark.reporting.{module}")
    if isinstance(data, Shown):
        names.append(Shown.__name__)
    return next((_BUILDERS[name] for name in names if name in _BUILDERS), None)


def only(named: Mapping[str, Any], what: str = "result") -> Any:
    """The one result of a page."""
    if len(named) > 1:
        raise InputError(f"A report shows one {what}; write one for each.")
    return next(iter(named.values()))
