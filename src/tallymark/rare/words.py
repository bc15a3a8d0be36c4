"""Texts as counts of words: cleaned, counted in blocks, weighed by how rare a word is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from tallymark._check import Floats, Ints
from tallymark.errors import InputError, nearest

#: Texts counted at a time.
BLOCK = 10_000

#: Between texts that are read together; not a word.
_BETWEEN = "\0"

#: Common words by which a language is told.
STOP_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": "und der die das ist nicht mit für auf sich von ein eine den dem auch als wir sie oder bei",
        "en": "the and that for with you this but from they are our have not your all will can was which",
        "es": "que los las por con una para del como más pero sus está este son muy todo nos sobre",
        "fr": "les des est que pour dans une pas sur avec vous nous plus par sont aux ses mais cette",
        "nl": "het een van dat niet met voor zijn die aan ook wij ons uit bij naar maar door wordt kan",
    }.items()
}


@dataclass(frozen=True)
class Cleaning:
    """How texts become words: Gubbels's steps, each settable.

    Words of fewer than `min_letters` characters are dropped, and texts with fewer than `min_words` words left out (the thesis
    takes 10; a text without a word says nothing, so the least is 1). `languages` adds which language a text is in as a feature:
    names among de, en, es, fr, nl, or common words by name. `stem` is a function of a word, or a language of the
    snowballstemmer package. Words of fewer than `min_df` training texts are dropped.
    """

    min_letters: int = 3
    min_words: int = 1
    min_df: int = 2
    languages: Sequence[str] | Mapping[str, Iterable[str]] = ()
    stem: str | Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        for name in ("min_letters", "min_words", "min_df"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InputError(f"{name} is {value!r}, expected a whole number of 1 or more.")
        if self.stem is not None and not callable(self.stem):
            _ = self.stemmer

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What a word is."""
        return re.compile(rf"\w{{{self.min_letters},}}|{_BETWEEN}")

    @cached_property
    def stemmer(self) -> Callable[[str], str] | None:
        """The function that stems a word."""
        if self.stem is None or callable(self.stem):
            return self.stem
        try:
            import snowballstemmer
        except ImportError:
            raise InputError(
                f"stem={self.stem!r} needs snowballstemmer; install it with: pip install snowballstemmer, or pass a function."
            ) from None
        known = snowballstemmer.algorithms()
        if self.stem not in known:
            raise InputError(
                f"stem={self.stem!r} is not known.{nearest(self.stem, known)} There are: {', '.join(known)}."
            )
        stem: Callable[[str], str] = snowballstemmer.stemmer(self.stem).stemWord
        return stem

    @cached_property
    def common(self) -> dict[str, frozenset[str]]:
        """Common words by language."""
        if isinstance(self.languages, Mapping):
            return {name: frozenset(words) for name, words in self.languages.items()}
        for name in self.languages:
            if name not in STOP_WORDS:
                raise InputError(
                    f"languages names {name!r}.{nearest(name, STOP_WORDS)} There are {', '.join(STOP_WORDS)}; give others as "
                    "a mapping from name to common words."
                )
        return {name: STOP_WORDS[name] for name in self.languages}


class _Columns(dict[str, int]):
    """The column of every word; a new word gets the next one while `growing`, else none."""

    def __init__(self, stem: Callable[[str], str] | None) -> None:
        super().__init__()
        self.stems: dict[str, int] = {}
        self.stem = stem
        self.growing = True

    def __missing__(self, word: str) -> int:
        stem = word if self.stem is None else self.stem(word)
        column = self.stems.setdefault(stem, len(self.stems)) if self.growing else self.stems.get(stem, -1)
        if self.growing or self.stem is not None:
            self[word] = column
        return column


@dataclass(frozen=True)
class Counted:
    """Words of some texts: how often each occurs in each, and how many words each text has."""

    counts: csr_matrix
    lengths: Ints


@dataclass(frozen=True)
class Vocabulary:
    """Words of the training texts, each a column."""

    cleaning: Cleaning
    columns: _Columns = field(repr=False)

    @classmethod
    def of(cls, blocks: Iterable[Sequence[str]], cleaning: Cleaning) -> tuple[Vocabulary, Counted]:
        """The vocabulary of training texts, and their counts."""
        columns = _Columns(cleaning.stemmer)
        own = cls(cleaning, columns)
        parts = [own._entries(texts) for texts in blocks]
        width = len(columns.stems) + len(cleaning.common)
        lengths = np.concatenate([part[2] for part in parts]) if parts else np.zeros(0, dtype=np.int64)
        starts = np.cumsum([0, *(len(part[2]) for part in parts)])
        rows = np.concatenate([part[0] + start for part, start in zip(parts, starts, strict=False)] or [lengths])
        # Languages stand behind the words, whose number is known only now.
        places = np.concatenate([part[1] for part in parts] or [lengths])
        places = np.where(places < 0, width + places, places)
        counts = _counted(rows, places, (len(lengths), width))
        used = np.bincount(counts.indices, minlength=width) >= cleaning.min_df
        # What a language is must not depend on how many texts have it.
        used[len(columns.stems) :] = True
        renumbered = np.where(used, np.cumsum(used) - 1, -1)
        for table in (columns, columns.stems):
            for word, column in list(table.items()):
                if used[column]:
                    table[word] = int(renumbered[column])
                else:
                    del table[word]
        columns.growing = False
        return own, Counted(counts[:, np.flatnonzero(used)], lengths)

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.columns.stems) + len(self.cleaning.common)

    def counted(self, texts: Sequence[str]) -> Counted:
        """The counts of other texts; words that the training texts lack have no column."""
        rows, places, lengths = self._entries(texts)
        known = places != _UNKNOWN
        places = np.where(places < 0, self.size + places, places)
        return Counted(_counted(rows[known], places[known], (len(texts), self.size)), lengths)

    def _entries(self, texts: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """Text and column of every word, and each text's number of words; language columns count from the end, −1 the last."""
        joined = _BETWEEN.join(text.replace(_BETWEEN, " ") for text in texts).lower()
        words = self.cleaning.pattern.findall(joined)
        is_between = np.fromiter(map(_BETWEEN.__eq__, words), dtype=np.bool_, count=len(words))
        text: Ints = np.cumsum(is_between)[~is_between].astype(np.int64)
        words = [word for word in words if word != _BETWEEN]
        columns = np.fromiter(map(self.columns.__getitem__, words), dtype=np.int64, count=len(words))
        columns = np.where(columns == -1, _UNKNOWN, columns)
        lengths = np.bincount(text, minlength=len(texts))
        if self.cleaning.common:
            told = self._languages(words, text, len(texts))
            spoken = np.flatnonzero(told >= 0)
            text = np.concatenate((text, spoken))
            columns = np.concatenate((columns, told[spoken] - len(self.cleaning.common)))
        return text, columns, lengths.astype(np.int64)

    def _languages(self, words: Sequence[str], text: Ints, texts: int) -> Ints:
        """The language with the most common words in each text, −1 where there is none."""
        counts = np.stack([
            np.bincount(text, np.fromiter(map(common.__contains__, words), dtype=np.float64, count=len(words)), texts)
            for common in self.cleaning.common.values()
        ])  # fmt: skip
        return np.where(counts.max(axis=0) > 0, counts.argmax(axis=0), -1)


#: A word without a column.
_UNKNOWN = np.iinfo(np.int64).min


def _counted(rows: Ints, columns: Ints, shape: tuple[int, int]) -> csr_matrix:
    counts = csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
    counts.sum_duplicates()
    return counts


def document_frequencies(counts: csr_matrix) -> Ints:
    """In how many texts each word occurs."""
    return np.bincount(counts.indices[counts.data > 0.0], minlength=counts.shape[1])


def inverse_frequencies(df: Ints, texts: int) -> Floats:
    """How rare each word is among so many texts: ln((1 + n) / (1 + df)) + 1, as scikit-learn's TF-IDF has it; 0 for one that none has."""
    return np.where(df > 0, np.log((1.0 + texts) / (1.0 + df)) + 1.0, 0.0)


def tf_idf(counts: csr_matrix, idf: Floats) -> csr_matrix:
    """Counts times inverse frequencies, each text of length one; a text without known words stays empty."""
    return _of_length_one(counts, counts.data * idf[counts.indices])


def tf_idf_left_out(counts: csr_matrix, min_df: int) -> csr_matrix:
    """Each text as it would look to a vocabulary of all the others: words that too few of those have are unknown.

    A text that is its words' own witness keeps more of them than a new one does, and its scores say nothing of new ones.
    """
    others = document_frequencies(counts) - 1
    idf = np.where(others >= min_df, inverse_frequencies(others, counts.shape[0] - 1), 0.0)
    return tf_idf(counts, idf)


def _of_length_one(counts: csr_matrix, values: Any) -> csr_matrix:
    weighed = counts.copy()
    squares = np.add.reduceat(np.append(values.astype(np.float64) ** 2, 0.0), counts.indptr[:-1])
    # Empty texts, and texts of words that no training text has.
    squares[(np.diff(counts.indptr) == 0) | (squares == 0.0)] = 1.0
    weighed.data = (values / np.repeat(np.sqrt(squares), np.diff(counts.indptr))).astype(np.float32)
    return weighed


def in_blocks(texts: Iterable[Any], size: int = BLOCK) -> Iterable[list[str]]:
    """Texts in lists of `size`; what is missing is an empty text."""
    if not isinstance(texts, Iterable):
        raise InputError(f"texts is {texts!r}, expected a list of texts.")
    one_by_one = iter(texts)
    while block := [as_text(text) for text in itertools.islice(one_by_one, size)]:
        yield block


def as_text(value: Any) -> str:
    """A text, or an empty one for what is missing."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    raise InputError(f"A text is {value!r}, expected a string.")
