"""``tallymark thresholds``: what policies choose, how far the choice moves, and how much it flatters itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallymark._numbers import limits, noun, number
from tallymark.cli.commands.sources import Source
from tallymark.cli.printing import print_json, print_table, print_text, progress_bar, table
from tallymark.errors import Undefined
from tallymark.inference.limits.optimism import chosen_threshold

#: What is shown unless policies are named.
_USUAL = ("youden", "f1", "mcc", "breakeven")


def run(
    file: str, label: str, score: str, pos_label: str | None, source: Source, policies: Sequence[str], metric: str | None,
    level: float, seed: int, sampling: str, parameters: Mapping[str, float], *, as_json: bool,
) -> None:  # fmt: skip
    """Read, choose and resample the choice, print."""
    tally = source.tally(file, label, score, pos_label)
    chosen = policies or _USUAL
    choices, reasons = [], {}
    with progress_bar("Resampling the choice") as progress:
        for i, policy in enumerate(chosen):
            try:
                choices.append(
                    chosen_threshold(
                        tally,
                        policy,
                        metric=metric,
                        level=level,
                        seed=seed,
                        sampling=sampling,  # type: ignore[arg-type]
                        **parameters,  # type: ignore[arg-type]
                    )
                )
            except Undefined as error:
                reasons[policy] = error.reason
            if progress is not None:
                progress(100.0 * (i + 1) / len(chosen))
    if as_json:
        sizes = {"n": tally.n, "positives": tally.positives}
        print_json("thresholds", {**sizes, "thresholds": [one.to_dict() for one in choices], "undefined": reasons})
        return
    heads = [
        ("policy", "left"),
        ("threshold", "right"),
        (f"{100 * level:g} % of resamples", "right"),
        ("metric", "left"),
    ]
    heads += [("apparent", "right"), ("optimism", "right"), ("corrected", "right")]
    rows = [
        [
            one.policy,
            number(one.threshold),
            limits(one.low, one.high),
            one.metric,
            number(one.apparent),
            number(one.optimism),
            number(one.corrected),
        ]
        for one in choices
    ]
    print_table(
        table(f"{file}: {tally.n_rows} {noun(tally.n_rows, 'row')}, {number(tally.positives)} positive", heads, rows)
    )
    for policy, reason in reasons.items():
        print_text(f"{policy}: {reason}", indent="  ")
