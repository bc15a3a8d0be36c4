"""Glossaries and tables, written from the declarations each time the docs are built."""

from itertools import groupby
from pathlib import Path

from tallymark import advise
from tallymark.notes import GUARDS
from tallymark.quantify.estimation.declared import estimation_of
from tallymark.registry import METRICS, POLICIES, QUANTIFIERS

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


def guards_table():
    lines = ["| code | means | do |", "|---|---|---|"]
    lines += [f"| {code} | {guard.means} | {guard.do} |" for code, guard in GUARDS.items()]
    return "\n".join(lines)


def quantifiers_table():
    lines = ["| name | what it does | needs | default interval | K classes |", "|---|---|---|---|---|"]
    for method in QUANTIFIERS.values():
        needs = (
            "probabilities"
            if method.probabilities
            else "a threshold"
            if "threshold" in method.options
            else "any scores"
        )
        options = "".join(f"; `{name}={default!r}`" for name, default in method.options.items() if name != "threshold")
        right = "" if method.shift_proof else " **Not corrected.**"
        classes = "yes" if estimation_of(method.name).classes else ""
        lines.append(
            f"| `{method.name}` | {method.meaning}{right}{options} | {needs} | {method.interval} | {classes} |"
        )
    return "\n".join(lines)


def prevalence_free():
    """The metrics that do not move with the prevalence, by family."""
    members = sorted(METRICS.values(), key=lambda metric: list(FAMILIES).index(metric.family))
    lines = []
    for family, group in groupby((one for one in members if one.prevalence_free), key=lambda metric: metric.family):
        lines.append(f"- {FAMILIES[family].split(':')[0]}: " + ", ".join(f"`{metric.name}`" for metric in group))
    return "\n".join(lines)


def advice_table():
    """What ``tm.advise`` says for two classes."""

    def said(stable, values, share, error):
        found = advise(classes=2, prevalence_stable=stable, values_stable=values, prevalence=share, emphasise=error)
        return f"`{found.metric}`" + (f", beta {found.beta:g}" if found.beta else "")

    lines = [
        "| prevalence | prices | positives | neither error hurts more | false alarms do | misses do |",
        "|---|---|---|---|---|---|",
    ]
    for stable in (True, False):
        for values in (True, False):
            for share in ("low", "balanced", "high"):
                cells = [said(stable, values, share, error) for error in (None, "fp", "fn")]
                facts = [
                    "stable" if stable else "moves",
                    "stable" if values else "move",
                    {"low": "rare", "high": "most"}.get(share, "about half"),
                ]
                lines.append("| " + " | ".join(facts + cells) + " |")
    return "\n".join(lines)


def write(app):
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    (folder / "metrics.md").write_text(metrics_page(), encoding="utf-8")
    (folder / "prevalence_free.txt").write_text(prevalence_free(), encoding="utf-8")
    (folder / "advice.txt").write_text(advice_table(), encoding="utf-8")
    (folder / "policies.txt").write_text(policies_table(), encoding="utf-8")
    (folder / "guards.txt").write_text(guards_table(), encoding="utf-8")
    (folder / "quantifiers.txt").write_text(quantifiers_table(), encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
