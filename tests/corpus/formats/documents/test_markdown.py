"""Markdown as a document: what front matter becomes, and what is left as it was written."""

import pytest

from apps.corpus.formats.documents.registry import read_markdown
from apps.corpus.formats.documents.site_tags import front_matter
from tests.corpus.formats.documents.reading import one, reason


def test_front_matter_becomes_title_and_metadata():
    document = one(read_markdown, "---\ntitle: Keys\nowner: Petra\nreviewed: 2026-03-01\n---\n\nText.\n", "keys.md")

    assert (document.title, document.text) == ("Keys", "\nText.\n")
    assert document.metadata == {"owner": "Petra", "reviewed": "2026-03-01"}


def test_without_front_matter_the_first_heading_is_the_title():
    assert one(read_markdown, "Keys\n====\n\nText.\n").title == "Keys"
    assert one(read_markdown, "Text.\n\n## Later\n").title == ""


def test_line_ends_are_made_one_and_nothing_else_changes():
    assert one(read_markdown, "a  \r\n\tb\r\n*c*\r").text == "a  \n\tb\n*c*\n"


@pytest.mark.parametrize(
    "lines", ["owner: [Petra", "a: &a [x]\nb: [*a, *a]", 'a: !!python/object/apply:os.system ["true"]']
)
def test_front_matter_that_is_no_plain_yaml_stays_text(lines):
    text = f"---\n{lines}\n---\nText.\n"

    assert front_matter(text) == ({}, text)


def test_a_rule_at_the_top_is_no_front_matter():
    assert front_matter("---\n\nText.\n")[0] == {}


def test_text_in_another_encoding_is_read_with_a_note():
    document = one(read_markdown, "# Schlüssel\n\nGrüße aus Köln.\n".encode("cp1252"))

    assert document.title == "Schlüssel"
    assert document.note == "read as Windows-1252, which is a guess"


def test_utf_16_with_its_mark_needs_no_note():
    document = one(read_markdown, "# Schlüssel\n".encode("utf-16"))

    assert (document.title, document.note) == ("Schlüssel", "")


def test_what_is_no_text_stays_unread():
    assert reason(read_markdown, "") == "empty file"
    assert reason(read_markdown, b"a\0b") == "not text"


def test_a_line_without_end_stays_unread():
    assert reason(read_markdown, "x" * 5_000_001) == "line of more than 5 million letters"
