"""What tells passages with the same title apart: the document, its id, the headings above, the passage's own id."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Place(NamedTuple):
    """Where a passage stands. Titles may be empty; ids are unique in a corpus."""

    title: str
    document_title: str
    document_id: str
    section: Sequence[str]
    block_id: str


def document_names(places: Sequence[Place]) -> list[str]:
    """The document of each place: its title, or its id where it has none or another document here shares it."""
    documents = {(place.document_title, place.document_id) for place in places}
    shared = Counter(title for title, _ in documents)
    return [
        place.document_title if place.document_title and shared[place.document_title] == 1 else place.document_id
        for place in places
    ]


def told_apart(places: Sequence[Place]) -> list[str]:
    """What to show beside the title of each passage: its document, and where that leaves several alike, more.

    First the headings above it, then its own id.
    """
    documents = document_names(places)
    titles = [place.title for place in places]
    with_section = [
        " / ".join([document, *(heading for heading in place.section if heading != place.title)])
        for document, place in zip(documents, places, strict=True)
    ]
    with_id = [f"{document}, {place.block_id}" for document, place in zip(documents, places, strict=True)]
    words = documents
    for more in (with_section, with_id):
        alike = Counter(zip(titles, words, strict=True))
        words = [
            fuller if alike[title, said] > 1 else said for title, said, fuller in zip(titles, words, more, strict=True)
        ]
    return words
