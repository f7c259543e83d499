"""The page of roles says what the table of endpoints says."""

from collections import Counter

from tests.roles import PAGE, covered, to_cover, written


def test_every_page_of_a_project_is_in_one_row():
    rows = Counter(covered())

    assert set(rows) == to_cover()
    assert [half for half, count in rows.items() if count > 1] == []


def test_the_page_of_roles_is_the_table_of_endpoints():
    assert PAGE.read_text() == written(PAGE.read_text()), "python -m tests.roles --write"
