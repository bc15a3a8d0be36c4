"""What every page about labelled data says of it: what was evaluated, what is rare or few, what a chosen threshold flatters."""

from __future__ import annotations

from collections.abc import Mapping

from tallymark._numbers import amount, counted, fixed, number, per_cent
from tallymark.decisions.verdicts import ModelFacts, separated, sums_mislead
from tallymark.measures import SAMPLED, Evaluation
from tallymark.reporting.page_model import Remark
from tallymark.reporting.sentences import named
from tallymark.summaries.tally import Tally


def described(one: Evaluation) -> list[str]:
    """What was evaluated: rows, positives, what is taken as random, the threshold, the level."""
    weight = [] if one.n == one.n_rows else [f"weight {amount(float(one.n))}"]
    positives = float(one.positives or 0)
    parts = [
        counted(one.n_rows, "row"),
        *weight,
        f"{'positive weight ' if one.weighted else ''}{amount(positives)}{'' if one.weighted else ' positive'} ({per_cent(positives / float(one.n))})",
    ]
    parts += [] if one.prevalence is None else [f"seen at a prevalence of {per_cent(one.prevalence)}"]
    parts.append(SAMPLED[one.sampling])
    if one.policy is not None:
        parts.append(f"thresholds chosen by {one.policy} on these rows")
    elif one.threshold is not None:
        parts.append(f"threshold {number(one.threshold)}")
    parts += [f"{name.replace('_', ' ')} {amount(value)}" for name, value in one.parameters.items() if name in {"cost_fp", "cost_fn", "beta"}]  # fmt: skip
    return parts + ([] if one.level is None else [f"{100 * one.level:g} % intervals"])


def rarity(facts: ModelFacts, first: Evaluation) -> list[Remark]:
    """What rare or few positives mean for the reader."""
    items = []
    if facts.rare:
        share = per_cent(facts.share)
        which = f"Only {share} of the rows are positive" if first.prevalence is None else f"At a prevalence of {share}"
        items.append(
            Remark(
                "rare",
                f"{which}: saying no to everything is right {per_cent(1 - facts.share)} of the time.",
                "Where one class is rare, accuracy and AUROC are led by the many negatives. Precision, recall and average precision "
                "speak of the positives.",
            )
        )
    if facts.few:
        items.append(
            Remark(
                "few",
                f"Few positives ({amount(facts.positives)}): each of them found or missed is {per_cent(1 / facts.positives)} of recall.",
                "Recall and everything built on it rests on the positive rows alone, however many negatives there are.",
            )
        )
    return items


def no_sums(evaluations: Mapping[str, Evaluation]) -> list[Remark]:
    """That scores do not add up to the positives, where the interval of their bias shows it."""
    off = {name: one["bias"] for name, one in evaluations.items() if sums_mislead(one)}
    if not off:
        return []
    first = next(iter(evaluations.values()))
    share = float(first.positives or 0) / float(first.n) if first.prevalence is None else first.prevalence
    said = "; ".join(
        f"{f'{name}: ' if len(evaluations) > 1 else ''}mean score {per_cent(share + one.value)}, {100 * one.level:g} % interval "
        f"{per_cent(share + one.low)} to {per_cent(share + one.high)}"
        for name, one in off.items()
        if one.low is not None and one.high is not None and one.level is not None
    )
    return [
        Remark(
            "sums",
            f"The scores are not calibrated: {per_cent(share)} of the rows are positive, but the scores do not average that ({said}).",
            "Sums of these scores are no counts, and plans, decision curves and net benefit that read them as probabilities are wrong. "
            "Calibrate them first (tallymark calibrate, tm.calibration). Rankings such as AUROC do not suffer.",
        )
    ]


def leaks(tallies: Mapping[str, Tally]) -> list[Remark]:
    """Classes that do not overlap at all."""
    names = [name for name, tally in tallies.items() if separated(tally)]
    if not names:
        return []
    who = f" by {' and '.join(names)}" if len(tallies) > 1 else ""
    return [
        Remark(
            "separation",
            f"Every positive scores above every negative{who}. Is the label hidden in what the model saw?",
            "Complete separation is rare in real data. Look for an attribute that is known only after the label (a leak), for rows of the "
            "training data among these, and for scores that were computed from the labels.",
        )
    ]


def flattered(evaluations: Mapping[str, Evaluation], leading: str) -> list[Remark]:
    """By how much a threshold chosen on the same rows flatters what is measured at it, as resampling says."""
    metric = next(
        (
            name
            for name in (leading, "f1", "balanced_accuracy", "recall")
            if all(name in one and one[name].optimism is not None for one in evaluations.values())
        ),
        None,
    )
    if metric is None:
        return []
    policy = next(one.policy for one in evaluations.values() if one.policy)
    ends = [abs(one[metric].optimism or 0.0) for one in evaluations.values()]
    low, high = fixed(min(ends), 3), fixed(max(ends), 3)
    size = "by less than 0.001" if max(ends) < 0.0005 else f"by about {high if low == high else f'{low} to {high}'}"
    return [
        Remark(
            "chosen",
            f"Thresholds were chosen on these rows ({policy}), which flatters {named(metric)} {size} (measured by resampling).",
            "A threshold that is best on some rows is a little worse on others. The choice was repeated on resampled rows and judged "
            "on the rest; the mean loss is the optimism. Intervals at the chosen threshold allow for it.",
        )
    ]
