"""Words and their weights, against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import tallymark as tm
from tallymark.rare.words import (
    Vocabulary,
    document_frequencies,
    in_blocks,
    inverse_frequencies,
    tf_idf,
    tf_idf_left_out,
)

TEXTS = ["The cat sat on the mat.", "A cat and another CAT!", "", "dogs, dogs; dogs", "un chat noir", "x y z"]
NEW = ["the noir cat", "unseen words only", "", "dogs"]


def ours(texts, new=(), size=10_000, **cleaning):
    vocabulary, counted = Vocabulary.of(in_blocks(texts, size), tm.rare.Cleaning(**({"min_df": 1} | cleaning)))
    return vocabulary, counted, vocabulary.counted(list(new))


def by_word(vocabulary, matrix, words):
    return matrix[:, [vocabulary.columns[word] for word in words]].toarray()


@pytest.mark.parametrize("min_df", [1, 2])
@pytest.mark.parametrize("letters", [1, 3])
def test_counts_and_weights_are_scikit_learns(letters, min_df):
    pattern = rf"\w{{{letters},}}"
    peer = CountVectorizer(token_pattern=pattern, min_df=min_df)
    wanted, new = peer.fit_transform(TEXTS).toarray(), peer.transform(NEW).toarray()
    words = peer.get_feature_names_out()
    vocabulary, counted, other = ours(TEXTS, NEW, min_letters=letters, min_df=min_df)
    assert vocabulary.size == len(words)
    assert (by_word(vocabulary, counted.counts, words) == wanted).all()
    assert (by_word(vocabulary, other.counts, words) == new).all()
    weighed = TfidfVectorizer(token_pattern=pattern, min_df=min_df).fit(TEXTS)
    idf = inverse_frequencies(document_frequencies(counted.counts), len(TEXTS))
    for texts, mine in ((TEXTS, counted), (NEW, other)):
        peer_weights = weighed.transform(texts).toarray()
        assert by_word(vocabulary, tf_idf(mine.counts, idf), words) == pytest.approx(peer_weights, abs=1e-6)


@given(st.lists(st.text(), max_size=20), st.integers(1, 7))
def test_blocks_change_nothing_and_any_text_is_read(texts, size):
    one, whole, _ = ours(texts)
    other, parts, _ = ours(texts, size=size)
    assert one.columns.stems == other.columns.stems
    assert (whole.counts != parts.counts).nnz == 0
    assert whole.lengths.tolist() == parts.lengths.tolist()
    assert np.asarray(whole.counts.sum(axis=1)).ravel().tolist() == whole.lengths.tolist()
    again = one.counted(texts)
    assert (again.counts != whole.counts).nnz == 0


def test_lengths_count_every_word_of_a_text():
    _, counted, other = ours(TEXTS, NEW)
    assert counted.lengths.tolist() == [5, 4, 0, 3, 2, 0]
    assert other.lengths.tolist() == [3, 3, 0, 1]
    assert np.diff(other.counts.indptr).tolist() == [3, 0, 0, 1]


def test_a_text_left_out_looks_as_a_new_one():
    texts = [*TEXTS, "cat noir", "the dogs sat"]
    _, counted, _ = ours(texts)
    left_out = tf_idf_left_out(counted.counts, 1)
    whole, _, _ = ours(texts)
    for place, text in enumerate(texts):
        rest = [other for row, other in enumerate(texts) if row != place]
        vocabulary, others, (alone) = ours(rest, [text])
        wanted = tf_idf(alone.counts, inverse_frequencies(document_frequencies(others.counts), len(rest)))
        for word, column in whole.columns.stems.items():
            known = vocabulary.columns.stems.get(word)
            assert left_out[place, column] == pytest.approx(0.0 if known is None else wanted[0, known], abs=1e-6)


def test_stems_share_a_column():
    vocabulary, counted, other = ours(["cats running", "cat runs"], ["catting"], stem=lambda word: word[:3])
    assert vocabulary.size == 2
    assert counted.counts.toarray().tolist() == [[1, 1], [1, 1]]
    assert other.counts.toarray().tolist() == [[1, 0]]


def test_a_language_is_a_column():
    texts = ["the cat and the dog", "het huis van een vriend", "zzz"]
    vocabulary, counted, other = ours(texts, ["niet voor een kind", "qqq"], languages=["en", "nl"])
    flags = counted.counts[:, -2:].toarray()
    assert flags.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert other.counts[:, -2:].toarray().tolist() == [[0, 1], [0, 0]]
    own, counted, _ = ours(texts, languages={"z": ["zzz"]})
    assert counted.counts[:, -1].toarray().ravel().tolist() == [0, 0, 1]
    assert own.size == vocabulary.size - 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"min_letters": 0}, "min_letters is 0"),
        ({"min_words": -1}, "min_words is -1"),
        ({"min_df": 1.5}, "min_df is 1.5"),
        ({"stem": "klingon"}, "stem='klingon'"),
    ],
)
def test_wrong_cleaning_is_named(options, told):
    with pytest.raises(tm.InputError, match=told):
        tm.rare.Cleaning(**options)


def test_unknown_languages_are_named():
    with pytest.raises(tm.InputError, match="'dutch'"):
        ours(TEXTS, languages=["dutch"])
    with pytest.raises(tm.InputError, match="expected a string"):
        ours(["fine", 3])
