"""Texts that say nothing of the class: no count is claimed; texts that say something still give one."""

import math

import numpy as np
import pytest

import tallymark as tm

#: The three ways to count, small.
WAYS = {
    "bootstrap": lambda *columns, **options: tm.rare.bootstrap(*columns, machines=20, **options),
    "ensemble": lambda *columns, **options: tm.rare.ensemble(*columns, machines=2, ensembles=2, **options),
    "class_weight_sweep": lambda *columns, **options: tm.rare.class_weight_sweep(
        *columns, weights=[1, 10], machines=2, **options
    ),
}


def _without_signal(kind):
    rng = np.random.default_rng(0)
    labels = (rng.random(200) < 0.3).astype(int)
    texts = {
        "two texts": [("red apple pie", "green leaf tea")[k] for k in rng.integers(0, 2, 200)],
        "random words": [" ".join(rng.choice([f"word{i}" for i in range(60)], 8)) for _ in range(200)],
        "one text": ["all texts alike"] * 200,
    }
    return texts[kind], labels


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["two texts", "random words", "one text"])
@pytest.mark.filterwarnings("ignore")
def test_texts_that_say_nothing_give_no_count(way, kind):
    texts, labels = _without_signal(kind)
    found = WAYS[way](texts, labels, texts, target_labels=labels)
    assert math.isnan(found.count.prevalence)
    assert found.count.low is None
    assert "apart" in found.count.reason
    assert "no estimate" in found.heading()
    assert [row["calibrated"] for row in found.table] == ["no", "no"]
    assert np.isnan(found.posteriors).all()
    if way == "class_weight_sweep":
        assert all(math.isnan(row["calibrated"]) for row in found.sweep)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore")
def test_texts_that_say_something_give_a_count(way):
    rng = np.random.default_rng(1)
    texts, labels = _without_signal("random words")
    told = [f"{text} signal" if y and rng.random() < 0.6 else text for text, y in zip(texts, labels, strict=True)]
    found = WAYS[way](told, labels, told)
    assert found.count.reason is None
    assert found.count.count_low < labels.sum() < found.count.count_high
    assert len(found.table) == 4


@pytest.mark.filterwarnings("ignore")
def test_a_report_of_texts_that_say_nothing_says_so(tmp_path):
    texts, labels = _without_signal("two texts")
    page = tm.report(WAYS["bootstrap"](texts, labels, texts, target_labels=labels), tmp_path / "page.html").read_text(
        "utf-8"
    )
    assert "of the 200 texts are positive cannot be said" in page


@pytest.mark.filterwarnings("ignore")
def test_a_class_that_is_not_there_is_counted_as_none():
    rng = np.random.default_rng(2)
    words = [f"word{i}" for i in range(40)]
    texts = [" ".join([*rng.choice(words, 6), *(["prize"] * (i < 40))]) for i in range(120)]
    target = [" ".join(rng.choice(words, 6)) for _ in range(300)]
    found = WAYS["bootstrap"](texts, [1] * 40 + [0] * 80, target)
    assert found.count.prevalence == 0.0
    assert "e−" not in found.heading()
    assert not any("e−" in str(row["estimate"]) or 0 < row["estimate"] < 1e-3 for row in found.table)
    assert not found.calibration.labels(found.scores).any()
