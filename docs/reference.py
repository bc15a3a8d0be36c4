"""The reference: one page for each public object, listed from what the modules say is public, so that none is forgotten."""

import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tallymark.registry import METRICS

#: The parts of the reference: title, what it is about, and the names of ``tallymark`` itself that belong there.
TOP = {
    "summaries": (
        "Summaries",
        "What is kept of the rows: made once, then asked by everything else.",
        "look tally confusion moments class_scores class_panel panel outcomes scan scan_panel data_file "
        "load Tally Tallies Confusion Moments ClassScores ClassPanel Panel Outcomes",
    ),
    "evaluation": (
        "Evaluation and comparison",
        "Every metric at once, two models on the same rows, and how much data it takes.",
        "evaluate Evaluation Evaluations Measure compare not_worse Comparison without_simple mann_whitney bound "
        "compare_thresholds brier_parts score_parts by_sample_size sample_size advise report",
    ),
    "curves": (
        "Curves",
        "Arrays with names; the pictures are under Charts.",
        "roc pr det gain predictive_roc positive_tradeoff over_thresholds over_prevalence cost_curve brier_curve "
        "decision_curve calibration_curve score_histogram",
    ),
    "errors": ("Errors and notes", "What is raised, and what is warned of.", ""),
}

#: The modules with a part of their own, in the order in which they are listed.
MODULES = {
    "metrics": ("Metrics", "Plain floats of a summary. The glossary has their formulas and references."),
    "intervals": ("Intervals", "Intervals and bands by name."),
    "quantify": ("Counting", "How many there are in unlabelled data."),
    "quantify.losses": ("Losses of counts", "How far an estimated distribution is from the true one."),
    "calibration": ("Calibration", "Scores into probabilities."),
    "audits": ("Audits", "Which rows to check by hand, and what they say about all rows."),
    "prices": ("Prices", "Price indices of classified products, and what errors do to them."),
    "monitor": ("Monitoring", "Counts by period, tests of drift and control charts."),
    "decisions": ("Decisions", "Costs and gains, and which classifier is best for which costs."),
    "learners": ("Learners", "Classifiers and detectors made for counting."),
    "rare": ("Rare events in text", "From raw texts to a count."),
    "raters": ("Raters", "Agreement of people, of judges, and of both."),
    "study": ("Studies", "Quantifiers on many data sets, and the tests of what is found."),
    "extend": ("Your own", "Declare a metric, a quantifier, a policy or a loss."),
    "scorers": ("Scorers", "Metrics as scikit-learn calls them."),
    "charts": ("Charts", "A result as a picture."),
    "results": ("Results", "Classes of what functions return, where they are not listed elsewhere."),
}

#: Modules without ``__all__``: what is public there.
PUBLIC = {
    "quantify.losses": ("bias", "ae", "se", "rae", "kld", "nkld", "nas", "nss", "nmd", "emd", "q_measure"),
    "errors": ("TallymarkError", "InputError", "ColumnError", "GuardError", "Undefined", "UndefinedWarning"),
    "notes": ("GuardWarning", "Note"),
}

#: What scikit-learn adds to every estimator and says about it itself.
ADDED = "set_fit_request, set_score_request, set_predict_request, set_transform_request, set_params, get_params"


class Object(NamedTuple):
    """A public object: where it is reached, and under which other names."""

    path: str
    value: Any
    aliases: tuple[str, ...]

    @property
    def shown(self) -> str:
        return "tm." + self.path.removeprefix("tallymark.")

    @property
    def first_line(self) -> str:
        text = (inspect.getdoc(self.value) or "").strip().split("\n\n")[0].replace("\n", " ")
        line = text.split(". ")[0].rstrip(".").replace("|", "\\|")
        # The list is in Markdown: formulas between dollars, names as code.
        line = re.sub(r":math:`([^`]*)`", r"$\1$", line)
        return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", line)


def _module(name: str) -> Any:
    return importlib.import_module(f"tallymark.{name}" if name else "tallymark")


def _members(name: str) -> Iterator[tuple[str, Any]]:
    module = _module(name)
    for member in PUBLIC.get(name) or module.__all__:
        value = getattr(module, member)
        if not inspect.ismodule(value):
            yield member, value


def _own_name(name: str, members: list[str]) -> str:
    """Of several names of one object the declared one."""
    return next(
        (one for one in members if name == "metrics" and one in METRICS and METRICS[one].name == one), members[0]
    )


def parts() -> dict[str, tuple[str, str, list[Object]]]:
    """Every public object once, by part: under the first part that has it."""
    found: dict[str, tuple[str, str, list[Object]]] = {}
    seen: set[int] = set()
    for part, (title, about, names) in TOP.items():
        listed = [Object(f"tallymark.{name}", getattr(_module(""), name), ()) for name in names.split()]
        if part == "errors":
            listed = [Object(f"tallymark.{home}.{n}", v, ()) for home in ("errors", "notes") for n, v in _members(home)]
        seen |= {id(one.value) for one in listed}
        found[part] = (title, about, listed)
    # A class that a module lists itself belongs there, not with the results in general.
    for module, (title, about) in MODULES.items():
        together: dict[int, list[str]] = {}
        for member, value in _members(module):
            if id(value) not in seen:
                together.setdefault(id(value), []).append(member)
        listed = []
        for members in together.values():
            main = _own_name(module, members)
            value = getattr(_module(module), main)
            listed.append(Object(f"tallymark.{module}.{main}", value, tuple(one for one in members if one != main)))
        seen |= set(together)
        found[module] = (title, about, listed)
    forgotten = [name for name, value in _members("") if id(value) not in seen]
    if forgotten:
        raise ValueError(f"docs/reference.py lists no part for {', '.join(forgotten)}")
    # The order of the page: what is used first comes first, errors last.
    return {part: found[part] for part in [*list(TOP)[:-1], *MODULES, "errors"]}


def page(one: Object) -> str:
    """The page of an object."""
    if inspect.isclass(one.value):
        directive = [f".. autoclass:: {one.path}", "   :members:", f"   :exclude-members: {ADDED}"]
    elif callable(one.value):
        directive = [f".. autofunction:: {one.path}"]
    else:
        directive = [f".. autodata:: {one.path}"]
    # In reStructuredText, as the docstrings are.
    lines = [one.shown, "=" * len(one.shown), "", *directive, ""]
    if one.aliases:
        lines += ["Also called " + ", ".join(f"``{alias}``" for alias in one.aliases) + ".", ""]
    name = one.path.split(".")[-1]
    if one.path == f"tallymark.metrics.{name}" and name in METRICS:
        lines += [
            f"Formula, range and reference are in the `glossary <../metrics.html#{name.replace('_', '-')}>`__.",
            "",
        ]
    return "\n".join(lines)


def part_page(title: str, about: str, listed: list[Object]) -> str:
    """The list of a part."""
    lines = [f"# {title}", "", about, "", "| object | what it is |", "|---|---|"]
    lines += [f"| [`{one.shown}`]({one.path}.rst) | {one.first_line} |" for one in listed]
    lines += ["", "```{toctree}", ":hidden:", "", *(f"{one.shown} <{one.path}>" for one in listed), "```", ""]
    return "\n".join(lines)


def write(app):
    folder = Path(app.srcdir) / "generated" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {}
    for part, (title, about, listed) in parts().items():
        wanted[f"{part}.md"] = part_page(title, about, listed)
        wanted |= {f"{one.path}.rst": page(one) for one in listed}
    for old in folder.iterdir():
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        path = folder / name
        # A page that stays as it was is not read again.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


@cache
def pages_by_name():
    """The page of each object by all its names."""
    found = {}
    for module, (_, _, listed) in parts().items():
        for one in listed:
            page_name = f"generated/api/{one.path}"
            names = [one.path.removeprefix("tallymark."), *(f"{module}.{alias}" for alias in one.aliases)]
            found |= dict.fromkeys(names, page_name)
    return found


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
