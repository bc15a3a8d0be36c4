"""The metric and policy glossaries, written from the registry each time the docs are built."""

from itertools import groupby
from pathlib import Path

from tallymark.registry import METRICS, POLICIES

FAMILIES = {
    "ranking": "Ranking: all thresholds at once",
    "threshold": "At one threshold",
    "probability": "Probabilities",
    "correlation": "Correlation and discriminability",
    "counting": "Counting",
}
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "zero": "best at 0", "neither": "an amount"}
NEEDS = {
    "confusion": "a `Confusion`: `tally.at(threshold)` or `tm.confusion(y, predicted)`",
    "tally": "a `Tally`",
    "probabilities": "a `Tally` of probabilities in [0, 1]",
    "moments": "`Moments` of K score columns",
    "multiclass": "`ClassScores` of K score columns",
}


def metrics_page():
    lines = [
        "# Metric glossary",
        "",
        "Generated from the registry; `tallymark metrics NAME` prints the same facts in a terminal.",
        "",
    ]
    members = sorted(METRICS.values(), key=lambda metric: list(FAMILIES).index(metric.family))
    for family, group in groupby(members, key=lambda metric: metric.family):
        lines += [f"## {FAMILIES[family]}", ""]
        for metric in group:
            lines += [
                f"### {metric.name}",
                "",
                f"**{metric.title}.** {metric.meaning}",
                "",
                f"$$\n{metric.formula}\n$$",
                "",
            ]
            facts = [
                f"from {metric.low:g} to {metric.high:g}, {DIRECTIONS[metric.better]}",
                "does not move with prevalence" if metric.prevalence_free else "moves with prevalence",
                "depends on the order of the scores only" if metric.rank_only else "depends on the scores themselves",
                f"needs {NEEDS[metric.needs]}",
            ]
            if metric.aliases:
                facts.append("also called " + ", ".join(f"`{alias}`" for alias in metric.aliases))
            if metric.parameters:
                facts.append(
                    "parameters " + ", ".join(f"`{key}={value:g}`" for key, value in metric.parameters.items())
                )
            lines += [*(f"- {fact}" for fact in facts), "", metric.reference, ""]
    return "\n".join(lines)


def policies_table():
    lines = ["| policy | chooses | reference |", "|---|---|---|"]
    for policy in POLICIES.values():
        also = "".join(f", `{alias}`" for alias in policy.aliases)
        spelling = f"`{policy.example or policy.name}`{also}"
        lines.append(f"| {spelling} | {policy.meaning} | {policy.reference} |")
    return "\n".join(lines)


def write(app):
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    (folder / "metrics.md").write_text(metrics_page(), encoding="utf-8")
    (folder / "policies.txt").write_text(policies_table(), encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
