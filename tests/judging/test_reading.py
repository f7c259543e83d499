from hypothesis import given
from hypothesis import strategies as st

from apps.judging.selectors.reading import PairPlace, Paragraph, groups, paragraphs, passage


def names(*places, seed=7, who=1):
    return groups([PairPlace(*place) for place in places], seed=seed, who=who)


def test_the_pairs_of_a_query_are_adjacent():
    found = names((1, 10, 100, 1), (2, 10, 101, 1), (3, 11, 100, 1))

    assert found[1] == found[2] != found[3]


def test_a_check_is_placed_among_the_pairs_of_its_query():
    found = names((1, 10, 100, 1), (2, 10, 101, 0))

    assert found[1] == found[2]


def test_a_pair_is_never_next_to_its_repetition():
    found = names((1, 10, 100, 1), (2, 10, 100, 0), (3, 10, 100, 2), (4, 10, 100, 3))

    assert len(set(found.values())) == 4


def test_a_repeated_pair_is_far_from_its_first_position():
    before = names((1, 10, 100, 1), (2, 10, 101, 1))
    later = names((3, 10, 100, 2))

    assert later[3] not in before.values()


def test_the_names_reveal_nothing_and_are_the_same_every_time():
    assert names((1, 10, 100, 1)) == names((1, 10, 100, 1))
    assert names((1, 10, 100, 1)) != names((1, 10, 100, 1), who=2)
    assert names() == {}


def test_a_text_is_cut_at_blank_lines():
    assert paragraphs("One.\nStill one.\n\nTwo.\n \n\nThree.\n") == [
        Paragraph(0, "One.\nStill one."),
        Paragraph(17, "Two."),
        Paragraph(25, "Three.\n"),
    ]


@given(st.text(alphabet="ab \n\té😀", max_size=60))
def test_every_paragraph_has_correct_offsets(text):
    parts = paragraphs(text)

    assert all(text[part.start : part.end] == part.text for part in parts)
    assert "".join("".join(part.text.split()) for part in parts) == "".join(text.split())


def test_the_paragraph_with_the_rarest_shared_words_comes_first():
    text = "\n\n".join(["All about backups.", "Backups leave encrypted with a cipher.", "More backups."])

    assert passage(text, "Which cipher are backups encrypted with?").best == 1


def test_the_paragraph_is_found_in_a_script_without_blanks_too():
    text = "\n\n".join(["鍵は毎年交換されます。", "バックアップは一日に二回作成されます。", "記録は保存されます。"])

    assert passage(text, "バックアップの回数は？").best == 1


def test_a_short_text_is_shown_whole():
    found = passage("a\n\nb\n\nc", "nothing in common")

    assert (found.before, found.after, found.best) == (0, 0, 0)


def test_a_long_text_is_opened_at_its_best_paragraph():
    text = "\n\n".join([f"filler {n}" for n in range(6)] + ["the cipher"] + [f"filler {n}" for n in range(6)])

    found = passage(text, "cipher")

    assert (found.best, found.before, found.after) == (6, 6, 3)


def test_an_empty_text_has_no_paragraphs():
    found = passage("", "cipher")

    assert (found.paragraphs, found.best, found.before, found.after) == ([], 0, 0, 0)


def test_the_focus_of_a_short_paragraph_is_all_of_it():
    found = passage("One.\n\nThe cipher. And more.", "cipher")

    assert found.focus == (6, 27)


def test_a_long_paragraph_is_read_from_its_best_sentence_on():
    before = "Nothing of use stands here at all. " * 30
    text = f"{before}The cipher is AES. It is used for every copy. " + "The rest is about doors and badges. " * 30

    start, end = passage(text, "Which cipher?").focus

    assert text[start:].startswith("The cipher is AES.")
    assert text[start:end].endswith("badges.")
    assert end - start < 250


def test_few_but_long_paragraphs_are_opened_at_the_best():
    text = "\n\n".join(["filler " * 300, "the cipher " * 20, "more " * 300])

    found = passage(text, "cipher")

    assert (found.before, found.after) == (1, 0)


@given(st.text(alphabet="ab. \n\t!é😀。", max_size=60), st.integers(1, 40))
def test_the_focus_is_in_the_best_paragraph(text, times):
    found = passage(text * times, "ab")
    if found.focus is None:
        assert not found.paragraphs
        return
    start, end = found.focus
    part = found.paragraphs[found.best]

    assert part.start <= start < end <= part.end
    assert (text * times)[start:end].strip()
