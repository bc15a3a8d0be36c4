"""How a page's numbers were computed, as a paragraph to quote, with its references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tallymark import __version__
from tallymark._numbers import amount, counted
from tallymark.comparison.results import Comparison
from tallymark.measures import SAMPLED, Evaluation
from tallymark.registry import METRICS, QUANTIFIERS
from tallymark.reporting.page_model import Methods
from tallymark.reporting.sentences import listed, named

#: Parts of the name of an interval's method, in words; the first that a name begins with, and all that it has.
_BASES = {
    "mid-p draws": "draws from the mid-P distributions of the two classes' rates",
    "mid-p": "the mid-P binomial limits",
    "beta": "the influence function's variance on the scale of a beta distribution",
    "student": "Student's t with the influence function's variance",
    "influence, logit": "the influence function's variance on the logit scale",
    "influence, log": "the influence function's variance on the log scale",
    "influence": "the influence function's variance",
    "delong": "DeLong's variance",
    "triangle": "the triangle inequality over resamples",
    "plain bootstrap": "a bias-corrected bootstrap",
    "stratified bootstrap": "a bias-corrected bootstrap within classes",
    "clusters bootstrap": "a bootstrap of clusters",
}
_MORE = {
    "extra row": "with one imaginary row of each class in the variance",
    "choice included": "allowing for the choice of the threshold on the same rows",
}
_CITED = {
    "mid-p": "Berry & Armitage (1995), Statistician 44(4).",
    "bootstrap": "Efron & Tibshirani (1993), An Introduction to the Bootstrap.",
    "delong": "DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44(3).",
    "MOVER": "Zou & Donner (2008), Stat. Med. 27(10).",
    "Holm": "Holm (1979), Scand. J. Stat. 6(2).",
}


def of_evaluations(
    evaluations: Mapping[str, Evaluation], metrics: Sequence[str], comparisons: Sequence[Comparison] = ()
) -> Methods:
    """The paragraph on evaluations: `metrics` are those that the page leads with."""
    first = next(iter(evaluations.values()))
    shown = [name for name in metrics if name in first]
    if not shown or not first.positives:
        return Methods()
    what = listed([_inside(name) for name in shown])
    sentences = [
        f"{what[0].upper()}{what[1:]} of {counted(first.n_rows, 'row')} "
        f"({amount(float(first.positives or 0))} {first.words.kind}; {SAMPLED[first.sampling]}) were computed with "
        f"Tallymark {__version__}."
    ]
    if first.policy is not None:
        sentences.append(f"Thresholds were chosen by {first.policy} on the same rows.")
    cited = [METRICS[name].reference for name in shown]
    if first.level is not None:
        by_method: dict[str, list[str]] = {}
        for name in shown:
            if method := first[name].interval_method:
                by_method.setdefault(method, []).append(_inside(name))
        parts = [f"of {listed(names)} by {in_words(method)}" for method, names in by_method.items()]
        if parts:
            sentences.append(f"{100 * first.level:g} % confidence intervals: {'; '.join(parts)}.")
        cited += [text for word, text in _CITED.items() if any(word in method for method in by_method)]
    if comparisons:
        sentence, more = _compared(comparisons)
        sentences.append(sentence)
        cited += more
    return Methods(" ".join(sentences), _once(cited))


def of_counts(methods: Iterable[str], n: float, how: Iterable[str | None], level: float | None) -> Methods:
    """The paragraph on counts of unlabelled rows by quantifiers; `how` are the methods of their intervals."""
    known = [QUANTIFIERS[name] for name in dict.fromkeys(methods) if name in QUANTIFIERS]
    if not known:
        return Methods()
    named_ = listed([f"{one.title[0].lower()}{one.title[1:]} ({one.name})" for one in known])
    sentences = [
        f"The prevalence in {amount(n)} rows without labels was estimated with Tallymark {__version__} by {named_}."
    ]
    ways = [one for one in dict.fromkeys(how) if one]
    if ways and level is not None:
        sentences.append(
            f"{100 * level:g} % confidence intervals allow for the sampling of labelled and of unlabelled rows "
            f"({listed(ways)})."
        )
    sentences.append(
        "The methods assume prior shift: scores within each class are distributed as in the labelled rows."
    )
    return Methods(" ".join(sentences), _once(one.reference for one in known))


def in_words(method: str) -> str:
    """The name of an interval's method as a part of a sentence."""
    base = next((text for name, text in _BASES.items() if method.startswith(name)), method)
    return ", ".join([base, *(text for name, text in _MORE.items() if name in method)])


def _compared(comparisons: Sequence[Comparison]) -> tuple[str, list[str]]:
    by = listed([_inside(one.metric) for one in comparisons])
    methods = list(dict.fromkeys(pair.method for one in comparisons for pair in one.pairs))
    several = any(len(one.pairs) > 1 for one in comparisons)
    text = f"Models were compared on the same rows by {by} ({', '.join(methods)})"
    cited = [text for word, text in _CITED.items() if any(word.lower() in method.lower() for method in methods)]
    if several:
        text += "; p-values and limits of all pairs of a metric are corrected together (Holm)"
        cited.append(_CITED["Holm"])
    if len(comparisons) > 1:
        text += "; the metrics are not corrected for each other"
    return f"{text}.", cited


def _inside(metric: str) -> str:
    return named(metric) if metric in METRICS else metric


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
