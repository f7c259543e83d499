"""What a reader makes of a file of documents, before a recipe cuts it into passages."""

from typing import Any, NamedTuple

READ_AS, AS_TEXT = "read_as", "text"
"""The metadata of what has no markup: its passages are shown as they were written."""


class Document(NamedTuple):
    """One document as canonical Markdown.

    `path` is its place in the upload, with forward slashes; the document's outside id is made from it. `page_starts`
    holds the offset in `text` at which each page begins, the first page first; empty for what has no pages. `note` is a
    short phrase on how it was read, shared by files: "read as cp1252, which is a guess".
    """

    path: str
    kind: str
    title: str
    text: str
    metadata: dict[str, Any]
    page_starts: tuple[int, ...] = ()
    note: str = ""


class ReadingNote(NamedTuple):
    """How a file was read, when a reader had to choose: "read as records, text from body, title from Title"."""

    words: str


class UnreadFile(NamedTuple):
    """A file of the upload that stays unread. `reason` is one of few sentences, so that files can be counted by it.

    `text_ending` is the ending of a file that could be read as text, without the dot; "" for any other. `files` is
    more than one where `path` stands for all in a folder, or of a name, that hides them.
    """

    path: str
    reason: str
    text_ending: str = ""
    files: int = 1
