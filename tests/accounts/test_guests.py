"""The people to invite, one a line: name, e-mail, role."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.core.guests import MOST_GUESTS, Guest, read_guests
from apps.accounts.enums import Role


def read(text, *roles):
    return read_guests(text, roles)


def test_a_line_has_name_address_and_role_in_any_order_and_with_any_separator():
    guest = Guest("Mara Quill", "mara@example.org", ("annotator",))

    for line in (
        "Mara Quill, mara@example.org, annotator",
        "Mara Quill; Annotator; Mara@Example.org",
        "mara@example.org\tMara Quill\tannotator",
    ):
        assert read(line) == ([guest], [])


def test_address_and_role_may_be_left_out():
    found = read("Mara Quill\n\n  tobias@example.org \nInes, annotator + reviewer", "viewer")

    assert found.guests == [
        Guest("Mara Quill", "", ("viewer",)),
        Guest("", "tobias@example.org", ("viewer",)),
        Guest("Ines", "", ("annotator", "reviewer")),
    ]


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("Mara, mara@example", "Line 1: “mara@example” is not an e-mail address."),
        ("\nMara, a@b.org, c@d.org", "Line 2: “c@d.org” is a second address."),
        ("Mara, boss", "Line 1: “boss” is neither an e-mail address nor a role; roles are annotator,"),
        ("A, a@b.org\nB, A@B.org", "Line 2: a@b.org is in another line too."),
        ("x" * 121, "Line 1: the name is longer than 120 characters."),
    ],
)
def test_a_mistake_names_its_line_and_what_is_wrong(text, mistake):
    (found,) = read(text, "viewer").mistakes

    assert found.startswith(mistake)


def test_without_any_role_the_line_says_so():
    assert read("Mara").mistakes == ["Line 1: names no role, and none is ticked."]


def test_very_many_lines_are_refused_at_once():
    assert read("\n".join(f"Person {n}" for n in range(MOST_GUESTS + 1)), "viewer").guests == []


names = st.text(st.characters(categories=["L"]), min_size=1, max_size=20).filter(lambda name: name.lower() not in Role)


@given(st.lists(st.tuples(names, st.sets(st.sampled_from(Role.values), min_size=1)), max_size=8))
def test_what_was_written_is_read_again(people):
    lines = "\n".join(f"{name}, p{n}@example.org, {' '.join(roles)}" for n, (name, roles) in enumerate(people))

    found = read(lines)

    assert found.mistakes == []
    assert [(guest.name, set(guest.roles)) for guest in found.guests] == people
