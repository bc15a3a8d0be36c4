"""``tallymark watch``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tallymark._numbers import number, p_value, with_limits
from tallymark._write import require_writable
from tallymark.cli.naming import listed
from tallymark.cli.output import write_report
from tallymark.cli.printing import (
    print_json,
    print_notes,
    print_table,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    table,
)
from tallymark.monitor.drift import watch
from tallymark.monitor.results import Watch, Watched
from tallymark.sources.formats import expanded

#: Metrics to expect unless others are named.
_USUAL = ("accuracy", "f1")


def run(
    data: str, *, as_json: bool, report: str | None, metrics: Sequence[str] | None, store: str | None, threshold: str,
    pos_label: str | None, **options: Any,
) -> Watch:  # fmt: skip
    """Watch, print; gives back what was printed."""
    files = sorted(map(str, Path(data).iterdir())) if Path(data).is_dir() else expanded(data)
    require_report_place(report)
    if report is not None:
        require_writable(report, inputs=files)
    if store is not None:
        require_writable(store, inputs=files)
    with progress_bar(f"Watching {data}"):
        found = watch(
            data,
            metrics=listed(metrics or _USUAL),
            store=store,
            threshold=_cut(threshold),
            pos_label=_label(pos_label),
            **options,
        )
    write_report(found, report, data)
    if as_json:
        print_json("watch", found.to_dict(), found.warnings)
        return found
    print_text(f"{data}: {found.verdict}", "bold")
    awaited = list(dict.fromkeys(name for one in found.periods for name in one.expected))
    audited = any(one.audit is not None for one in found.periods)
    heads = [("period", "left"), ("rows", "right")]
    heads += [("prevalence", "right")] if found.counted else [("mean score", "right")]
    heads += [("by audit", "right")] if audited else []
    heads += [(f"expected {name}", "right") for name in awaited] + [("score chart", "right")]
    valued = any(one.row().get("value_sum") is not None for one in found.periods)
    heads += [
        *([("fit p", "right")] if found.counted else []),
        *([("value chart", "right")] if valued else []),
        ("signal", "prose"),
    ]
    print_table(table("", heads, [_line(one, found, awaited, audited=audited, valued=valued) for one in found.periods]))
    print_text(f"{found.rate}. Charts signal above {found.limit:.2f}.", "dim")
    if found.plan is not None:
        print_text(f"To know the share of the last period to {0.05:g}: {found.plan.heading()}", "yellow")
    print_notes(found.warnings)
    print_written(report)
    return found


def _line(one: Watched, found: Watch, awaited: Sequence[str], *, audited: bool, valued: bool) -> list[str]:
    row = one.row()

    def share(name: str) -> str:
        value = row.get(name)
        prefix = "" if name == "prevalence" else f"{name}_"
        low, high = row.get(f"{prefix}low"), row.get(f"{prefix}high")
        return "–" if value is None else number(value) if low is None or high is None else with_limits(value, low, high)

    cells = [str(one.period) + (" (reference)" if one.reference else ""), number(one.rows)]
    cells += [share("prevalence")] if found.counted else [number(one.mean_score)]
    cells += [share("audit")] if audited else []
    cells += [number(row.get(f"expected_{name}")) for name in awaited] + [number(one.score_sum)]
    cells += [p_value(row["fit_p"]) if "fit_p" in row else ""] if found.counted else []
    cells += [number(row.get("value_sum"))] if valued else []
    return [*cells, ", ".join(one.signals)]


def _cut(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _label(text: str | None) -> Any:
    """A positive label as it was typed: a whole number where it is one."""
    return int(text) if text is not None and text.lstrip("-").isdigit() else text
