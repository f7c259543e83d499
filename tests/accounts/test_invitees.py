"""The people to invite, one a line: name, e-mail, role."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.core.addresses import MOST_GUESTS, Guest, read_guests, sentence
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
    found = read("Mara Quill\n\n  tobias@example.org \nInes and Sef, annotator + reviewer", "viewer")

    assert found.guests == [
        Guest("Mara Quill", "", ("viewer",)),
        Guest("", "tobias@example.org", ("viewer",)),
        Guest("Ines and Sef", "", ("annotator", "reviewer")),
    ]


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("Mara, mara@example", "Line 1, e-mail: “mara@example” is not an e-mail address."),
        ("\nMara, a@b.org, c@d.org", "Line 2, e-mail: “c@d.org” is a second address."),
        ("Mara, boss", "Line 1, role: “boss” is no role; roles are annotator,"),
        ("A, a@b.org\nB, A@B.org", "Line 2, e-mail: “a@b.org” is in line 1 too."),
        ("name,email\nA, a@b.org\nB, A@B.org", "Line 3, e-mail: “a@b.org” is in line 2 too."),
        ("x" * 121, "Line 1, name: the name is longer than 120 characters."),
        ("Person\n" * (MOST_GUESTS + 1), "201 people are too many at once. Invite at most 200 together."),
    ],
)
def test_a_mistake_names_its_line_its_field_and_what_is_wrong(text, mistake):
    (found,) = read(text, "viewer").mistakes

    assert sentence(found).startswith(mistake)


def test_without_any_role_the_line_says_so():
    (found,) = read("Mara").mistakes

    assert sentence(found) == "Line 1, role: it names no role, and none is ticked."


@pytest.mark.parametrize(
    "roles", ["annotator, reviewer", "annotator and reviewer", "Annotator & reviewer", "reviewer/annotator"]
)
def test_a_line_may_name_several_roles_as_people_write_them(roles):
    found = read(f"Sef, sef@example.org, {roles}", "viewer")

    assert found == ([Guest("Sef", "sef@example.org", ("annotator", "reviewer"))], [])


def test_a_mistake_in_a_file_begins_with_its_name_and_keeps_the_value():
    (found,) = read_guests("Mara, boss", ["viewer"], file="team.csv").mistakes

    assert sentence(found).startswith("team.csv, line 1, role: “boss” is no role")
    assert (found.line, found.field, found.value) == (1, "role", "boss")


def test_a_file_as_a_table_program_writes_it_is_read():
    text = 'Name;E-mail;Roles\r\n"Quill; Mara";mara@example.org;"annotator, reviewer"\r\n;tobias@example.org;\r\n'

    assert read(text, "viewer") == (
        [
            Guest("Quill; Mara", "mara@example.org", ("annotator", "reviewer")),
            Guest("", "tobias@example.org", ("viewer",)),
        ],
        [],
    )


def test_after_twenty_mistakes_nothing_more_is_read():
    assert len(read("\n".join(f"p{n}@nowhere" for n in range(50)), "viewer").mistakes) == 20


letters = st.text(st.characters(categories=["L"]), min_size=1, max_size=20)
names = letters.filter(lambda name: name.lower() not in Role) | st.sampled_from(
    ["Quill, Mara", 'Mara "Mo" Quill', '"Mo"']
)
roles = st.sets(st.sampled_from(Role.values), min_size=1).map(lambda some: tuple(sorted(some)))


@given(st.lists(st.tuples(names, roles), max_size=8))
def test_a_guest_written_as_a_line_is_read_as_the_same(people):
    guests = [Guest(name, f"p{n}@example.org", own) for n, (name, own) in enumerate(people)]

    assert read("\n".join(guest.line for guest in guests)) == (guests, [])
