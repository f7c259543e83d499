"""Documents are cut without losing a line, and an edit stays where it was made."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.corpus.core.cutting import Passage, passages_of, words_in
from apps.corpus.core.documents import EXAMPLES, Document, recipe_of
from apps.corpus.core.passage_ids import MOST_LETTERS, anchor_of, document_id

RECIPES = st.sampled_from([*EXAMPLES, "paragraphs:20", "paragraphs:20:10"])
WORDS = st.lists(
    st.sampled_from(["keys", "are", "rotated", "by", "Petra.", "Backups", "stay,"]), min_size=1, max_size=30
)
SENTENCES = WORDS.map(" ".join)
SHORT = WORDS.map(lambda words: " ".join(words[:15]))
"""Of fewer words than a passage may have, so that no sentence becomes a passage that another one equals."""


def document(text: str, path: str = "guide/keys.md", **values: object) -> Document:
    return Document(path=path, kind="markdown", title="", text=text, metadata={})._replace(**values)


def cut(text: str, recipe: str = "headings", **values: object) -> list[Passage]:
    return list(passages_of(document(text, **values), recipe_of(recipe)))


def ids(text: str, recipe: str = "headings", **values: object) -> list[str]:
    return [passage.passage_id for passage in cut(text, recipe, **values)]


fences = st.lists(st.sampled_from(["# no heading", "", "key: 1", "| a |"]), min_size=1).map(
    lambda lines: "```\n" + "\n".join(lines) + "\n```"
)
tables = st.integers(1, 30).map(
    lambda rows: "| a | b |\n| --- | --- |\n" + "\n".join(f"| {n} | x |" for n in range(rows))
)
lists = st.lists(SENTENCES, min_size=1, max_size=5).map(lambda items: "\n".join(f"- {item}" for item in items))
quotes = SENTENCES.map(lambda words: f"> {words}")
definitions = st.just("[keys]: https://example.org/keys")
blocks = st.one_of(SENTENCES, SENTENCES, fences, tables, lists, quotes, definitions)
headings = st.tuples(st.integers(1, 4), st.sampled_from(["Keys", "Backups", "Undo `it`", "Über uns", "?"])).map(
    lambda pair: "#" * pair[0] + " " + pair[1]
)
sections = st.tuples(headings, st.lists(blocks, max_size=5)).map(lambda pair: "\n\n".join([pair[0], *pair[1]]))
documents = st.tuples(st.lists(blocks, max_size=3), st.lists(sections, max_size=5)).map(
    lambda parts: "\n\n".join([*parts[0], *parts[1]]) + "\n"
)


def numbered(paragraphs: Sequence[str]) -> list[str]:
    return [f"Paragraph {number}: {words}" for number, words in enumerate(paragraphs)]


def is_heading(line: str) -> bool:
    return re.match(r"#{1,6} ", line) is not None


@given(documents, RECIPES)
def test_no_line_is_lost(text, recipe):
    kept = "\n".join(passage.text for passage in cut(text, recipe))
    words = " ".join(kept.split())

    for line in text.splitlines():
        assert is_heading(line) or " ".join(line.split()) in words or all(word in kept for word in line.split())


@given(documents, RECIPES)
def test_ids_are_unique_short_and_without_blanks(text, recipe):
    found = ids(text, recipe)

    assert len(set(found)) == len(found)
    assert all(len(name) <= MOST_LETTERS and name.isprintable() and " " not in name for name in found)


@given(st.lists(st.one_of(fences, tables), min_size=1, max_size=4), RECIPES)
def test_tables_and_code_are_never_cut(wholes, recipe):
    text = "# Title\n\n" + "\n\nSome words between them.\n\n".join(wholes)

    passages = cut(text, recipe)

    assert all(any(whole in passage.text for passage in passages) for whole in wholes)


@given(st.lists(sections, min_size=2, max_size=6), st.data(), st.sampled_from(["headings", "paragraphs:20:10"]))
def test_an_edit_inside_one_section_changes_only_that_sections_passages(parts, data, recipe):
    place = data.draw(st.integers(0, len(parts) - 1))
    heading = parts[place].split("\n", 1)[0]
    edited = [*parts[:place], f"{heading}\n\nQuite another text.", *parts[place + 1 :]]
    before, after = cut("\n\n".join(parts), recipe), cut("\n\n".join(edited), recipe)

    own = len(cut(parts[place], recipe)), len(cut(edited[place], recipe))
    first = len(cut("\n\n".join(parts[:place]), recipe)) if place else 0
    rest = len(before) - first - own[0]

    assert texts(before[:first]) == texts(after[:first])
    assert texts(before[len(before) - rest :]) == texts(after[len(after) - rest :])


def texts(passages: Sequence[Passage]) -> list[tuple[str, str]]:
    return [(passage.title, passage.text) for passage in passages]


@given(st.lists(SHORT, min_size=10, max_size=40).map(numbered), st.integers(0, 9))
def test_a_paragraph_that_is_added_renames_nothing_else(paragraphs, place):
    """A part that begins with the same words keeps its id; parts only come and go beside the new paragraph."""
    before = cut("\n\n".join(paragraphs), "paragraphs:20")
    after = cut("\n\n".join([*paragraphs[:place], "A new paragraph.", *paragraphs[place:]]), "paragraphs:20")

    by_text = {passage.text: passage.passage_id for passage in after[1:]}
    kept = [passage for passage in before[1:] if passage.text in by_text]
    assert all(by_text[passage.text] == passage.passage_id for passage in kept)


def test_most_cuts_of_a_long_section_stay_where_they_are():
    paragraphs = [f"Paragraph {number} says something of its own in about eleven words." for number in range(200)]
    before = set(ids("\n\n".join(paragraphs), "paragraphs:60"))

    after = set(ids("\n\n".join(["One more.", *paragraphs]), "paragraphs:60"))

    assert len(before - after) <= 2
    assert len(before) > 40


@given(documents)
def test_a_passage_has_at_most_as_many_words_as_the_recipe_names(text):
    for passage in cut(text, "paragraphs:40:10"):
        assert passage.has_table or passage.has_code or words_in(passage.text) <= 60


def test_sections_have_their_headings_as_path_and_title():
    passages = cut("# Guide\n\nHello.\n\n## Keys\n\n### Rotation\n\nEvery 90 days.\n")

    assert [(p.passage_id, p.section_path, p.title, p.text) for p in passages] == [
        ("guide/keys", (), "Guide", "Hello."),
        ("guide/keys#keys/rotation", ("Guide", "Keys"), "Rotation", "Every 90 days."),
    ]


def test_a_hash_in_code_is_no_heading_and_underlined_lines_are():
    passages = cut("Keys\n====\n\n```\n# no heading\n```\n\nUndo\n----\n\nText.\n")

    assert [passage.title for passage in passages] == ["Keys", "Undo"]


def test_equal_headings_are_counted_only_among_each_other():
    text = "# A\n\n## Notes\n\nx\n\n## B\n\n### Notes\n\ny\n\n## Notes\n\nz\n"

    assert ids(text) == ["guide/keys#notes", "guide/keys#b/notes", "guide/keys#notes-2"]
    assert [passage.anchor for passage in cut(text)] == ["notes", "notes-1", "notes-2"]


def test_a_new_title_renames_nothing():
    text = "# Old\n\nHello.\n\n## Keys\n\nText.\n"

    assert ids(text) == ids(text.replace("Old", "New"))


def test_a_long_section_is_cut_at_paragraphs_and_its_first_part_keeps_the_plain_id():
    text = "# Guide\n\n" + "\n\n".join(f"Paragraph {n}. " + "word " * 60 for n in range(30))

    passages = cut(text)

    assert passages[0].passage_id == "guide/keys"
    assert all(re.fullmatch(r"guide/keys~[0-9a-f]{8}", passage.passage_id) for passage in passages[1:])
    assert all(words_in(passage.text) <= 600 for passage in passages)
    assert len(passages) > 3


def test_a_paragraph_without_end_is_cut_between_sentences():
    text = " ".join(f"Sentence number {n} ends here." for n in range(100))

    assert all(passage.text.endswith(".") for passage in cut(text, "paragraphs:50"))


def test_overlap_repeats_the_end_of_the_passage_before():
    text = "\n\n".join(f"Paragraph {n} has just seven words." for n in range(20))

    first, second, *_ = cut(text, "paragraphs:30:10")

    assert second.text.split("\n\n")[0] == first.text.split("\n\n")[-1]


def test_pages_become_passages_and_a_table_is_not_divided_by_one():
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n"
    text = f"Page one.\n\n{table}\nPage two.\n"
    starts = (0, text.index("| 3"))

    passages = cut(text, "pages", path="guide.pdf", kind="pdf", page_starts=starts)

    assert [(p.passage_id, p.title, p.page_start, p.page_end) for p in passages] == [
        ("guide.pdf#page-1", "Page 1", 1, 2),
        ("guide.pdf#page-2", "Page 2", 2, 2),
    ]
    assert table.strip() in passages[0].text


def test_sections_know_their_pages():
    text = "# A\n\nOne.\n\n## B\n\nTwo.\n\nThree.\n"

    passages = cut(text, page_starts=(0, text.index("Two"), text.index("Three")))

    assert [(passage.page_start, passage.page_end) for passage in passages] == [(1, 1), (2, 3)]


@pytest.mark.parametrize(
    ("text", "recipe", "kind"),
    [
        ("# Guide\n\nHello.\n\n## Keys\n\nText.", "whole", "markdown"),
        ("# not a heading\n\ntext", "headings", "text"),
        ("A badge.\n\n# Guide\n\nHello.", "headings", "markdown"),
    ],
)
def test_whole_documents_plain_text_and_what_is_before_a_title_stay_together(text, recipe, kind):
    assert [passage.text for passage in cut(f"{text}\n", recipe, kind=kind)] == [text]


def test_a_table_of_html_with_blank_lines_is_one_unit():
    table = "<table>\n<tr><td>1</td></tr>\n\n<tr><td>2</td></tr>\n</table>"
    text = "\n\n".join(["word " * 15, table, "word " * 15])

    assert any(table in passage.text for passage in cut(text, "paragraphs:20"))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("deploy/pin.md", "deploy/pin"),
        ("a b/c#d.pdf", "a%20b/c%23d.pdf"),
        ("U\u0308ber.md", "Über"),
        (".md", ".md"),
        ("page.html", "page.html"),
    ],
)
def test_document_ids(path, name):
    assert document_id(path) == name


@given(st.text(min_size=1, max_size=400))
def test_document_ids_are_ids(path):
    name = document_id(path)

    assert 0 < len(name) <= 120
    assert name.isprintable()
    assert not any(letter.isspace() for letter in name)


@pytest.mark.parametrize(
    ("title", "anchor"),
    [("Pin a branch", "pin-a-branch"), ("What's `new`?", "whats-new"), ("Über uns", "über-uns"), ("???", "section")],
)
def test_anchors(title, anchor):
    assert anchor_of(title) == anchor


def test_letters_of_languages_without_blanks_count_as_words():
    assert words_in("鍵は毎月") == 4
    assert words_in("keys are new") == 3


@pytest.mark.parametrize(
    "written", ["", "chapters", "paragraphs", "paragraphs:5", "paragraphs:99999", "paragraphs:100:60"]
)
def test_other_words_are_no_recipes(written):
    with pytest.raises(ValueError, match=r"recipe|passage"):
        recipe_of(written)


@pytest.mark.parametrize("written", EXAMPLES)
def test_recipes_are_written_as_they_are_read(written):
    assert str(recipe_of(written)) == written


def pipes(rows: Sequence[str]) -> str:
    return "\n".join(["| otter | note |", "| --- | ---: |", *(f"| {row} | seen |" for row in rows)])


def tags(rows: Sequence[str]) -> str:
    lines = "\n\n".join(f"<tr><td>{row}</td><td>seen</td></tr>" for row in rows)
    return f"<table>\n<thead><tr><th>otter</th></tr></thead>\n<tbody>\n{lines}\n</tbody>\n</table>"


def fenced(rows: Sequence[str]) -> str:
    return "\n".join(["```csv", "otter,note", *(f'"{row}","seen\nin ""rain"""' for row in rows), "```"])


TABLES = {
    pipes: ("| otter | note |\n| --- | ---: |\n| ", ""),
    tags: ("<table>\n<thead><tr><th>otter</th></tr></thead>", "</table>"),
    fenced: ('```csv\notter,note\n"', "```"),
}


@pytest.mark.parametrize("write", TABLES)
@pytest.mark.parametrize("recipe", ["headings", "paragraphs:200:40", "paragraphs:200", "paragraphs:20:10"])
@pytest.mark.parametrize("around", ["{}", "Before it.\n\n{}\n\nAfter it."])
def test_a_table_longer_than_a_screen_is_cut_between_rows_and_each_part_has_its_heading(write, recipe, around):
    rows = [f"row {n} of otters" for n in range(900)]
    head, tail = TABLES[write]

    passages = [part for part in cut(f"# T\n\n{around.format(write(rows))}\n", recipe) if "row" in part.text]

    assert len(passages) > 5
    assert all(words_in(passage.text) <= 600 + 40 for passage in passages)
    assert all(head in passage.text and passage.text.count("note |") <= 1 for passage in passages)
    assert all(passage.text.removesuffix("After it.").rstrip().endswith(tail) for passage in passages)
    assert all(passage.has_table or passage.has_code for passage in passages)
    kept = [row for passage in passages for row in re.findall(r"row \d+ of otters", passage.text)]
    assert kept == rows
    assert len({passage.passage_id for passage in passages}) == len(passages)


@pytest.mark.parametrize("write", TABLES)
def test_an_edit_of_one_row_leaves_most_parts_of_a_table_as_they_are(write):
    rows = [f"row {n} of otters" for n in range(900)]
    before = {(part.passage_id, part.text) for part in cut(write(rows))}

    after = {(part.passage_id, part.text) for part in cut(write([*rows[:400], "one more", *rows[400:]]))}

    assert len(before - after) <= 2


@pytest.mark.parametrize(
    "table",
    [
        "```\n" + "a,b\n" * 900 + "```",
        "<table><tr><td rowspan=900>a</td></tr>" + "<tr><td>b c</td></tr>" * 900 + "</table>",
        "| " + "long heading " * 300 + "| b |\n| --- | --- |\n" + "| x | y |\n" * 200,
        "- a | b\n  --- | ---\n" + "  x | y\n" * 900,
    ],
)
def test_what_is_no_table_that_can_be_read_in_parts_stays_whole(table):
    (passage,) = cut(table, "paragraphs:200:40")

    assert passage.text == table.strip()


def test_a_row_longer_than_a_screen_is_not_cut():
    text = pipes(["short", "word " * 900, "short again"])

    assert any("word " * 899 in passage.text for passage in cut(text))


@given(st.integers(0, 400), st.sampled_from([pipes, tags, fenced]), RECIPES)
def test_no_row_is_lost_or_said_twice(number, write, recipe):
    rows = [f"row {n % 7} <{n}>" for n in range(number)]

    kept = [row for passage in cut(write(rows), recipe) for row in re.findall(r"<(\d+)>", passage.text)]

    assert sorted(set(kept), key=int) == [str(n) for n in range(number)]
