"""``python -m bench.fashion``: ten classes of Fashion-MNIST in 5 000 bags, beside the best published errors.

The protocol of the published figures: a small convolutional network, trained on 50 000 pictures; 10 000 others validate
it; bags of 500 test pictures drawn with replacement, their prevalences between sorted uniform cut points. Needs PyTorch
(``pip install torch``) and the pictures, of Debian's package dataset-fashion-mnist or in ``--pictures``.
"""

import gzip
from pathlib import Path

import numpy as np

#: Published mean absolute and relative absolute errors of the same protocol on another network.
PUBLISHED = {
    "CC": (0.0163, 0.5828), "PCC": (0.0204, 0.7817), "AC": (0.0082, 0.2226), "PACC": (0.0067, 0.1831),
    "HDy": (0.0072, 0.1670), "EM": (0.0132, 0.2549), "EM with BCTS": (0.0065, 0.1510),
    "HistNetQ for AE": (0.0060, 0.2327), "HistNetQ for RAE": (0.0069, 0.1592),
}  # fmt: skip

SEED = 2032
CLASSES = 10
ROWS = 500


def pictures(folder: Path) -> tuple[np.ndarray, ...]:
    """Training pictures and labels, test pictures and labels."""

    def read(name: str, header: int) -> np.ndarray:
        with gzip.open(folder / name) as file:
            return np.frombuffer(file.read(), dtype=np.uint8, offset=header)

    parts = []
    for name in ("train", "t10k"):
        parts.append(read(f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28).astype(np.float32) / 255.0)
        parts.append(read(f"{name}-labels-idx1-ubyte.gz", 8).astype(np.int64))
    return tuple(parts)


def train(folder: Path, epochs: int) -> dict[str, np.ndarray]:
    """Labels and logits of the validation and of the test pictures, by the network that validated best."""
    import torch
    from torch import nn

    torch.manual_seed(SEED)
    X, y, X_test, y_test = pictures(folder)
    order = np.random.default_rng(SEED).permutation(len(y))
    kept, held = order[:50_000], order[50_000:]
    net = nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 49, 256), nn.ReLU(), nn.Dropout(0.5), nn.Linear(256, CLASSES),
    )  # fmt: skip
    optimiser = torch.optim.Adam(net.parameters(), lr=0.001)
    data = torch.utils.data.TensorDataset(torch.from_numpy(X[kept]), torch.from_numpy(y[kept]))
    batches = torch.utils.data.DataLoader(data, batch_size=128, shuffle=True)

    def logits(rows: np.ndarray) -> np.ndarray:
        net.eval()
        with torch.no_grad():
            return torch.cat([net(part) for part in torch.from_numpy(rows).split(1000)]).numpy()

    best, patience, answer = np.inf, 5, {}
    for epoch in range(epochs):
        net.train()
        for images, labels in batches:
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(images), labels).backward()
            optimiser.step()
        known = logits(X[held])
        loss = float(nn.functional.cross_entropy(torch.from_numpy(known), torch.from_numpy(y[held])))
        print(f"epoch {epoch + 1}: validation loss {loss:.4f}", flush=True)
        if loss < best:
            best, patience = loss, 5
            answer = {"y": y[held], "logits": known, "y_test": y_test, "logits_test": logits(X_test)}
        else:
            patience -= 1
        if not patience:
            break
    return answer


def bags(y: np.ndarray, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Prevalences and rows of each bag."""
    rng = np.random.default_rng(SEED)
    rows_of = [np.flatnonzero(y == label) for label in range(CLASSES)]
    made = []
    for _ in range(count):
        cuts = np.sort(rng.uniform(0.01, 0.99, CLASSES - 1))
        shares = np.diff(np.concatenate([[0.0], cuts, [1.0]]))
        sizes = rng.multinomial(ROWS, shares)
        made.append(
            (sizes / ROWS, np.concatenate([rng.choice(of, size) for of, size in zip(rows_of, sizes, strict=True)]))
        )
    return made
