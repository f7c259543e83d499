"""Whatever the lines of a PDF are, no word is lost and every page begins somewhere."""

from hypothesis import given
from hypothesis import strategies as st

from apps.corpus.formats.documents.pdf import Bookmark, Line, lay_out

NUMBERS = st.floats(0, 800)
LINES = st.builds(
    Line,
    text=st.text(alphabet="aB1 .#-•*>|`", min_size=1, max_size=30).filter(str.strip),
    x=NUMBERS,
    y=NUMBERS,
    size=st.floats(1, 40),
    hyphen=st.booleans(),
)
PAGES = st.lists(st.lists(LINES, max_size=8), max_size=5)


def letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


@given(
    PAGES, st.lists(st.builds(Bookmark, st.integers(-1, 9), st.integers(0, 9), st.text("aB1 ", max_size=9)), max_size=4)
)
def test_no_letter_is_lost_and_pages_begin_in_order(pages, outline):
    kept = [[line._replace(text=f"{number} {line.text}") for line in page] for number, page in enumerate(pages)]

    laid = lay_out(kept, outline)

    assert len(laid.page_starts) == len(pages)
    assert list(laid.page_starts) == sorted(laid.page_starts)
    assert all(0 <= start <= len(laid.text) for start in laid.page_starts)
    if len(pages) < 3:  # with fewer there are no running headers
        assert letters(laid.text) == letters("".join(line.text for page in kept for line in page))
