"""Bag of words and TF-IDF of texts, counted in blocks."""

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

#: Separator of texts that are tokenised together; not a word.
_BETWEEN = "\0"

#: Stop words by which a language is recognised.
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
    """Tokenisation of texts, after Gubbels (2021).

    Parameters
    ----------
    min_letters
        Shorter words are dropped.
    min_words
        Texts with fewer words are left out (10 in the thesis).
    min_df
        Words in fewer training texts are dropped.
    languages
        Languages that become features of a text: names among de, en, es, fr, nl, or common words by name.
    stem
        A function of a word, or a language of the snowballstemmer package.
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
        """The regular expression of a word."""
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
                f"stem={self.stem!r} needs snowballstemmer; install it with: pip install snowballstemmer, or pass a "
                "function."
            ) from None
        stems = snowballstemmer.algorithms()
        if self.stem not in stems:
            raise InputError(
                f"stem={self.stem!r} is not known.{nearest(self.stem, stems)} There are: {', '.join(stems)}."
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
                    f"languages names {name!r}.{nearest(name, STOP_WORDS)} There are {', '.join(STOP_WORDS)}; give "
                    "others as a mapping from name to common words."
                )
        return {name: STOP_WORDS[name] for name in self.languages}


class _Columns(dict[str, int]):
    """The column of every word; a new word gets the next one while `growing`, afterwards none."""

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
    """Word counts of texts (a row per text), and the number of words of each text."""

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
        vocabulary = cls(cleaning, columns)
        parts = [vocabulary._entries(texts) for texts in blocks]
        width = len(columns.stems) + len(cleaning.common)
        lengths = np.concatenate([part[2] for part in parts]) if parts else np.zeros(0, dtype=np.int64)
        starts = np.cumsum([0, *(len(part[2]) for part in parts)])
        rows = np.concatenate([part[0] + start for part, start in zip(parts, starts, strict=False)] or [lengths])
        # Columns of languages follow those of the words, whose number is final only now.
        places = np.concatenate([part[1] for part in parts] or [lengths])
        places = np.where(places < 0, width + places, places)
        counts = _counted(rows, places, (len(lengths), width))
        used = np.bincount(counts.indices, minlength=width) >= cleaning.min_df
        # Languages are kept, however few texts have them.
        used[len(columns.stems) :] = True
        renumbered = np.where(used, np.cumsum(used) - 1, -1)
        for table in (columns, columns.stems):
            for word, column in list(table.items()):
                if used[column]:
                    table[word] = int(renumbered[column])
                else:
                    del table[word]
        columns.growing = False
        return vocabulary, Counted(counts[:, np.flatnonzero(used)], lengths)

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.columns.stems) + len(self.cleaning.common)

    def counted(self, texts: Sequence[str]) -> Counted:
        """The counts of other texts; words that the training texts lack have no column."""
        rows, places, lengths = self._entries(texts)
        kept = places != _UNKNOWN
        places = np.where(places < 0, self.size + places, places)
        return Counted(_counted(rows[kept], places[kept], (len(texts), self.size)), lengths)

    def _entries(self, texts: Sequence[str]) -> tuple[Ints, Ints, Ints]:
        """Text and column of every word, and each text's number of words; languages have columns from −1 downwards."""
        joined = _BETWEEN.join(text.replace(_BETWEEN, " ") for text in texts).lower()
        words = self.cleaning.pattern.findall(joined)
        is_between = np.fromiter(map(_BETWEEN.__eq__, words), dtype=np.bool_, count=len(words))
        text: Ints = np.cumsum(is_between)[~is_between].astype(np.int64)
        words = [word for word in words if word != _BETWEEN]
        columns = np.fromiter(map(self.columns.__getitem__, words), dtype=np.int64, count=len(words))
        columns = np.where(columns == -1, _UNKNOWN, columns)
        lengths = np.bincount(text, minlength=len(texts))
        if self.cleaning.common:
            language = self._languages(words, text, len(texts))
            recognised = np.flatnonzero(language >= 0)
            text = np.concatenate((text, recognised))
            columns = np.concatenate((columns, language[recognised] - len(self.cleaning.common)))
        return text, columns, lengths.astype(np.int64)

    def _languages(self, words: Sequence[str], text: Ints, texts: int) -> Ints:
        """The language with the most common words in each text, −1 where there is none."""
        counts = []
        for common in self.cleaning.common.values():
            is_common = np.fromiter(map(common.__contains__, words), dtype=np.float64, count=len(words))
            counts.append(np.bincount(text, is_common, texts))
        table = np.stack(counts)
        return np.where(table.max(axis=0) > 0, table.argmax(axis=0), -1)


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
    """Inverse document frequencies ln((1 + n) / (1 + df)) + 1, as scikit-learn's; 0 for words in no text."""
    return np.where(df > 0, np.log((1.0 + texts) / (1.0 + df)) + 1.0, 0.0)


def tf_idf(counts: csr_matrix, idf: Floats) -> csr_matrix:
    """Counts times inverse frequencies, each text normalised to length one; a text without known words stays empty."""
    return _normalised(counts, counts.data * idf[counts.indices])


def tf_idf_left_out(counts: csr_matrix, min_df: int) -> csr_matrix:
    """Leave-one-out TF-IDF: each text with the vocabulary and frequencies of all the others.

    With its own words in the vocabulary a text would keep more of them than a new text does, and its score would be
    biased.
    """
    others = document_frequencies(counts) - 1
    idf = np.where(others >= min_df, inverse_frequencies(others, counts.shape[0] - 1), 0.0)
    return tf_idf(counts, idf)


def _normalised(counts: csr_matrix, values: Any) -> csr_matrix:
    """Rows of `values` at the places of `counts`, each divided by its Euclidean length."""
    result = counts.copy()
    squares = np.add.reduceat(np.append(values.astype(np.float64) ** 2, 0.0), counts.indptr[:-1])
    # Empty texts, and texts whose words are in no training text.
    squares[(np.diff(counts.indptr) == 0) | (squares == 0.0)] = 1.0
    result.data = (values / np.repeat(np.sqrt(squares), np.diff(counts.indptr))).astype(np.float32)
    return result


def in_blocks(texts: Iterable[Any], size: int = BLOCK) -> Iterable[list[str]]:
    """Texts in lists of `size`; missing values are empty texts."""
    if not isinstance(texts, Iterable):
        raise InputError(f"texts is {texts!r}, expected a list of texts.")
    one_by_one = iter(texts)
    while block := [as_text(text) for text in itertools.islice(one_by_one, size)]:
        yield block


def as_text(value: Any) -> str:
    """A text; empty for a missing value."""
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    raise InputError(f"A text is {value!r}, expected a string.")
