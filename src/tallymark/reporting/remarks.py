"""Remarks of reports on labelled data: rare or few positives, miscalibration, leaks, optimism of chosen thresholds."""

from __future__ import annotations

from collections.abc import Mapping

from tallymark._numbers import amount, counted, fixed, number, per_cent
from tallymark.decisions.verdicts import ModelFacts, separated, sums_mislead
from tallymark.measures import SAMPLED, Evaluation
from tallymark.metrics.parameters import adjustable
from tallymark.reporting.page_model import Remark
from tallymark.reporting.sentences import at_level, named
from tallymark.summaries.tally import Tally


def described(one: Evaluation) -> list[str]:
    """What was evaluated: rows, positives, sampling, threshold, level."""
    weight = [] if one.n == one.n_rows else [f"weight {amount(float(one.n))}"]
    positives = float(one.positives or 0)
    kind = one.words.kind
    text = f"{kind} weight {amount(positives)}" if one.weighted else f"{amount(positives)} {kind}"
    parts = [counted(one.n_rows, "row"), *weight, f"{text} ({per_cent(positives / float(one.n))})"]
    parts += [] if one.prevalence is None else [f"seen at a prevalence of {per_cent(one.prevalence)}"]
    parts.append(SAMPLED[one.sampling])
    if one.policy is not None:
        parts.append(f"thresholds chosen by {one.policy} on these rows")
    elif one.threshold is not None:
        parts.append(f"threshold {number(one.threshold)}")
    stated = {name: value for name, value in one.parameters.items() if name in adjustable()}
    parts += [f"{name.replace('_', ' ')} {amount(value)}" for name, value in stated.items()]
    return [*parts, *at_level(one.level)]


def rarity(facts: ModelFacts, first: Evaluation) -> list[Remark]:
    """Remarks on rare and on few positives."""
    items = []
    if facts.rare:
        share = per_cent(facts.share)
        which = (
            f"Only {share} of the rows are {first.words.kind}"
            if first.prevalence is None
            else f"At a prevalence of {share}"
        )
        items.append(
            Remark(
                "rare",
                f"{which}: saying no to everything is right {per_cent(1 - facts.share)} of the time.",
                "Where one class is rare, accuracy and AUROC are led by the many negatives. Precision, recall and "
                "average precision speak of the positives.",
            )
        )
    if facts.few:
        items.append(
            Remark(
                "few",
                f"Few {first.words.plural} ({amount(facts.positives)}): each of them found or missed is "
                f"{per_cent(1 / facts.positives)} of recall.",
                "Recall and everything built on it rests on the positive rows alone, however many negatives there are.",
            )
        )
    return items


def no_sums(evaluations: Mapping[str, Evaluation]) -> list[Remark]:
    """Miscalibration in the large: the scores' mean is not the share of positives, by the interval of their bias."""
    off = {name: one["bias"] for name, one in evaluations.items() if sums_mislead(one)}
    if not off:
        return []
    first = next(iter(evaluations.values()))
    share = float(first.positives or 0) / float(first.n) if first.prevalence is None else first.prevalence
    said = (
        f"{per_cent(share)} of the rows are {first.words.kind}, but the scores do not average that"
        if first.prevalence is None
        else f"at a prevalence of {per_cent(share)} the scores would not average that"
    )
    if len(off) > _NAMED:
        averages = sorted(share + one.value for one in off.values())
        means = f"{len(off)} models average {per_cent(averages[0])} to {per_cent(averages[-1])}"
        return [_uncalibrated(said, means)]
    means = "; ".join(
        f"{f'{name}: ' if len(evaluations) > 1 else ''}mean score {per_cent(share + one.value)}, "
        f"{100 * one.level:g} % interval {per_cent(share + one.low)} to {per_cent(share + one.high)}"
        for name, one in off.items()
        if one.low is not None and one.high is not None and one.level is not None
    )
    return [_uncalibrated(said, means)]


#: Models up to which each is named.
_NAMED = 3


def _uncalibrated(said: str, means: str) -> Remark:
    return Remark(
        "sums",
        f"The scores are not calibrated: {said} ({means}).",
        "Sums of these scores are no counts, and plans, decision curves and net benefit that read them as "
        "probabilities are wrong. Calibrate them first (tallymark calibrate, tm.calibration). Rankings such as AUROC "
        "do not suffer.",
    )


def leaks(tallies: Mapping[str, Tally]) -> list[Remark]:
    """Complete separation of the classes, which may be a leak."""
    names = [name for name, tally in tallies.items() if separated(tally)]
    if not names:
        return []
    who = f" by {' and '.join(names)}" if len(tallies) > 1 else ""
    return [
        Remark(
            "separation",
            f"Every positive scores above every negative{who}. Is the label hidden in what the model saw?",
            "Complete separation is rare in real data. Look for an attribute that is known only after the label (a "
            "leak), for rows of the training data among these, and for scores that were computed from the labels.",
        )
    ]


def flattered(evaluations: Mapping[str, Evaluation], leading: str) -> list[Remark]:
    """Optimism of a metric at a threshold chosen on the same rows, estimated by resampling."""

    def resampled(name: str) -> bool:
        return all(name in one and one[name].optimism is not None for one in evaluations.values())

    metric = next(filter(resampled, (leading, "f1", "balanced_accuracy", "recall")), None)
    if metric is None:
        return []
    policy = next(one.policy for one in evaluations.values() if one.policy)
    ends = [abs(one[metric].optimism or 0.0) for one in evaluations.values()]
    low, high = fixed(min(ends), 3), fixed(max(ends), 3)
    size = "by less than 0.001" if max(ends) < 0.0005 else f"by about {high if low == high else f'{low} to {high}'}"
    return [
        Remark(
            "chosen",
            f"Thresholds were chosen on these rows ({policy}), which flatters {named(metric)} {size} (measured by "
            "resampling).",
            "A threshold that is best on some rows is a little worse on others. The choice was repeated on resampled "
            "rows and judged on the rest; the mean loss is the optimism. Intervals at the chosen threshold allow for "
            "it.",
        )
    ]
