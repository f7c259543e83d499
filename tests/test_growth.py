"""Texts from outside that a pattern might read again from every place: eight times as much, in about eight times."""

from collections.abc import Callable

import pytest

from apps.common.text.blocktext import inline
from apps.common.text.markdown import to_html
from apps.corpus.core.outlines import outline
from apps.corpus.formats.documents.oscal import read_oscal
from apps.corpus.formats.documents.rst import read_rst
from apps.corpus.formats.documents.rst_directives import know_names_in
from apps.review.core.claim_proposals import propose, sentences
from tests.corpus.formats.documents.reading import one, rows
from tests.corpus.formats.documents.test_oscal import catalog, control, part
from tests.growth import MOST, time_for_eight_times

SIZE = 4_000
"""Letters: enough that a quadratic pattern shows in eight times as many."""


def read_as_oscal(text: str) -> object:
    return rows(read_oscal, catalog(control("a-1", "A-1", "A", part("statement", text))))


READERS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "roles of reStructuredText": (know_names_in, (":a", "`:a", ":a:")),
    "paragraph of reStructuredText": (lambda text: one(read_rst, text, "a.rst"), (":a", "*a ", "a_ ", "_`a ")),
    "catalogue of OSCAL": (read_as_oscal, ("[a](#", "{{ a")),
    "claims": (lambda text: (sentences(text), propose(text, text)), (" ", '. "')),
    "guideline": (to_html, ("![", "[a](")),
    "outline": (lambda text: outline(f"# {text}"), ("![", "[a](")),
    "passage": (lambda text: inline.pieces(text, 0, len(text)), ("![", "[a](", "<a@", "[a](<")),
}


@pytest.mark.parametrize(
    ("reader", "piece"), [(one, piece) for one, (_, pieces) in READERS.items() for piece in pieces]
)
def test_eight_times_as_much_text_takes_about_eight_times_as_long(reader, piece):
    read = READERS[reader][0]

    assert time_for_eight_times(lambda size: read("a. " + piece * (size // len(piece))), SIZE) <= MOST
