"""Where the words of returned passages are."""

from itertools import groupby, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.metrics.by_text import index as index_module
from apps.metrics.by_text.index import (
    MOST_PLACES,
    RUN,
    STEP,
    IndexedBlock,
    TextIndexer,
    index_of,
    tokens_of,
    word_numbers,
    word_places,
)
from tests.metrics.by_text.corpora import blocks_of, made_up

RULES = [
    "At the tap at least 0.2 mg of free chlorine must be left in each litre, and never more than 0.5 mg.",
    "In zones that drink from the Marl well the lower limit is 0.3 mg, because that water is warmer.",
    "Each supply zone has four sampling points: two near the works and two at the far ends of the longest mains.",
]


def index(*documents):
    return index_of(blocks_of(documents))


def rows(located):
    """(passage, block, first, last, place) of each run."""
    columns = (located.passage, located.block, located.first, located.last, located.place)
    return [tuple(int(value) for value in row) for row in zip(*columns, strict=True)]


def test_a_block_that_is_returned_is_found_as_a_whole():
    sizes = [len(tokens_of(text)) for text in RULES]

    located = index(RULES).locate(RULES)

    assert rows(located) == [(number, number, 0, size, 0) for number, size in enumerate(sizes)]
    assert located.words.tolist() == located.found.tolist() == sizes


@pytest.mark.parametrize(
    "written",
    [RULES[0].upper(), RULES[0].replace(" ", "\n  "), RULES[0].replace("chlorine", "_chlorine_"), f"**{RULES[0]}**"],
)
def test_capitals_blanks_and_marks_make_no_difference(written):
    located = index(RULES).locate([written])

    assert rows(located) == [(0, 0, 0, len(tokens_of(RULES[0])), 0)]


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        ("The microorganisms were counted again.", "The micro\u00adorga\u00adnisms were counted\u200b again."),
        ("كتب الولد الدرس في البيت", "كَتَبَ الوَلَدُ الدَّرْسَ فِي البَيـْتِ"),
        ("שלום לכל הילדים בגן", "שָׁלוֹם לְכָל הַיְלָדִים בַּגַּן"),
    ],
)
def test_marks_that_a_word_may_lack_make_no_difference(plain, marked):
    for block, passage in ((plain, marked), (marked, plain)):
        located = index([block]).locate([passage])

        assert rows(located) == [(0, 0, 0, len(plain.split()), 0)]
        assert len(word_places(passage)) == len(plain.split())


def test_a_passage_over_two_blocks_holds_the_end_of_one_and_the_beginning_of_the_other():
    first, second = tokens_of(RULES[0]), tokens_of(RULES[1])

    located = index(RULES).locate([" ".join([*first[10:], "Heading", "of", "the", "next", *second[:8]])])

    assert rows(located) == [(0, 0, 10, len(first), 0), (0, 1, 0, 8, len(first) - 10 + 4)]


def test_a_passage_over_blocks_without_a_heading_between_them_loses_no_word_at_their_ends():
    sizes = [len(tokens_of(text)) for text in RULES]
    words = tokens_of(" ".join([RULES[0], "Yes.", *RULES[1:]]))

    located = index([RULES[0], "Yes.", *RULES[1:]]).locate(
        [" ".join(words[sizes[0] - 2 : sizes[0] + 1 + sizes[1] + 1])]
    )

    assert [row[1:4] for row in rows(located)] == [(0, sizes[0] - 2, sizes[0]), (1, 0, 1), (2, 0, sizes[1]), (3, 0, 1)]


def test_a_passage_that_is_cut_within_words_is_found_all_the_same():
    located = index(RULES).locate([RULES[2][2:-3]])

    assert located.is_located.tolist() == [True]
    assert rows(located) == [(0, 2, 1, len(tokens_of(RULES[2])) - 1, 1)]


def test_a_word_that_differs_is_not_held_and_those_around_it_are():
    words = tokens_of(RULES[2])
    written = [*words[:6], "sampel", *words[7:]]

    located = index(RULES).locate([" ".join(written)])

    assert [(first, last) for _, _, first, last, _ in rows(located)] == [(0, 6), (7, len(words))]


def test_a_text_counts_at_every_place_that_holds_it_whole():
    located = index([RULES[0], RULES[1]], [RULES[0], RULES[2]]).locate([RULES[0]])

    assert located.block.tolist() == [0, 2]


def test_of_a_text_that_one_document_holds_whole_a_part_in_another_does_not_count():
    located = index([RULES[0], RULES[1]], [RULES[0], RULES[2]]).locate([f"{RULES[0]} {RULES[1]}"])

    assert located.block.tolist() == [0, 1]


def test_a_block_whose_words_stand_inside_a_longer_one_is_not_found_with_it():
    heading = "sampling points: two near the works"

    located = index([RULES[2], heading]).locate([RULES[2], heading])

    assert located.block.tolist() == [0, 0, 1]


def test_a_block_of_few_words_is_found_when_it_is_all_that_is_returned():
    located = index(["Yes", "Not applicable", RULES[0]]).locate(["yes", "NOT applicable.", "no"])

    assert rows(located) == [(0, 0, 0, 1, 0), (1, 1, 0, 2, 0)]
    assert located.is_located.tolist() == [True, True, False]


@pytest.mark.parametrize("text", ["", "  ", "!?", "nothing of this is anywhere in these three rules at all"])
def test_what_is_nowhere_is_not_located(text):
    located = index(RULES).locate([text])

    assert (rows(located), located.is_located.tolist()) == ([], [False])


def test_nothing_is_located_in_an_empty_corpus_and_no_text_anywhere():
    assert index().locate(RULES).is_located.tolist() == [False] * 3
    assert rows(index(RULES).locate([])) == []


def test_text_without_blanks_is_found_by_pairs_of_characters():
    blocks = [
        "自由塩素は水栓で一リットルあたり少なくとも零点二ミリグラム残さなければならない。",
        "別の文書の別の規則です。",
    ]

    located = index(blocks).locate([blocks[0][4:-6]])

    assert located.block.tolist() == [0]
    assert located.is_located.all()


def test_a_sequence_that_is_everywhere_does_not_hide_the_block_that_it_is_in():
    common = "in accordance with the rules of this handbook as amended from time to time"
    documents = [[common, f"{common} for part number {number} only"] for number in range(60)]

    located = index(*documents).locate([f"{common} for part number 41 only", common])

    assert located.block[located.passage == 0].tolist() == [83]
    assert located.block[located.passage == 1].tolist() == list(range(120))


def test_an_index_on_disk_is_as_one_in_memory(tmp_path):
    blocks = blocks_of(made_up(3, 20, 5, 40))
    order = np.arange(len(blocks)), np.array([block.document for block in blocks])
    indexer = TextIndexer(lambda: order)

    indexer.build([block.text for block in blocks], tmp_path)

    texts = [block.text for block in blocks]
    assert rows(indexer.load(tmp_path).locate(texts)) == rows(index_of(blocks).locate(texts))


def test_the_place_of_marked_words_in_a_block():
    rules = index(RULES)

    assert rules.place_in(1, "the lower limit is 0.3 mg") == (8, 15)
    assert rules.place_in(1, "the higher limit") is None
    assert rules.place_in(1, "") is None
    assert rules.place_in(7, "the lower limit") is None


def by_hand(texts, passage):
    """Every run of RUN words or more that the passage has in common with the texts one after the other, cut where a
    text ends: (block, first, last, place).
    """
    owners = [(block, word, place) for block, text in enumerate(texts) for place, word in enumerate(tokens_of(text))]
    words, wanted = [word for _, word, _ in owners], tokens_of(passage)
    runs = set()
    for place, first in product(range(len(wanted)), range(len(words))):
        size = 0
        while place + size < len(wanted) and first + size < len(words) and wanted[place + size] == words[first + size]:
            size += 1
        is_begun = place and first and wanted[place - 1] == words[first - 1]
        if size >= RUN and not is_begun:
            runs.add((place, size, first))
    spans = {(place, place + size) for place, size, _ in runs}
    inside = {one for one in spans if any(a <= one[0] and one[1] <= b and (a, b) != one for a, b in spans)}
    found = []
    for place, size, first in runs:
        if (place, place + size) not in inside:
            for block, some in groupby(range(first, first + size), key=lambda at: owners[at][0]):
                held = list(some)
                found.append((block, owners[held[0]][2], owners[held[-1]][2] + 1, place + held[0] - first))
    return sorted(found)


words = st.integers(0, 6).map("w{}".format)
blocks_of_words = st.lists(st.lists(words, min_size=RUN + STEP - 1, max_size=18), min_size=1, max_size=2)


@given(blocks_of_words, st.lists(words, max_size=12), st.lists(words, max_size=12), st.data())
@settings(max_examples=150)
def test_every_run_of_a_document_is_found_and_no_other(blocks, before, after, data):
    """Few different words, so that runs are many, cross and repeat: no sequence is in a document more often than RARE
    allows. The passage has RUN + STEP - 1 words of a block, by which the document is found.
    """
    block = data.draw(st.sampled_from(blocks))
    first = data.draw(st.integers(0, len(block) - (RUN + STEP - 1)))
    passage = " ".join([*before, *block[first : first + RUN + STEP - 1], *after])
    texts = [" ".join(block) for block in blocks]

    located = index_of(IndexedBlock(number, 0, text) for number, text in enumerate(texts)).locate([passage])

    assert sorted(row[1:] for row in rows(located)) == by_hand(texts, passage)


@given(st.lists(st.text(max_size=30) | st.just("half a \ud83d pair"), max_size=6))
@settings(max_examples=200)
def test_words_have_one_number_whatever_text_they_stand_in(texts):
    numbers, counts = word_numbers(texts)

    tokens = [tokens_of(text) for text in texts]
    assert counts.tolist() == [len(one) for one in tokens]
    alone = {token: word_numbers([token])[0].tolist() for one in tokens for token in one}
    assert [[number] for number in numbers.tolist()] == [alone[token] for one in tokens for token in one]
    assert len({number for (number,) in alone.values()}) == len(alone)


def test_a_text_with_more_copies_than_are_looked_up_is_located_at_the_first():
    located = index_of(IndexedBlock(number, number, RULES[0]) for number in range(MOST_PLACES + 50)).locate([RULES[0]])

    assert located.is_located.tolist() == [True]
    assert located.block.tolist() == list(range(MOST_PLACES))


def test_texts_that_are_everywhere_are_compared_some_at_a_time(monkeypatch):
    """Each passage of ten meets forty documents of the same hundred words."""
    monkeypatch.setattr(index_module, "MOST_CELLS", 500)
    words = " ".join(f"w{number}" for number in range(100))
    blocks = [IndexedBlock(number, number, f"{words} own{number}") for number in range(40)]
    whole = index_of(blocks)

    located = whole.locate([f"{words} own{number}" for number in range(10)])

    assert located.block.tolist() == list(range(10))
    assert (located.last - located.first).tolist() == [101] * 10


def test_one_word_again_and_again_is_located_in_what_is_like_it():
    located = index_of([IndexedBlock(0, 0, "la " * 3_000), IndexedBlock(1, 1, RULES[0])]).locate(["la " * 2_000])

    assert located.is_located.tolist() == [True]
    assert set(located.block.tolist()) == {0}
