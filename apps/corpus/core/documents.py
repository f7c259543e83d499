"""What a reader makes of a file of documents, and the recipe that cuts it into passages."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

HEADINGS, PARAGRAPHS, PAGES, WHOLE = "headings", "paragraphs", "pages", "whole"
SECTION_WORDS = 600
"""A section of more words is cut at the ends of paragraphs by the recipes that do not name a number."""
LEAST_WORDS, MOST_WORDS = 20, 5_000
EXAMPLES = ("headings", "paragraphs:200", "paragraphs:200:40", "pages", "whole")
AS_DATA, HEADINGS_FIRST = "data", "headings"
FIRST_ROWS = {"": "recognised for each table", HEADINGS_FIRST: "has the headings", AS_DATA: "is data like the others"}
"""What a person says of the first row of tables."""
_PARAGRAPHS = re.compile(r"paragraphs:(?P<words>[0-9]{1,6})(?::(?P<overlap>[0-9]{1,6}))?")


class Recipe(NamedTuple):
    """How to cut. `words` is the most that a passage has, `overlap` how many of them it repeats from the one before.

    Code is never cut, whatever `words` is, and of tables only those longer than a screen, between rows.
    """

    name: str
    words: int = SECTION_WORDS
    overlap: int = 0

    def __str__(self) -> str:
        if self.name != PARAGRAPHS:
            return self.name
        return f"{self.name}:{self.words}" + (f":{self.overlap}" if self.overlap else "")


DEFAULT = Recipe(HEADINGS)
USUAL_PARAGRAPHS = Recipe(PARAGRAPHS, 200, 30)
OFFERED = (DEFAULT, USUAL_PARAGRAPHS, Recipe(PAGES), Recipe(WHOLE))
"""The recipes that the preview of documents offers."""


def recipe_of(written: str) -> Recipe:
    """The recipe in words such as "paragraphs:200:40". Raises ValueError with a sentence."""
    if written in {HEADINGS, PAGES, WHOLE}:
        return Recipe(written)
    found = _PARAGRAPHS.fullmatch(written)
    if found is None:
        raise ValueError(f"{written or 'This'} is not a recipe. Recipes are {', '.join(EXAMPLES)}.")
    recipe = Recipe(PARAGRAPHS, int(found["words"]), int(found["overlap"] or 0))
    if not LEAST_WORDS <= recipe.words <= MOST_WORDS:
        raise ValueError(f"A passage has from {LEAST_WORDS} to {MOST_WORDS:,} words, not {recipe.words:,}.")
    if recipe.overlap > recipe.words // 2:
        raise ValueError(f"At most half of a passage overlaps: {recipe.words // 2} words, not {recipe.overlap}.")
    return recipe


def recipe_words(recipe: Recipe) -> str:
    """The recipe for people: "paragraphs up to 200 words, 40 of them overlapping"."""
    if recipe.name == PARAGRAPHS:
        overlap = f", {recipe.overlap} of them overlapping" if recipe.overlap else ""
        return f"paragraphs up to {recipe.words} words{overlap}"
    return {HEADINGS: "by heading", PAGES: "by page", WHOLE: "whole documents"}[recipe.name]


def recut_note(before: str, now: str) -> str:
    """What an import into a corpus with another recipe does to ids. "" is the recipe of files with their own."""
    return (
        f"Ids change: until now the corpus was cut {_cut_by(before)}, this import is cut {_cut_by(now)}."
        " Passages get new ids, and the old ones go."
    )


def _cut_by(recipe: str) -> str:
    return f"by {recipe}" if recipe else "by its files, which bring their own passages"


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


class TableColumns(NamedTuple):
    """What the columns of a file of records were taken for. `roles` has the heading of each role, "" for none.

    `sample` are its first rows under `headings`. `rivals` are other columns that may be the text as well: then nothing
    of the file was read, since a person has to say which it is.
    """

    path: str
    headings: Sequence[str]
    roles: Mapping[str, str]
    sample: Sequence[Sequence[str]]
    rivals: Sequence[str] = ()

    @property
    def words(self) -> str:
        """For the notes of an import: "read as records, text from body, title from Name"."""
        parts = [f"{role} from {self.roles[role]}" for role in ("text", "id", "title", "section") if self.roles[role]]
        return f"read as records, {', '.join(parts)}"


class UnreadFile(NamedTuple):
    """A file of the upload that stays unread. `reason` is one of few sentences, so that files can be counted by it.

    `text_ending` is the ending of a file that could be read as text, without the dot; "" for any other. `files` is
    more than one where `path` stands for all in a folder, or of a name, that hides them.
    """

    path: str
    reason: str
    text_ending: str = ""
    files: int = 1
