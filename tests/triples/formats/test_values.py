"""Writing and reading are each other's inverse."""

from hypothesis import example, given, settings

from apps.triples.formats import WRITTEN, write_entries
from apps.triples.formats.entry import Entry, EntryBlock
from tests.triples.formats.entries import entries
from tests.triples.formats.reading import read


@settings(max_examples=150, deadline=None)
@given(entry=entries())
@example(entry=Entry("a\nb", "x\n\n y\n", (EntryBlock("b"),)))
@example(entry=Entry("a\n\x85b", "\ufeffx\ny", (EntryBlock("b"),), note="\n  lead\n"))
@example(entry=Entry("a", "\x1bx\ny", (EntryBlock("b"),)))
@example(entry=Entry("# a\n- b", "'", (EntryBlock("b"),), note='"\\'))
def test_what_is_written_is_read_back_and_written_the_same(entry):
    entry = entry._replace(question=entry.question.strip(), expected_answer=entry.expected_answer.strip())
    for format in WRITTEN:
        data = b"".join(write_entries([entry, entry], format=format))

        found, mistakes = read(data, format)

        assert mistakes == []
        assert found == [entry, entry]
        assert b"".join(write_entries(found, format=format)) == data


def test_no_entries_are_an_empty_list():
    assert b"".join(write_entries([], format="yaml")) == b"[]\n"
    assert b"".join(write_entries([], format="jsonl")) == b""
