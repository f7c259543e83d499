import numpy as np
import pytest

from apps.retrieval.core.engines.dense import _matrix
from apps.retrieval.core.engines.registry import make

THEMES = [["ship", "sea", "harbour", "sail"], ["bread", "oven", "flour", "yeast"], ["court", "judge", "law", "plea"]]


@pytest.fixture(scope="module")
def blocks():
    """Texts of one theme each, with words of none."""
    draw = np.random.default_rng(11)
    rare = [f"rare{number}" for number in range(40)]
    return [" ".join([*draw.choice(THEMES[n % 3], 4), *draw.choice(rare, 2)]) for n in range(120)]


def test_a_topic_is_retrieved_without_a_word_in_common(blocks):
    sea = [n for n in range(0, 120, 3) if "harbour" not in blocks[n].split()]
    engine = make("lsa", {"dimensions": 3})

    positions, _ = engine.search(engine.index(blocks), ["harbour"], 40).of(0)

    assert set(positions.tolist()) & set(sea)
    assert {place % 3 for place in positions.tolist()} == {0}


@pytest.mark.parametrize("dimensions", [2, 3, 60])
def test_scores_are_those_of_a_whole_decomposition(blocks, dimensions):
    # Where directions are nearly as strong as each other, which of them is kept is a matter of rounds: not asked here.
    engine = make("lsa", {"dimensions": dimensions})
    matrix = _matrix(engine.weights.index(blocks)).toarray()
    right = np.linalg.svd(matrix)[2][:dimensions].T
    query = engine.weights.index(blocks).vocabulary["sail"]
    rows, asked = matrix @ right, right[query]
    expected = rows @ asked / (np.linalg.norm(rows, axis=1) * np.linalg.norm(asked))

    positions, scores = engine.search(engine.index(blocks), ["sail"], 30).of(0)

    np.testing.assert_allclose(scores, expected[positions], atol=2e-4)
    np.testing.assert_allclose(scores, np.sort(expected)[::-1][:30], atol=2e-4)


def test_the_same_blocks_give_the_same_bits(blocks):
    engine = make("lsa", {"dimensions": 10})

    assert engine.index(blocks).vectors.tobytes() == engine.index(blocks).vectors.tobytes()


def test_equal_texts_tie_in_descending_position(blocks):
    engine = make("lsa", {"dimensions": 5})
    doubled = [*blocks, blocks[0], blocks[0]]

    positions, scores = engine.search(engine.index(doubled), [blocks[0]], 3).of(0)

    assert positions.tolist() == [121, 120, 0]
    assert len(set(scores.tolist())) == 1


def test_a_saved_space_answers_bit_for_bit(blocks, tmp_path):
    engine = make("lsa", {"dimensions": 8})
    handle = engine.index(blocks)

    engine.build(blocks, tmp_path)
    again = engine.search(engine.load(tmp_path), blocks[:5], 20)

    fresh = engine.search(handle, blocks[:5], 20)
    assert [part.tobytes() for part in fresh[:3]] == [part.tobytes() for part in again[:3]]


@pytest.mark.parametrize("blocks", [[], [""], ["", "..."], ["one"], ["one two", "three"]])
def test_a_corpus_with_less_than_its_dimensions_is_searched_all_the_same(blocks):
    engine = make("lsa", {"dimensions": 100})

    positions, _ = engine.search(engine.index(blocks), ["one"], 5).of(0)

    assert positions.tolist() == [n for n, text in enumerate(blocks) if "one" in text]


@pytest.mark.parametrize("query", ["", "unknown", "…"])
def test_a_query_without_a_known_word_finds_nothing(blocks, query):
    engine = make("lsa", {"dimensions": 5})

    assert engine.search(engine.index(blocks), [query], 5).offsets.tolist() == [0, 0]
