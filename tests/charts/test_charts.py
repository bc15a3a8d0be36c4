"""Chart specifications are data: what is drawn is what the library computes."""

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

import tallymark as tm
from tallymark._numbers import with_limits
from tallymark.charts.decimation import thinned
from tallymark.charts.theme import PALETTES, by_model, shape_of

pytestmark = pytest.mark.slow

spec = importlib.util.spec_from_file_location("gallery", Path(__file__).parents[2] / "docs" / "gallery.py")
gallery = importlib.util.module_from_spec(spec)
sys.modules["gallery"] = gallery
spec.loader.exec_module(gallery)
PICTURES = gallery.pictures()


def sample(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    return y, 1 / (1 + np.exp(-rng.normal(2 * y - 1)))


def values(chart, layer):
    """Rows of a layer, by the columns it has."""
    found = chart.to_dict()
    return next(part["data"]["values"] for part in _layers(found) if layer in part["data"]["values"][0])


def _layers(part):
    if "layer" in part:
        for inner in part["layer"]:
            yield from _layers({"data": part.get("data"), **inner})
    elif part.get("data") and part["data"].get("values"):
        yield part


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", list(PICTURES))
def test_every_picture_is_drawn_in_both_themes(name, theme):
    import vl_convert

    chart = PICTURES[name](theme)
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert PALETTES[theme].paper in svg
    assert svg.count("<path") > 3
    # What is read aloud in its place begins with the title.
    title = chart.title if isinstance(chart.title, str) else chart.title.text
    assert chart.description.startswith(str(title)[:20])


def test_every_chart_is_in_the_gallery():
    text = Path(gallery.__file__).read_text(encoding="utf-8")
    assert [name for name in tm.charts.__all__ if f"c.{name}(" not in text] == []


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_charts_save_without_a_browser(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    tm.charts.roc(tm.tally(*sample())).save(str(path))
    assert path.stat().st_size > 1_000


def test_roc_points_are_the_curves():
    t = tm.tally(*sample())
    curve = tm.roc(t)
    drawn = {(round(row["fpr"], 12), round(row["tpr"], 12)) for row in values(tm.charts.roc(t), "fpr")}
    assert drawn <= {(round(x, 12), round(y, 12)) for x, y in zip(curve.fpr, curve.tpr, strict=True)}
    assert {(0.0, 0.0), (1.0, 1.0)} <= drawn


def test_marked_thresholds_are_where_the_policy_puts_them():
    t = tm.tally(*sample())
    (mark,) = values(tm.charts.roc(t, thresholds=["youden"]), "at")
    c = t.at("youden")
    assert (mark["tpr"], mark["fpr"]) == (c.tp / t.positives, c.fp / t.negatives)


def test_thresholds_that_agree_are_one_mark_with_all_names_and_the_value():
    t = tm.tally([0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.9])
    rows = values(tm.charts.roc(t, thresholds=["f1", "kappa", 0.8, 0.5]), "at")
    # At 0.5 and at 0.8 the same rows are predicted positive.
    assert [row["text"] for row in rows] == ["f1, kappa (0.8000), 0.5"]
    panel = tm.panel([0, 0, 0, 1, 1], {"a": [0.1, 0.2, 0.3, 0.8, 0.9], "b": [0.2, 0.1, 0.3, 0.7, 0.6]})
    assert [row["model"] for row in values(tm.charts.pr(panel, thresholds=["f1", "kappa"]), "at")] == [
        "a (1.000)",
        "b (1.000)",
    ]


def test_the_area_of_one_model_stands_under_the_title():
    t = tm.tally(*sample())
    assert tm.charts.roc(t).to_dict()["title"]["subtitle"] == f"AUC {tm.metrics.auroc(t):.3f}"
    expected = f"average precision {tm.metrics.average_precision(t):.3f}"
    assert tm.charts.pr(t).to_dict()["title"]["subtitle"] == expected


@pytest.mark.parametrize("prevalence", [None, 0.02])
def test_predictive_roc_and_trade_off_are_their_curves(prevalence):
    t = tm.tally(*sample())
    reweighted = t.at_prevalence(prevalence)
    for draw, curve, sides in (
        (tm.charts.predictive_roc, tm.predictive_roc(reweighted), ("one_minus_npv", "ppv")),
        (tm.charts.positive_tradeoff, tm.positive_tradeoff(reweighted), ("fdr", "tpr")),
    ):
        chart = draw(t, thresholds=["f1"], prevalence=prevalence)
        known = np.column_stack([curve.columns()[side] for side in sides])
        drawn = np.array([[row[side] for side in sides] for row in values(chart, sides[0])])
        assert len(drawn) > 100
        assert all(np.abs(known - row).sum(axis=1).min() < 1e-12 for row in drawn)
        # The mark is the point of the cells that the policy chooses at this prevalence.
        (mark,) = values(chart, "at")
        c = reweighted.at("f1")
        expected = {
            "one_minus_npv": 1 - tm.metrics.npv(c), "ppv": tm.metrics.precision(c),
            "fdr": tm.metrics.fdr(c), "tpr": tm.metrics.recall(c),
        }  # fmt: skip
        assert [mark[side] for side in sides] == pytest.approx([expected[side] for side in sides])


def test_ten_methods_have_ten_colours():
    for theme in PALETTES:
        look = by_model([f"m{i}" for i in range(10)], theme)["color"].to_dict()
        assert len(set(look["scale"]["range"])) == 10


def test_pr_at_another_prevalence():
    t = tm.tally(*sample())
    curve = tm.pr(t.at_prevalence(0.01))
    known = {(round(a, 9), round(b, 9)) for a, b in zip(curve.recall, curve.precision, strict=True)}
    assert {
        (round(r["recall"], 9), round(r["precision"], 9)) for r in values(tm.charts.pr(t, prevalence=0.01), "precision")
    } <= known


def test_isolines_have_the_value_they_say():
    t = tm.tally(*sample())
    for metric in ("accuracy", "balanced_accuracy", "f1", "mcc"):
        chart = tm.charts.roc_space({"a": t.at(0.5)}, metric=metric, prevalence=0.2)
        for row in values(chart, "level")[:200:7]:
            c = tm.Confusion.of_cells(
                tp=200 * row["y"], fn=200 * (1 - row["y"]), fp=800 * row["x"], tn=800 * (1 - row["x"])
            )
            assert getattr(tm.metrics, metric)(c) == pytest.approx(row["level"], abs=5e-3), metric


def test_dominated_classifiers_are_hollow():
    t = tm.tally(*sample())
    good, bad = t.at("youden"), tm.Confusion(t.at("youden").matrix[::-1], t.labels, positive=1)
    rows = values(tm.charts.roc_space({"good": good, "bad": bad}), "dominated")
    assert {row["name"]: row["dominated"] for row in rows} == {"good": False, "bad": True}


def test_histograms_hold_every_row():
    t = tm.tally(*sample())
    panels = tm.charts.score_histogram(t).to_dict()["vconcat"]
    rows = [row for panel in panels for part in _layers(panel) for row in part["data"]["values"]]
    for label, run in zip(("0", "1"), t.runs, strict=True):
        own = [row for row in rows if row["class"] == label]
        assert sum(row["count"] for row in own) == run.total
        assert sum(row["share"] for row in own) == pytest.approx(1.0)


def test_the_same_model_has_the_same_colour_everywhere():
    y, s = sample()
    panel = tm.panel(y, {"a": s, "b": s**2})
    scales = [tm.charts.gain(panel), tm.charts.calibration_curve(panel), tm.charts.cost_curve(panel)]
    ranges = []
    for chart in scales:
        lines = [part for part in _layers(chart.to_dict()) if "color" in part.get("encoding", {})]
        ranges.append(lines[-1]["encoding"]["color"]["scale"])
    assert all(r == ranges[0] for r in ranges)


def test_forest_draws_limits_and_chance():
    ev = tm.evaluate(tm.tally(*sample()), metrics=["auroc", "f1"])
    rows = values(tm.charts.forest(ev), "chance")
    assert {row["metric"]: (row["low"], row["high"]) for row in rows} == {m.name: (m.low, m.high) for m in ev.values()}


def test_counts_are_drawn_by_group():
    import pandas as pd

    y, s = sample()
    frame = pd.DataFrame({"p": sample(seed=1)[1], "g": np.arange(400) % 2})
    found = tm.quantify.estimate("ac", tm.tally(y, s), tm.tally(frame, score="p", by="g"))
    rows = values(tm.charts.prevalences(found, counts=True), "group")
    assert [row["value"] for row in rows] == pytest.approx([entry.count for entry in found.values()])


def test_thinning_keeps_ends_and_shape():
    x = np.linspace(0, 1, 100_000)
    y = np.sqrt(x)
    kept = thinned(x, y, 300)
    assert len(kept) <= 302
    assert (kept[0], kept[-1]) == (0, 99_999)
    grid = np.linspace(0, 1, 1_000)
    assert np.abs(np.interp(grid, x[kept], y[kept]) - np.sqrt(grid)).max() < 0.005
    holes = np.where(np.arange(1_000) % 2, np.inf, np.linspace(0, 1, 1_000))
    assert np.isfinite(holes[thinned(holes, np.zeros(1_000), 50)]).all()


def test_bad_input():
    t = tm.tally(*sample())
    with pytest.raises(tm.InputError, match="expected a labelled tally"):
        tm.charts.roc([1, 2])
    with pytest.raises(tm.InputError, match="one model"):
        tm.charts.over_thresholds({"a": t, "b": t})
    with pytest.raises(tm.InputError, match="theme='blue'"):
        tm.charts.roc(t, theme="blue")
    with pytest.raises(tm.InputError, match="no isolines"):
        tm.charts.roc_space({"a": t.at(0.5)}, metric="auroc")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_enough_contrast(theme):
    """WCAG AA: 4.5 for text, 3 for lines."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(a, b):
        light, dark = sorted((luminance(a), luminance(b)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    p = PALETTES[theme]
    for colour in (p.ink, p.faint):
        assert contrast(colour, p.paper) >= 4.5
    for colour in p.models:
        assert contrast(colour, p.paper) >= 3.0


def test_a_calibration_curve_is_drawn_as_it_is():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    t = tm.tally(rng.random(400) < p, p)
    drawn = tm.charts.calibration_curve(tm.calibration_curve(t, bins=5)).to_dict()
    values = next(v for v in _values(drawn) if v and "observed" in v[0])
    assert [row["observed"] for row in values] == pytest.approx(tm.calibration_curve(t, bins=5).observed.tolist())


def _values(chart):
    """Every list of inline values in a chart."""
    if isinstance(chart, dict):
        if isinstance(chart.get("values"), list):
            yield chart["values"]
        for part in chart.values():
            yield from _values(part)
    elif isinstance(chart, list):
        for part in chart:
            yield from _values(part)


#: Machado, Oliveira & Fernandes (2009), IEEE TVCG 15(6): what is seen without one kind of cones, in linear light.
CVD = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear_light(colour):
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(light):
    xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    f = np.array([v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz @ light / [0.95047, 1, 1.08883]])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def luminance(colour):
    return float(linear_light(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_models_are_told_apart_without_any_kind_of_cones(theme):
    colours = PALETTES[theme].models
    for kind, matrix in CVD.items():
        seen = [lab(np.clip(np.array(matrix) @ linear_light(c), 0, 1)) for c in colours]
        nearest = min(np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i])
        assert nearest > 15, kind


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_have_the_contrast_of_text(theme):
    p = PALETTES[theme]
    for colour in (*p.models, p.ink, p.faint, p.positive, p.negative):
        assert contrast(colour, p.paper) >= 4.5, colour


def test_colours_dashes_and_shapes_come_round_at_different_places():
    names = [f"m{i}" for i in range(14)]
    look = by_model(names, "light")
    colours, dashes = (look[name].to_dict()["scale"]["range"] for name in ("color", "strokeDash"))
    assert len(set(zip(colours, map(tuple, dashes), strict=True))) == 14
    assert len(set(shape_of(names[:8]).to_dict()["scale"]["range"])) == 8


def test_alternative_texts_have_the_values():
    y, s = sample()
    panel = tm.panel(y, {"a": s, "b": s**2})
    assert f"a {tm.metrics.auroc(panel.tally('a')):.3f}" in tm.charts.roc(panel).description
    c = panel.tally("a").at(0.5)
    assert str(c.tp) in tm.charts.confusion(c).description
    ev = tm.evaluate(panel.tally("a"), metrics=["auroc"])
    assert with_limits(ev["auroc"].value, ev["auroc"].low, ev["auroc"].high) in tm.charts.forest(ev).description


def test_degenerate_data_say_why_there_is_no_picture():
    flat = tm.tally([0, 1] * 20, [0.5] * 40)
    assert "All scores are equal" in tm.charts.over_thresholds(flat).description
    far = tm.tally([1] + [0] * 999, np.linspace(0.999, 0.9, 1_000)[::-1])
    assert "calibrate" in tm.charts.decision_curve(far).description


def test_matrices_are_shaded_by_what_they_print():
    c = tm.Confusion.of_cells(tp=38, fp=84, fn=79, tn=59_799)
    for rates in (False, True):
        (rows,) = [
            part["data"]["values"]
            for part in _layers(tm.charts.confusion(c, rates=rates).to_dict())
            if part["mark"]["type"] == "rect"
        ]
        number = lambda row: float(row["text"].replace("\u202f", "").replace(" %", ""))
        assert sorted(rows, key=number) == sorted(rows, key=lambda row: (row["shade"], number(row)))
        # Positives first, truth down.
        assert (rows[0]["row"], rows[0]["column"]) == ("1", "1")


def test_groups_outside_their_bar_are_unlike_the_total():
    found = gallery.by_region()
    total = tm.evaluate(tm.tally([0, 1] * 500, list(range(1_000))), metrics=["auroc"])
    rows = values(tm.charts.groups(found, total=total), "from")
    for row in rows:
        inside = row["from"] <= row["value"] <= row["to"]
        assert inside == (row["low"] <= total["auroc"].value <= row["high"])


def test_reliability_of_rare_positives_stays_on_the_page():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.002
    t = tm.tally(y, np.clip(rng.beta(1, 300, 20_000) + 0.3 * y, 0, 1))
    chart = tm.charts.calibration_curve({"a": t}, log=True).to_dict()
    for part in _layers(chart):
        for row in part["data"]["values"]:
            assert all(
                row[name] > 0
                for name in ("mean", "observed", "low", "x", "y")
                if isinstance(row.get(name), float) and (name != "observed" or part["mark"]["type"] != "rule")
            )


def test_every_method_of_a_study_has_its_label():
    chart = tm.charts.study_errors(gallery.study_results()).to_dict()
    assert chart["layer"][0]["encoding"]["y"]["axis"]["labelOverlap"] is False
    # Where colours come round again, shapes do not.
    by_shape = tm.charts.errors_by_prevalence(gallery.study_results()).to_dict()["layer"][-1]["encoding"]["shape"]
    assert len(set(by_shape["scale"]["range"])) == len(gallery.study_results().methods)


def test_the_scatter_of_subsamples_states_the_correlation_of_each_size():
    found = tm.by_sample_size(tm.tally(*sample()), sizes=[60, 200], replicates=60)
    legend = tm.charts.size_scatter(found).to_dict()["encoding"]["color"]["scale"]["domain"]
    for size, values_, name in zip(found.sizes, found.values, legend, strict=True):
        said = float(name.removeprefix(f"{size} (r ").removesuffix(")"))
        assert said == pytest.approx(np.corrcoef(values_[:, 0], values_[:, 1])[0, 1], abs=1e-3)


def test_bars_of_data_sets_average_nothing_but_folds():
    results = gallery.study_results()
    chart = tm.charts.errors_by_dataset(
        results, methods=["CC", "EM"], prevalences={f"set {i}": i / 10 for i in (3, 4, 1, 2)}
    )
    errors = results.errors("ae")
    drawn = {(row["dataset"], row["model"], row["prevalence"]): row["value"] for row in values(chart, "dataset")}
    assert len(drawn) == len(results.datasets) * 2 * len(results.prevalences)
    at = results.prevalences.index(0.3)
    assert drawn["set 2 (20 %)", "EM", 0.3] == errors[1, at, results.methods.index("EM")]
    assert chart.to_dict()["encoding"]["facet"]["sort"] == [
        "set 1 (10 %)",
        "set 2 (20 %)",
        "set 3 (30 %)",
        "set 4 (40 %)",
    ]
    with pytest.raises(tm.InputError, match="no entry for 'set 3', 'set 4'"):
        tm.charts.errors_by_dataset(results, prevalences={"set 1": 0.1, "set 2": 0.2})
    with pytest.raises(tm.InputError, match="No method 'XX'"):
        tm.charts.errors_by_dataset(results, methods=["XX"])


def test_pairs_by_prevalence_add_up_to_pairs():
    results = gallery.study_results()
    whole = next(iter(_values(tm.charts.pairwise(results, "Bayes").to_dict())))
    split = next(iter(_values(tm.charts.pairwise(results, "Bayes", by_prevalence=True).to_dict())))
    sums = {row["method"]: row["words"] for row in whole if row["kind"] == "words"}
    errors, methods = results.errors("ae"), results.methods
    for name in methods:
        if name == "Bayes":
            continue
        gap = (errors[:, :, methods.index(name)] - errors[:, :, methods.index("Bayes")]).ravel()
        wins, losses = int((gap > 1e-12).sum()), int((gap < -1e-12).sum())
        assert sums[name][0] == f"{wins}–{losses}–{gap.size - wins - losses}"
        assert sums[name][1] == f"{wins - losses} ({100 * gap.mean():.2f})".replace("-", "−")
        points = [(row["pivot"], row["other"]) for row in whole if row["kind"] == "point" and row["method"] == name]
        again = [(row["pivot"], row["other"]) for row in split if row["kind"] == "point" and row["method"] == name]
        assert sorted(points) == sorted(again)
        parts = [row["words"][0].split("–") for row in split if row["kind"] == "words" and row["method"] == name]
        assert sum(int(one[0]) for one in parts) == wins


def test_rows_of_a_study_have_ranks_and_quartiles_not_means_over_prevalences():
    results = gallery.study_results()
    lines = list(results.rows())
    assert [line["mean_rank"] for line in lines if line["loss"] == "ae"] == sorted(results.ranks("ae").means.values())
    (line,) = [one for one in lines if (one["loss"], one["method"]) == ("ae", "CC")]
    flat = np.sort(results.errors("ae")[:, :, results.methods.index("CC")].ravel())
    assert (line["least"], line["largest"]) == (flat[0], flat[-1])
    assert line["lower_quartile"] == pytest.approx(np.percentile(flat, 25))
    assert "mean" not in line


def _ranked(methods, datasets, step):
    rng = np.random.default_rng(1)
    return {f"m{i}": (rng.normal(size=datasets) + step * i).tolist() for i in range(methods)}


def _bars_of(chart):
    """Ends of the thick bars of a critical-difference diagram, in ranks, with their heights."""
    parts = [p for p in _layers(chart.to_dict()) if p["mark"].get("strokeCap") == "round"]
    lines = [sorted(p["data"]["values"], key=lambda row: row["order"]) for p in parts]
    return [(line[0]["x"], line[1]["x"], line[0]["y"]) for line in lines]


def test_bars_of_the_rank_diagram_hold_the_methods_that_do_not_differ():
    test = tm.study.nemenyi(_ranked(10, 24, 0.25))
    ranks = test.mean_ranks
    held = [tuple(n for n in ranks if low <= ranks[n] <= high) for low, high, _ in _bars_of(critical(test))]
    # An oracle that looks at pairs: a bar for each largest run without a pair that differs.
    apart = {frozenset((p["first"], p["second"])) for p in test.pairs if abs(p["rank_difference"]) >= 2.7650}
    order = sorted(ranks, key=ranks.get)
    runs = [
        set(order[i:j])
        for i in range(10)
        for j in range(i + 2, 11)
        if not any(frozenset((a, b)) in apart for a in order[i:j] for b in order[i:j])
    ]
    assert sorted(map(sorted, held)) == sorted(sorted(r) for r in runs if not any(r < other for other in runs))
    # No two bars at one height overlap.
    for height in {y for _, _, y in _bars_of(critical(test))}:
        level = sorted((a, b) for a, b, y in _bars_of(critical(test)) if y == height)
        assert all(one[1] < other[0] for one, other in itertools.pairwise(level))


def critical(test):
    return tm.charts.critical_difference(test)


def test_every_method_has_its_line_and_name_in_the_rank_diagram():
    test = tm.study.nemenyi(_ranked(7, 24, 0.25))
    texts = [row["text"] for part in _values(critical(test).to_dict()) for row in part if "text" in row]
    for name, rank in test.mean_ranks.items():
        assert f"{name} ({rank:.2f})" in texts
    # Names on one side are on lines of their own.
    for side in ("left", "right"):
        (part,) = [p for p in _layers(critical(test).to_dict()) if p["mark"].get("align") == side and "dx" in p["mark"]
                   and any("m0" in r["text"] or "m6" in r["text"] for r in p["data"]["values"])]  # fmt: skip
        heights = sorted(row["y"] for row in part["data"]["values"])
        assert min(np.diff(heights)) >= 15


def test_against_a_control_the_bar_spans_what_is_not_told_from_it():
    test = tm.study.bonferroni_dunn(_ranked(7, 24, 0.25), "m2")
    assert (test.control, test.groups) == ("m2", [])
    assert tm.study.nemenyi(_ranked(7, 24, 0.25)).control is None
    ((low, high, _),) = _bars_of(critical(test))
    same = {pair["first"] for pair in test.pairs if not pair["differ"]} | {"m2"}
    assert {name for name, rank in test.mean_ranks.items() if low <= rank <= high} == same


def test_a_critical_difference_longer_than_the_axis_is_said():
    test = tm.study.nemenyi(_ranked(4, 2, 0.25))
    assert test.critical_difference > 3
    texts = [row["text"] for part in _values(critical(test).to_dict()) for row in part if "text" in row]
    assert any("more than the axis is long" in text for text in texts)


def test_surfaces_have_the_values_of_the_metrics():
    q = {f"Q{beta:g}": ("q_measure", {"beta": beta}) for beta in (0.5, 2)}
    chart = tm.charts.metric_surfaces(
        {"NAS": ("nas", {}), "AE": ("ae", {}), **q}, positives=56, negatives=560
    ).to_dict()
    for panel, (title, beta) in zip(chart["concat"], [("NAS", 0), ("AE", 0), ("Q0.5", 0.5), ("Q2", 2)], strict=True):
        assert panel["title"]["text"] == title
        rows = panel["data"]["values"]
        assert len(rows) == 28**2
        for row in rows[::97]:
            # From the definitions: p = P/S, p' = (TP + FP)/S.
            p, called = 56 / 616, (56 - row["fn"] + row["fp"]) / 616
            c, nas = 1 - row["fn"] / 56, 1 - abs(called - p) / max(p, 1 - p)
            q = (1 + beta**2) * c * nas / (beta**2 * c + nas)
            assert row["value"] == pytest.approx({"NAS": nas, "AE": abs(called - p)}.get(title, q)), title
    with pytest.raises(tm.InputError, match="not a metric of the four cells"):
        tm.charts.metric_surfaces(["auroc"], positives=5, negatives=5)
    with pytest.raises(tm.InputError, match="No metric or loss 'xx'"):
        tm.charts.metric_surfaces(["xx"], positives=5, negatives=5)
    with pytest.raises(tm.InputError, match="positives"):
        tm.charts.metric_surfaces(["nas"], positives=0, negatives=5)


def test_simple_negatives_raise_auroc_as_rows_that_are_added_do():
    y, first, second = [0, 0, 0, 1, 1], [1, 2, 110, 6, 120], [100, 150, 2, 130, 3]
    chart = tm.charts.simple_objects(tm.without_simple(tm.panel(y, {"a": first, "b": second})), most=20)
    drawn = {(row["model"], row["n"]): row["value"] for row in list(_values(chart.to_dict()))[1]}
    for m in (0, 1, 10, 20):
        for name, scores in (("a", first), ("b", second)):
            added = tm.tally([*y, *[0] * m], [*scores, *[-1] * m])
            assert drawn[name, m] == pytest.approx(tm.metrics.auroc(added))
    # With simple rows of both classes there from the start, the same.
    more = tm.panel([0, 1, *y], {"a": [-9, 999, *first], "b": [-9, 999, *second]})
    again = {(row["model"], row["n"]): row["value"] for row in list(_values(
        tm.charts.simple_objects(tm.without_simple(more), most=20).to_dict()))[1]}  # fmt: skip
    assert again["b", 1] == pytest.approx(tm.metrics.auroc(more.tally("b")))
    flat = {row["model"]: row["value"] for row in next(iter(_values(chart.to_dict())))}
    assert flat == pytest.approx({"a": 5 / 6, "b": 0.5})


def test_points_have_their_classes_and_wrong_ones_a_ring():
    chart = tm.charts.class_points([[0, 1], [1, 2], [3, 3]], ["a", "a", "b"], ["a", "b", "b"], line=(1, 1, -3.5))
    rows = values(chart, "truth")
    assert [(row["truth"], row["model"], row["wrong"]) for row in rows] == [
        ("a", "a", False), ("a", "b", True), ("b", "b", False),
    ]  # fmt: skip
    (ends,) = [part for part in _values(chart.to_dict()) if "truth" not in part[0]]
    assert all(end["x"] + end["y"] == pytest.approx(3.5) for end in ends)
    for options, told in (
        ({"truth": ["a"]}, "3 points and 1 labels in truth"),
        ({"truth": list("aab"), "line": (0, 0, 1)}, "no line"),
        ({"truth": list("aab"), "predicted": ["a"]}, "3 points and 1 labels in predicted"),
    ):
        with pytest.raises(tm.InputError, match=told):
            tm.charts.class_points([[0, 1], [1, 2], [3, 3]], **options)
    with pytest.raises(tm.InputError, match=r"shape \(2, 3\)"):
        tm.charts.class_points([[0, 1, 2], [1, 2, 3]], [0, 1])


def test_marked_policies_stand_at_the_thresholds_that_they_choose():
    t = tm.tally(*sample())
    chart = tm.charts.over_thresholds(
        t, metrics=["fpr", "fnr"], threshold={"X": "x", "Max": "youden", "ba": "ba", "AC": 0.5}
    )
    marks = {row["text"]: row["at"] for part in _values(chart.to_dict()) for row in part if "text" in row}
    assert len(marks) == 3
    best = t.threshold_for("youden")
    # Youden's J and balanced accuracy choose the same threshold: one mark with both names.
    (both,) = [text for text in marks if text.startswith("Max, ba (")]
    assert (marks[both], marks["AC (0.5000)"]) == (best, 0.5)
    dys = [
        part["mark"]["dy"]
        for part in _layers(chart.to_dict())
        if part["mark"]["type"] == "text" and "stroke" in part["mark"]
    ]
    assert len(set(dys)) == 3
    with pytest.raises(tm.InputError, match="needs a tally"):
        bare = tm.over_thresholds(t, ["fpr"])
        tm.charts.over_thresholds(type(bare)(None, bare.thresholds, bare.tp, bare.fp, bare.values), threshold="youden")


def test_counts_over_time_beside_the_truth():
    trend, truth = gallery.moving_share(), gallery.share_of_years()
    chart = tm.charts.counts_over_time(trend, along="year", counts=False, truth=truth)
    assert [row["truth"] for row in values(chart, "truth")] == list(truth.values())
    with pytest.raises(tm.InputError, match="none of the periods"):
        tm.charts.counts_over_time(trend, along="year", truth={1: 3.0})
