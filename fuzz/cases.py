"""Made-up data, and ways to spoil bytes."""

import csv
import gzip
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LABELS = ((0, 1), (-1, 1), ("no", "yes"), (False, True), ("0", "1.0"), ("é", "ß"))

SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "ties": lambda rng, n: rng.integers(0, 6, n) / 5,
    "spike": lambda rng, n: np.where(rng.random(n) < 0.6, 0.25, rng.random(n)),
    "constant": lambda _, n: np.full(n, 0.3),
    "whole first": lambda rng, n: np.sort(np.where(rng.random(n) < 0.7, 0.0, rng.random(n).round(3))),
    "extreme": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300),
    "mixed scales": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-12, 12, n),
    "negative zero": lambda rng, n: np.where(rng.random(n) < 0.5, -0.0, rng.random(n)),
    "whole": lambda rng, n: rng.integers(-(2**40), 2**40, n).astype(float),
}


@dataclass
class Rows:
    """Made-up rows and what they are."""

    label: list[Any]
    score: np.ndarray
    group: list[str]
    count: np.ndarray
    weight: np.ndarray
    pos_label: Any
    shape: str
    #: What a file keeps the scores as.
    kept: str = "float64"


def rows(rng: np.random.Generator, most: int = 200) -> Rows:
    """Some rows of both classes."""
    n = int(rng.integers(4, most))
    shape = str(rng.choice(list(SCORES)))
    pair = LABELS[rng.integers(len(LABELS))]
    truth = rng.random(n) < rng.choice([0.02, 0.3, 0.5])
    truth[:2] = True, False
    return Rows(
        [pair[int(one)] for one in truth],
        SCORES[shape](rng, n),
        [f"g{k:02d}" for k in rng.integers(0, 3, n)],
        rng.integers(0, 4, n) + (np.arange(n) < 2),
        rng.random(n) * 10.0 ** rng.integers(-3, 3),
        pair[1],
        shape,
    )


def as_csv(made: Rows, rng: np.random.Generator) -> bytes:
    """A CSV file in some dialect."""
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=str(rng.choice([",", ";", "\t", "|"])),
        quoting=int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        lineterminator=str(rng.choice(["\n", "\r\n"])),
    )
    writer.writerow(["y", "p", "g", "n", "w", "text"])
    for i, score in enumerate(made.score.tolist()):
        shown = repr(int(score)) if score == int(score) and abs(score) < 2**53 and rng.random() < 0.5 else repr(score)
        writer.writerow(
            [
                made.label[i],
                shown,
                made.group[i],
                made.count[i],
                repr(float(made.weight[i])),
                'a "b", c' if i % 7 == 3 else "x",
            ]
        )
    text = ("\ufeff" if rng.random() < 0.2 else "") + out.getvalue()
    return text.encode()


def as_json_lines(made: Rows, rng: np.random.Generator) -> bytes:
    """JSON lines, keys in some order."""
    lines = []
    for i, score in enumerate(made.score.tolist()):
        row = {"y": made.label[i], "p": score, "g": made.group[i], "n": int(made.count[i]), "w": float(made.weight[i])}
        keys = list(row)
        rng.shuffle(keys)
        lines.append(json.dumps({key: row[key] for key in keys}))
    return ("\n".join(lines) + "\n").encode()


def as_parquet(made: Rows, path: Path, rng: np.random.Generator) -> None:
    """A Parquet file of some types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    label = pa.array([str(one) for one in made.label] if isinstance(made.label[0], str) else made.label)
    made.kept = "float32" if made.shape in {"uniform", "ties"} and rng.random() < 0.4 else "float64"
    score = pa.array(made.score.astype(made.kept))
    group = pa.array(made.group).dictionary_encode() if rng.random() < 0.5 else pa.array(made.group)
    count = pa.array(made.count.astype(rng.choice(["int8", "int32", "uint16", "int64"])))
    table = pa.table({"y": label, "p": score, "g": group, "n": count, "w": pa.array(made.weight)})
    pq.write_table(
        table, path, row_group_size=int(rng.integers(1, 400)), compression=str(rng.choice(["none", "snappy", "zstd"]))
    )


def spoiled(content: bytes, rng: np.random.Generator) -> bytes:
    """A file with something wrong in it: bytes changed, cut, doubled, put in from elsewhere."""
    made = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(0, max(len(made), 1)))
        size = int(min(rng.integers(1, 40), len(made) - at))
        kind = rng.integers(0, 6)
        if kind == 0:
            made[at : at + size] = rng.bytes(size)
        elif kind == 1:
            del made[at : at + size]
        elif kind == 2:
            made[at:at] = made[at : at + size]
        elif kind == 3:
            made[at:at] = _NASTY[rng.integers(len(_NASTY))]
        elif kind == 4:
            del made[at:]
        elif made:
            made[at] ^= 1 << int(rng.integers(0, 8))
    return bytes(made)


_NASTY = (
    b"NaN", b"inf", b"-", b"", b'"', b"'", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"1e999", b"9" * 30, b"\r", b"\n\n", b",,,",
    "\u202e\u2028".encode(), b"{", b"}", b"[1]", b"null", b"0x1F", b"1_000", b"=cmd()", b"\x1b[31m", b"PAR1", b"PK\x03\x04",
)  # fmt: skip


def packed(content: bytes, name: str) -> bytes:
    """Compressed where the name says so."""
    return gzip.compress(content) if name.endswith(".gz") else content
