"""``python -m bench.fashion``: shares of the ten classes of Fashion-MNIST in 5 000 bags, beside the best published errors.

The protocol is that of HistNetQ (github.com/pglez82/histnetq, experiments/paper): a network of two convolutions (16 and 32 of 5 x 5), a layer
of 256 and one of 10 is trained on 50 000 pictures, 10 000 others validate it and are the quantifiers' labelled rows; bags of 500 of the 10 000
test pictures are drawn with replacement, their classes' rows between sorted uniform cut points at 1 to 99 %. Split, bags and order of training
come from the same calls of PyTorch's generator with the same seed, 2032. AE is the mean absolute error over classes and bags, RAE the relative
one with half a row added to each class.

The network is trained twice: by Adam at .01 until the validation loss has not fallen for 5 epochs, as the published classical methods had it, and
at .0003, the rate at which the published neural quantifier trained its own layers of the same shape. Its error depends on that more than on the
quantifier, so the table has uncorrected counts (``cc``, ``pcc``) as well: where they equal the published ones, so does the network.

Everything that is chosen (bins, widths, calibration, the method itself) is chosen on 400 bags of the validation pictures, from scores and
labels of the other half of these. "refitted" are probabilities of a logistic regression of the network's outputs, out-of-fold for the labelled
rows. Coverage is that of 95 % joint regions and of 95 % limits of each class (of ``em`` by 100 resamples). The protocol's bags hold given numbers
of each class, so limits for the population that a bag is drawn from are wider than they need be, and all of them share one set of labelled and
one of test pictures, so their errors go together. Bags "drawn anew" have what the limits are made for: each its own labelled half of the 20 000
pictures that were not trained on, and rows drawn from the other half with classes at random; there the truth is the shares they were drawn with.

Needs PyTorch (``pip install torch``), scikit-learn, and the pictures: Debian's package dataset-fashion-mnist, or the folder ``fashion-mnist`` of
the one that ``TALLYMARK_DATA`` names, or ``--pictures``. Outputs of trained networks are kept in ``--cache``.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
import warnings
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

import tallymark as tm
from bench.datasets import data_folder
from tallymark.calibration.scaling import fit_scaling
from tallymark.quantify.estimation.declared import estimation_of
from tallymark.quantify.kernels.class_rows import ClassRows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Published mean absolute and relative absolute errors.
PUBLISHED = {
    "cc": (0.0163, 0.5828), "pcc": (0.0204, 0.7817), "ac": (0.0082, 0.2226), "pacc": (0.0067, 0.1831),
    "hdy": (0.0072, 0.1670), "em": (0.0132, 0.2549), "em bcts": (0.0065, 0.1510),
    "HistNetQ for AE": (0.0060, 0.2327), "HistNetQ for RAE": (0.0069, 0.1592),
}  # fmt: skip
BEST = tuple(min(pair[i] for pair in PUBLISHED.values()) for i in (0, 1))

#: Learning rate by the name of the training.
TRAININGS = {"as published": 0.01, "slower": 0.0003}

SEED, CLASSES, ROWS = 2032, 10, 500
LABELS = list(range(CLASSES))
CHOICE_BAGS = 400
DEBIAN = Path("/usr/share/datasets/fashion-mnist")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A method with its options, on the probabilities of the network or on refitted ones."""

    row: str
    method: str
    options: Mapping[str, Any]
    refitted: bool = False

    def __str__(self) -> str:
        told = ", ".join(f"{name} {value}" for name, value in self.options.items() if name != "calibration")
        return self.row + (f" ({told})" if told else "")


def _candidates() -> list[Candidate]:
    """All that compete; of those of one row the one that does best on validation bags is shown."""
    plain = [Candidate(name, name, {}) for name in ("cc", "pcc", "ac", "pacc", "energy", "em")]
    binned = [Candidate(name, name, {"bins": bins}) for name in ("hdy", "dys") for bins in (4, 8, 16)]
    kernels = [Candidate("kde", "kde", {"bandwidth": width}) for width in (0.05, 0.1, 0.15)]
    fitted = [Candidate(f"em {kind}", "em", {"calibration": kind}) for kind in ("ts", "bcts", "vs")]
    cells = [Candidate("bayes", "bayes", {"bins": bins}) for bins in (60, 90, 120)]
    again = [Candidate(f"{c.row}, refitted", c.method, c.options, refitted=True) for c in (*fitted[1:], *cells)]
    return [*plain, *binned, *kernels, *fitted, *cells, *again]


CANDIDATES = _candidates()


# The network


def pictures(folder: Path) -> list[NDArray[np.uint8]]:
    """Training pictures and labels, test pictures and labels."""

    def read(name: str, header: int) -> NDArray[np.uint8]:
        with gzip.open(folder / name) as file:
            return np.frombuffer(file.read(), dtype=np.uint8, offset=header).copy()

    parts = []
    for name in ("train", "t10k"):
        parts.append(read(f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28))
        parts.append(read(f"{name}-labels-idx1-ubyte.gz", 8))
    return parts


def train(folder: Path, rate: float) -> dict[str, NDArray[Any]]:
    """Labels and outputs of the validation and of the test pictures, by the network that validated best."""
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(1)
    X, y, X_test, y_test = map(torch.from_numpy, pictures(folder))
    X, X_test = ((part.float() / 255.0 - 0.5) / 0.5 for part in (X, X_test))
    y = y.long()
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(SEED))
    kept, held = order[:50_000], order[50_000:]
    torch.manual_seed(SEED)
    batches = DataLoader(TensorDataset(X[kept], y[kept]), batch_size=128, shuffle=True)
    net = nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 49, 256), nn.Linear(256, CLASSES),
    )  # fmt: skip
    optimiser = torch.optim.Adam(net.parameters(), lr=rate)

    def outputs(rows: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return torch.cat([net(part) for part in rows.split(500)])

    least, since, answer = np.inf, 0, {}
    while since < 5:
        for images, labels in batches:
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(images), labels).backward()
            optimiser.step()
        known = outputs(X[held])
        loss, since = float(nn.functional.cross_entropy(known, y[held])), since + 1
        if loss < least:
            least, since = loss, 0
            answer = {"y": y[held], "outputs": known, "y_test": y_test.long(), "outputs_test": outputs(X_test)}
    return {name: part.numpy() for name, part in answer.items()}


def network(folder: Path, cache: Path, rate: float) -> dict[str, NDArray[Any]]:
    """What a trained network says, from the cache where it is there."""
    file = cache / f"fashion-{SEED}-{rate:g}.npz"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        np.savez(file, **train(folder, rate))
    with np.load(file) as kept:
        return dict(kept)


# Bags


def bags(y: Ints, count: int, seed: int) -> tuple[Floats, Ints]:
    """The classes' shares in each bag, and its rows."""
    import torch

    source = torch.Generator().manual_seed(seed)
    members = [torch.from_numpy(np.flatnonzero(y == label)) for label in LABELS]
    shares, index = [], []
    for _ in range(count):
        cuts = torch.randint(round(0.01 * ROWS), round(0.99 * ROWS), (CLASSES - 1,), generator=source)
        sizes = np.diff(np.sort(cuts.numpy()), prepend=0, append=ROWS)
        shares.append(sizes / ROWS)
        index.append(
            np.concatenate(
                [
                    of[torch.randint(len(of), (int(size),), generator=source)].numpy()
                    for of, size in zip(members, sizes, strict=True)
                    if size
                ]
            )
        )
    return np.array(shares), np.array(index)


def drawn_anew(net: Mapping[str, NDArray[Any]], seed: int) -> tuple[Scored, Floats, Ints]:
    """Half of the pictures that were not trained on as labelled rows, and a bag of the others whose classes are drawn too."""
    rng = np.random.default_rng([SEED, seed])
    y, outputs = (np.concatenate((net[name], net[f"{name}_test"])) for name in ("y", "outputs"))
    known, other = np.array_split(rng.permutation(len(y)), 2)
    shares = np.diff(np.sort(rng.uniform(0.01, 0.99, CLASSES - 1)), prepend=0.0, append=1.0)
    sizes = rng.multinomial(ROWS, shares)
    rows = [
        rng.choice(np.flatnonzero(y[other] == label), size, replace=False)
        for label, size in zip(LABELS, sizes, strict=True)
    ]
    return scored(y[known], outputs[known], outputs[other], refitted=False), shares, np.concatenate(rows)


# Counting


@dataclass(frozen=True)
class Scored:
    """Labelled rows and a pool that bags are drawn from, with the probabilities of a network."""

    y: Ints
    labelled: Floats
    pool: Floats

    @property
    def panel(self) -> tm.ClassPanel:
        return tm.class_panel(self.y, self.labelled, classes=LABELS)

    def target(self, rows: Ints) -> tm.ClassPanel:
        return tm.class_panel(scores=self.pool[rows], classes=LABELS)


def scored(y: Ints, outputs: Floats, others: Floats, *, refitted: bool) -> Scored:
    """Probabilities as the network gives them, or of a logistic regression of its outputs."""
    outputs, others = outputs.astype(np.float64), others.astype(np.float64)
    if not refitted:
        return Scored(y, softmax(outputs, axis=1), softmax(others, axis=1))
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def features(z: Floats) -> Floats:
        p = softmax(z, axis=1)
        return np.hstack((z - z.mean(axis=1, keepdims=True), p, np.sqrt(p)))

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=200))
    folds = StratifiedKFold(5, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = cross_val_predict(model, features(outputs), y, cv=folds, method="predict_proba")
        return Scored(y, known, model.fit(features(outputs), y).predict_proba(features(others)))


def counted(candidate: Candidate, data: Scored, index: Ints) -> Floats:
    """The estimated shares of each bag, as ``tm.quantify.estimate`` gives them."""
    if candidate.method in {"bayes", "energy"}:
        return _in_lines(candidate, data, index)
    options = dict(candidate.options)
    if kind := options.pop("calibration", None):
        # The same for every bag: fitted once.
        scaling = fit_scaling(data.y, data.labelled, kind, np.ones(len(data.y)))
        data = Scored(data.y, scaling(data.labelled), scaling(data.pool))
        options["training_prevalence"] = data.labelled.mean(axis=0)
    panel = data.panel
    return np.array(
        [
            tm.quantify.estimate(candidate.method, panel, data.target(rows), level=None, **options).shares
            for rows in index
        ]
    )


def _in_lines(candidate: Candidate, data: Scored, index: Ints, step: int = 250) -> Floats:
    """Many bags at once, each as weights of the pool."""
    both = ClassRows.of(data.panel, tm.class_panel(scores=data.pool, classes=LABELS), None)
    form = estimation_of(candidate.method).classes
    assert form is not None
    solve = form.solver(both, candidate.options)
    answers = []
    for start in range(0, len(index), step):
        mass = np.array([np.bincount(rows, minlength=both.m) for rows in index[start : start + step]], dtype=float)
        lines = 1 if candidate.method == "bayes" else len(mass)
        answers.append(solve(np.broadcast_to(both.weight, (lines, both.n)), mass))
    return np.concatenate(answers)


def errors(shares: Floats, estimated: Floats) -> tuple[float, float]:
    """Mean absolute and relative absolute error."""
    losses = tm.quantify.losses
    return float(losses.ae(shares, estimated).mean()), float(losses.rae(shares, estimated, size=ROWS).mean())


def rank(pair: tuple[float, float]) -> float:
    """The larger of the errors in units of the best published: below 1 both are beaten."""
    return max(value / best for value, best in zip(pair, BEST, strict=True))


def on_validation(net: Mapping[str, NDArray[Any]]) -> dict[Candidate, tuple[float, float]]:
    """Errors of each candidate on bags of one half of the validation pictures, labelled by the other."""
    order = np.random.default_rng(SEED).permutation(len(net["y"]))
    halves = np.array_split(order, 2)
    found: dict[Candidate, list[tuple[float, float]]] = {}
    for seed, (known, other) in enumerate((halves, halves[::-1])):
        shares, index = bags(net["y"][other], CHOICE_BAGS // 2, seed)
        for again in (False, True):
            data = scored(net["y"][known], net["outputs"][known], net["outputs"][other], refitted=again)
            for candidate in (c for c in CANDIDATES if c.refitted == again):
                pair = errors(shares, counted(candidate, data, index))
                found.setdefault(candidate, []).append(pair)
    return {candidate: tuple(np.mean(pairs, axis=0)) for candidate, pairs in found.items()}  # type: ignore[misc]


def best_of_rows(found: dict[Candidate, tuple[float, float]]) -> list[Candidate]:
    """The candidate of each row that did best on validation bags."""
    rows: dict[str, Candidate] = {}
    for candidate in sorted(found, key=lambda c: rank(found[c]), reverse=True):
        rows[candidate.row] = candidate
    return [candidate for candidate in CANDIDATES if candidate in rows.values()]


# Coverage


def held(task: tuple[Candidate, Mapping[str, NDArray[Any]], tuple[Floats, Ints] | None, int]) -> tuple[float, ...]:
    """Whether the joint region holds a bag's shares, how many of the classes' limits do, and their mean width."""
    candidate, net, bag, seed = task
    if bag is None:
        data, shares, rows = drawn_anew(net, seed)
    else:
        data, (shares, rows) = scored(net["y"], net["outputs"], net["outputs_test"], refitted=False), bag
    options = dict(candidate.options) | ({"replicates": 100} if candidate.method == "em" else {})
    warnings.simplefilter("ignore")
    found = tm.quantify.estimate(candidate.method, data.panel, data.target(rows), seed=SEED, **options)
    low, high = (np.array([getattr(found[label], end) for label in LABELS]) for end in ("low", "high"))
    inside = (low <= shares + 1e-12) & (shares <= high + 1e-12)
    return float(found.region_holds(shares)), float(inside.mean()), float((high - low).mean())


def coverage(
    candidate: Candidate, net: Mapping[str, NDArray[Any]], drawn: list[tuple[Floats, Ints] | None], jobs: int
) -> str:
    """Coverage of the joint region and of the classes' limits, and their width, in words."""
    tasks = [(candidate, net, bag, seed) for seed, bag in enumerate(drawn)]
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            results = np.array(list(pool.map(held, tasks, chunksize=5)))
    else:
        results = np.array([held(task) for task in tasks])
    region, limits, width = results.mean(axis=0)
    return f"region {100 * region:5.1f} %   limits {100 * limits:5.1f} %   mean width {width:.4f}   ({len(tasks)} bags)"


# The tables


def show_errors(net: Mapping[str, NDArray[Any]], data: Mapping[bool, Scored], count: int) -> list[Candidate]:
    """Print the errors of every row; the candidates that did best on validation bags, best first."""
    known = on_validation(net)
    shares, index = bags(net["y_test"], count, SEED)
    print(f"{'':26}{'validation bags':>18}{f'{count} test bags':>22}{'published':>20}")
    print(f"{'':26}" + f"{'AE':>10}{'RAE':>8}" * 3)
    for candidate in best_of_rows(known):
        start = time.perf_counter()
        pair = errors(shares, counted(candidate, data[candidate.refitted], index))
        taken = 1e3 * (time.perf_counter() - start) / count
        published = PUBLISHED.get(candidate.row)
        cells = [known[candidate], pair, *([published] if published else [])]
        told = "".join(f"{a:10.5f}{b:8.4f}" for a, b in cells)
        print(f"{candidate!s:26}{told:54}{' both' if rank(pair) <= 1.0 else '     '} {taken:6.1f} ms a bag", flush=True)
    return sorted(best_of_rows(known), key=lambda c: rank(known[c]))


def show_coverage(net: Mapping[str, NDArray[Any]], ranked: list[Candidate], count: int, jobs: int) -> None:
    """Print the coverage of the methods whose limits need no resampling, and of the best on validation bags."""
    of_protocol: list[tuple[Floats, Ints] | None] = list(zip(*bags(net["y_test"], count, SEED), strict=True))
    tried = [next(c for c in ranked if c.method == method and not c.refitted) for method in ("ac", "pacc", "bayes")]
    for candidate in (*tried, *(c for c in ranked[:1] if not c.refitted and c not in tried)):
        for what, drawn in (("of the protocol's bags", of_protocol), ("of bags drawn anew", [None] * count)):
            start = time.perf_counter()
            line = coverage(candidate, net, drawn, jobs)
            taken = (time.perf_counter() - start) / count
            print(f"{candidate!s:20}{what:24}{line} {taken:5.2f} s a bag", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bags", type=int, default=5_000)
    parser.add_argument("--covered", type=int, default=300, help="bags whose regions are tried")
    parser.add_argument("--jobs", type=int, default=1, help="processes that try them")
    parser.add_argument("--training", choices=TRAININGS, help="one of the two only")
    parser.add_argument("--pictures", type=Path, default=DEBIAN if DEBIAN.is_dir() else data_folder() / "fashion-mnist")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "tallymark-bench")
    options = parser.parse_args()
    start = time.perf_counter()
    for name in [options.training] if options.training else TRAININGS:
        net = network(options.pictures, options.cache, TRAININGS[name])
        right = [float((net[f"outputs{of}"].argmax(axis=1) == net[f"y{of}"]).mean()) for of in ("", "_test")]
        print(
            f"\nTrained {name} (Adam, {TRAININGS[name]:g}): accuracy {right[0]:.4f} (validation), {right[1]:.4f} (test)"
        )
        data = {again: scored(net["y"], net["outputs"], net["outputs_test"], refitted=again) for again in (False, True)}
        ranked = show_errors(net, data, options.bags)
        print(f"Best on validation bags: {ranked[0]}. Best published: AE {BEST[0]:.4f}, RAE {BEST[1]:.4f}.")
        show_coverage(net, ranked, options.covered, options.jobs)
        print(f"{(time.perf_counter() - start) / 60:.1f} minutes so far", flush=True)


if __name__ == "__main__":
    main()
