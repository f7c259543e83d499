"""Postings built in parts on disk are those of one straightforward pass in memory, bit by bit."""

from collections import Counter

import numpy as np
import pytest

from apps.retrieval.core.engines import building
from apps.retrieval.core.engines.registry import make

PLAIN = {"stop_words": "none", "stemmer": "none"}
DRAW = np.random.default_rng(3)
WORDS = [f"w{n}" for n in range(60)]
BLOCKS = [" ".join(DRAW.choice(WORDS[: 5 + n // 2], DRAW.integers(0, 12))) for n in range(90)]
"""Later blocks have words that earlier ones do not know; some blocks are empty."""


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(building, "_BLOCKS_AT_ONCE", 7)
    monkeypatch.setattr(building, "_POSTINGS_AT_ONCE", 11)


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def straightforward(weights_of):
    """The postings of BLOCKS: `weights_of(counts, terms, holders, lengths)` gives those of one block, by term."""
    counts = [Counter(block.split()) for block in BLOCKS]
    vocabulary = {word: n for n, word in enumerate(dict.fromkeys(word for block in BLOCKS for word in block.split()))}
    holders = np.array([sum(word in count for count in counts) for word in vocabulary])
    lengths = np.array([count.total() for count in counts])
    lists = {number: [] for number in vocabulary.values()}
    for place, count in enumerate(counts):
        terms = np.array(sorted(vocabulary[word] for word in count), dtype=np.int64)
        by_number = {vocabulary[word]: n for word, n in count.items()}
        times = np.array([by_number[term] for term in terms.tolist()], dtype=np.float64)
        for term, weight in zip(terms.tolist(), weights_of(times, terms, holders, lengths, place), strict=True):
            lists[term].append((place, weight))
    return vocabulary, [entry for number in sorted(lists) for entry in lists[number]]


def bm25_weights(times, terms, holders, lengths, place):
    idf = np.log1p((len(BLOCKS) - holders + 0.5) / (holders + 0.5))
    saturation = 0.9 * (1 - 0.4 + 0.4 * lengths / lengths.mean())
    return idf[terms] * times / (times + saturation[place])


def tfidf_weights(times, terms, holders, lengths, place):
    idf = np.log((1 + len(BLOCKS)) / (1 + holders)) + 1
    raw = times * idf[terms]
    return raw / np.sqrt(np.bincount(np.zeros(len(raw), dtype=int), weights=raw**2, minlength=1))[0]


@pytest.mark.parametrize(
    ("engine", "weights_of"),
    [(make("bm25", PLAIN), bm25_weights), (make("tfidf", {**PLAIN, "sublinear": False}), tfidf_weights)],
    ids=["bm25", "tfidf"],
)
def test_positions_and_weights_are_those_of_one_pass_in_memory(engine, weights_of, small_parts):
    built = engine.index(BLOCKS)

    vocabulary, entries = straightforward(weights_of)

    assert built.vocabulary == vocabulary
    assert built.blocks == len(BLOCKS)
    assert built.positions.whole.tolist() == [place for place, _ in entries]
    assert built.weights.whole.tolist() == [weight for _, weight in entries]


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
def test_the_files_do_not_depend_on_the_size_of_the_parts(name, tmp_path, monkeypatch):
    (tmp_path / "whole").mkdir()
    make(name).build(BLOCKS, tmp_path / "whole")
    monkeypatch.setattr(building, "_BLOCKS_AT_ONCE", 7)
    monkeypatch.setattr(building, "_POSTINGS_AT_ONCE", 11)

    (tmp_path / "parts").mkdir()
    make(name).build(BLOCKS, tmp_path / "parts")

    assert files_of(tmp_path / "parts") == files_of(tmp_path / "whole")


def test_the_files_are_those_that_numpy_writes_in_one_piece(tmp_path, small_parts):
    (tmp_path / "built").mkdir()
    engine = make("bm25")
    engine.build(BLOCKS, tmp_path / "built")
    loaded = engine.load(tmp_path / "built")

    arrays = {
        "positions": loaded.positions.whole,
        "weights": loaded.weights.whole,
        "indptr": loaded.indptr,
        "boost": loaded.boost,
    }
    for name, values in arrays.items():
        np.save(tmp_path / f"{name}.npy", np.array(values))

        assert (tmp_path / f"{name}.npy").read_bytes() == (tmp_path / "built" / f"{name}.npy").read_bytes()


def test_a_term_in_more_blocks_than_are_gathered_at_once_keeps_them_in_order(small_parts):
    built = make("bm25", PLAIN).index(["same"] * 40)

    assert built.positions.whole.tolist() == list(range(40))
    assert len(set(built.weights.whole.tolist())) == 1


def test_nothing_but_the_index_is_left_in_its_folder(tmp_path):
    make("bm25").build(BLOCKS, tmp_path)

    names = {"blocks.npy", "boost.npy", "indptr.npy", "positions.npy", "terms.txt", "weights.npy"}
    assert {path.name for path in tmp_path.iterdir()} == names
