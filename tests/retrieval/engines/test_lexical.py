"""Values worked by hand, an oracle for larger cases, and the rules every engine keeps."""

import sys
from math import log, sqrt
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from apps.retrieval.core.engines import postings
from apps.retrieval.core.engines.registry import make

PLAIN = {"stop_words": "none", "stemmer": "none"}
KEYS = ["red key", "red red door", "green"]


def ranked(name, blocks, query, k=10, **params):
    engine = make(name, {**PLAIN, **params})
    positions, scores = engine.search(engine.index(blocks), [query], k).of(0)
    return list(zip(positions.tolist(), scores.tolist(), strict=True))


def test_bm25_gives_the_values_worked_by_hand():
    # Lengths 2, 3, 1, average 2. "red" is in 2 of 3 blocks, "door" in 1.
    red, door = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
    longer = 1.2 * (0.25 + 0.75 * 3 / 2)

    found = ranked("bm25", KEYS, "red door", k1=1.2, b=0.75)

    assert [position for position, _ in found] == [1, 0]
    assert found[0][1] == pytest.approx(red * 2 / (2 + longer) + door * 1 / (1 + longer), abs=1e-15)
    assert found[1][1] == pytest.approx(red * 1 / (1 + 1.2), abs=1e-15)


def test_bm25_counts_a_repeated_query_word_each_time():
    once, twice = ranked("bm25", KEYS, "red"), ranked("bm25", KEYS, "red red")

    assert twice == [(position, 2 * score) for position, score in once]


def test_tfidf_gives_the_values_worked_by_hand():
    # Smoothed idf over 3 blocks: in two of them ln(4/3) + 1, in one ln(4/2) + 1.
    red, rare = log(4 / 3) + 1, log(2) + 1
    damped = (1 + log(2)) * red

    found = ranked("tfidf", KEYS, "red")

    assert [position for position, _ in found] == [1, 0]
    assert found[0][1] == pytest.approx(damped / sqrt(damped**2 + rare**2), abs=1e-15)
    assert found[1][1] == pytest.approx(red / sqrt(red**2 + rare**2), abs=1e-15)


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
def test_japanese_and_chinese_are_found(name):
    blocks = ["バックアップは一日に二回作成されます。", "根密钥至少每十二个月轮换一次。", "The red key."]

    assert [position for position, _ in ranked(name, blocks, "バックアップの回数")] == [0]
    assert [position for position, _ in ranked(name, blocks, "密钥多久轮换")] == [1]
    assert ranked(name, blocks, "バックアップの回数", tokenizer="words") == []


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
def test_ties_are_in_descending_position(name):
    found = ranked(name, ["same words", "other", "same words", "same words"], "same")

    assert [position for position, _ in found] == [3, 2, 0]
    assert len({score for _, score in found}) == 1


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
def test_the_cut_at_k_falls_by_the_same_rule(name):
    found = ranked(name, ["same words"] * 5000, "same", k=7)

    assert [position for position, _ in found] == list(range(4999, 4992, -1))


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
@pytest.mark.parametrize("query", ["", "   ", "unknown", "…"])
def test_a_query_without_a_known_word_finds_nothing(name, query):
    assert ranked(name, KEYS, query) == []


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
def test_unknown_words_do_not_change_the_order(name):
    plain, noisy = ranked(name, KEYS, "red door"), ranked(name, KEYS, "red door zebra")

    assert noisy == plain


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
def test_blocks_without_a_match_are_not_returned_however_deep(name):
    assert len(ranked(name, KEYS, "green", k=1000)) == 1


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
@pytest.mark.parametrize("blocks", [[], [""], ["", "...", ""]])
def test_a_corpus_without_words_answers_nothing(name, blocks):
    assert ranked(name, blocks, "red") == []


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
def test_no_queries_give_an_empty_answer(name):
    engine = make(name)

    found = engine.search(engine.index(KEYS), [], 10)

    assert found.offsets.tolist() == [0]
    assert len(found.positions) == len(found.scores) == len(found.seconds) == 0


def test_k_below_one_is_refused():
    engine = make("bm25")

    with pytest.raises(ValueError, match="k must be 1 or more"):
        engine.search(engine.index(KEYS), ["red"], 0)


def test_every_query_is_timed():
    engine = make("bm25")

    found = engine.search(engine.index(KEYS), ["red", "", "door"], 5)

    assert found.seconds.shape == (3,)
    assert (found.seconds > 0).all()


@pytest.fixture(scope="module")
def crowd():
    random = np.random.default_rng(7)
    words = np.array([f"w{number}" for number in range(400)])
    share = 1 / np.arange(1, 401)
    share /= share.sum()
    blocks = [" ".join(random.choice(words, random.integers(3, 60), p=share)) for _ in range(3000)]
    queries = [" ".join(random.choice(words, random.integers(1, 6), p=share)) for _ in range(60)]
    return blocks, queries


def test_bm25_agrees_with_bm25s(crowd):
    blocks, queries = crowd
    engine = make("bm25", {**PLAIN, "k1": 1.5, "b": 0.75})
    reference = bm25s.BM25(k1=1.5, b=0.75, method="lucene", dtype="float64")
    reference.index([block.split() for block in blocks], show_progress=False)

    found = engine.search(engine.index(blocks), queries, 50)

    for number, query in enumerate(queries):
        expected = reference.get_scores(query.split())
        positions, scores = found.of(number)
        np.testing.assert_allclose(scores, expected[positions], rtol=1e-12)
        np.testing.assert_allclose(scores, np.sort(expected)[::-1][: len(scores)], rtol=1e-12)


@pytest.mark.parametrize("sublinear", [True, False])
def test_tfidf_agrees_with_scikit_learn(crowd, sublinear):
    blocks, queries = crowd
    engine = make("tfidf", {**PLAIN, "sublinear": sublinear})
    reference = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=sublinear)
    matrix = reference.fit_transform(blocks)
    expected = (reference.transform(queries) @ matrix.T).toarray()

    found = engine.search(engine.index(blocks), queries, 50)

    for number in range(len(queries)):
        positions, scores = found.of(number)
        np.testing.assert_allclose(scores, expected[number][positions], rtol=1e-12)


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
@pytest.mark.parametrize("k", [1, 10, 300, 2999, 5000])
def test_the_best_k_are_the_first_k_of_the_whole_order(crowd, name, k):
    blocks, queries = crowd
    engine = make(name, PLAIN)
    handle = engine.index(blocks)

    whole, cut = engine.search(handle, queries, len(blocks)), engine.search(handle, queries, k)

    for number in range(len(queries)):
        positions, scores = whole.of(number)
        order = np.lexsort((-positions, -scores))
        assert order.tolist() == list(range(len(positions)))
        assert cut.of(number)[0].tolist() == positions[:k].tolist()
        assert cut.of(number)[1].tolist() == scores[:k].tolist()


words = st.lists(st.sampled_from(["key", "keys", "door", "the", "ключ", "東京", "x1"]), max_size=8).map(" ".join)


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
@settings(max_examples=40, deadline=None)
@given(blocks=st.lists(words, max_size=12), queries=st.lists(words, max_size=4), k=st.integers(1, 15))
def test_a_saved_index_answers_bit_for_bit_as_the_fresh_one(name, blocks, queries, k, tmp_path_factory):
    engine = make(name)
    folder = tmp_path_factory.mktemp("index")
    handle = engine.index(blocks)

    engine.build(blocks, folder)
    again = engine.load(folder)

    fresh, stored = engine.search(handle, queries, k), engine.search(again, queries, k)
    assert fresh.offsets.tolist() == stored.offsets.tolist()
    assert fresh.positions.tobytes() == stored.positions.tobytes()
    assert fresh.scores.tobytes() == stored.scores.tobytes()
    assert np.isfinite(stored.scores).all()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("kept", "stays"), [(0, False), (1 << 30, True)])
def test_what_was_read_of_an_index_is_given_back(kept, stays, tmp_path, monkeypatch):
    monkeypatch.setattr(postings, "KEPT_BYTES", kept)
    engine = make("bm25", PLAIN)
    engine.build([f"red door {number % 7}" for number in range(20_000)], tmp_path)
    handle = engine.load(tmp_path)

    first, second = (engine.search(handle, ["red door"], 5).scores.tobytes() for _ in range(2))

    assert first == second
    assert (resident(tmp_path / "weights.npy") > 200) is stays


def resident(path: Path) -> int:
    """KiB of a mapped file that are in the memory of this process."""
    inside, size = False, 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name = line.split()[0]
        if not name.endswith(":"):
            inside = line.endswith(str(path))
        elif inside and name == "Rss:":
            size += int(line.split()[1])
    return size
