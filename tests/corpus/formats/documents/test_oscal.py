import json
import re

import pytest

from apps.corpus.formats.documents import SourceFile
from apps.corpus.formats.documents.oscal import read_oscal
from tests.corpus.formats.documents.reading import reason, rows

PARAMETERS = [
    {"id": "a_1", "label": "organization-defined time"},
    {
        "id": "a_2",
        "select": {"how-many": "one-or-more", "choice": ["remove", "disable after {{ insert: param, a_1 }}"]},
    },
    {"id": "a_3", "select": {"choice": ["yes", "no"]}},
    {"id": "a_4", "label": "x", "values": ["30 days"]},
]


def named(value):
    return [{"name": "label", "value": value}]


def part(name, prose="", *parts, label=""):
    return {"name": name, "prose": prose, "parts": list(parts), "props": named(label) if label else []}


def control(id, label, title, *parts, **more):
    return {"id": id, "title": title, "props": named(label), "parts": list(parts), **more}


def catalog(*controls, **more):
    group = {"id": "ac", "title": "Access Control", "controls": list(controls)}
    return json.dumps({"catalog": {"metadata": {"title": "Controls"}, "groups": [group], **more}})


def only(*controls):
    (row,) = rows(read_oscal, catalog(*controls))
    return row


def test_a_control_is_a_passage_with_its_id_below_its_group():
    row = only(control("ac-1", "AC-1", "Policy", part("statement", "Have one.")))

    assert (row.block_id, row.document_id, row.title) == ("ac-1", "ac", "AC-1 Policy")
    assert (row.section_path, row.document_title) == (("Access Control",), "Access Control")
    assert row.text == "Have one."


def test_an_enhancement_is_a_passage_of_its_own_below_its_control():
    inner = control("ac-1.1", "AC-1(1)", "More", part("statement", "Have two."))

    rows_ = rows(read_oscal, catalog(control("ac-1", "AC-1", "Policy", controls=[inner])))

    assert [row.block_id for row in rows_] == ["ac-1", "ac-1.1"]
    assert rows_[1].section_path == ("Access Control", "AC-1 Policy")


def test_parts_are_a_list_with_their_labels_and_guidance_has_a_heading():
    items = part("item", "Keep:", part("item", "one;", label="1."), part("item", "two.", label="2."), label="a.")
    statement = part("statement", "The owner:", items, part("item", "Rest.", label="b."))

    row = only(control("ac-1", "AC-1", "Policy", statement, part("guidance", "Think.")))

    assert row.text == "The owner:\n\n- a. Keep:\n  - 1. one;\n  - 2. two.\n- b. Rest.\n\n**Guidance**\n\nThink."


def test_parts_for_assessors_are_left_out():
    parts = [part("statement", "Do."), part("objective", "Is it done?"), part("assessment-method", "Look.")]

    assert only(control("ac-1", "AC-1", "Policy", *parts)).text == "Do."


@pytest.mark.parametrize("reference", ["{{ insert: param, %s }}", "{{ %s }}", "{{%s}}"])
def test_parameters_are_written_out_as_in_print(reference):
    prose = " / ".join(reference % name for name in ["a_1", "a_2", "a_3", "a_4", "a_9"])

    row = only(control("ac-1", "AC-1", "Policy", part("statement", prose), params=PARAMETERS))

    assert row.text.split(" / ") == [
        "[Assignment: organization-defined time]",
        "[Selection (one or more): remove; disable after [Assignment: organization-defined time]]",
        "[Selection: yes; no]",
        "30 days",
        "[a_9]",
    ]


def test_parameters_that_name_each_other_end():
    turning = [{"id": "a", "label": "{{ insert: param, b }}"}, {"id": "b", "label": "{{ insert: param, a }}"}]

    row = only(control("ac-1", "AC-1", "P", part("statement", "{{ a }}"), params=turning))

    assert row.text == "[Assignment: [Assignment: [a]]]"


def test_parameters_that_double_at_each_level_stay_unread():
    doubling = [{"id": f"p{n}", "label": f"{{{{ p{n - 1} }}}} {{{{ p{n - 1} }}}}"} for n in range(1, 60)]

    content = catalog(control("ac-1", "AC-1", "P", part("statement", "{{ p59 }}"), params=doubling))

    assert reason(read_oscal, content) == "OSCAL whose parameters grow without end"


def test_links_inside_the_catalog_become_their_words():
    assert only(control("ac-1", "AC-1", "P", part("statement", "See [AC-2](#ac-2), [x](https://x.org)."))).text == (
        "See AC-2, [x](https://x.org)."
    )


def test_a_withdrawn_control_stays_and_shows_where_it_went():
    whole = control(
        "ac-2", "AC-2", "Accounts", part("statement", "", {"id": "ac-2_smt.k", **part("item", "K", label="k.")})
    )
    gone = control(
        "ac-1", "AC-1", "Policy",
        props=[*named("AC-1"), {"name": "status", "value": "Withdrawn"}],
        links=[{"href": "#ac-2_smt.k", "rel": "incorporated-into"}, {"href": "#ac-2", "rel": "related"}],
    )  # fmt: skip

    row = rows(read_oscal, catalog(gone, whole))[0]

    assert row.text == "Withdrawn. Incorporated into AC-2k."
    assert row.metadata == {"label": "AC-1", "status": "withdrawn", "related": ["AC-2"]}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "damaged JSON"),
        ("[]", "OSCAL that is not a catalog"),
        ('{"profile": {}}', "OSCAL that is not a catalog"),
        ('{"catalog": {"groups": []}}', "OSCAL catalog without controls"),
        ('{"catalog": {"groups": [{"controls": [{"title": "no id"}]}]}}', "damaged OSCAL"),
        ('{"catalog": {"groups": 5}}', "damaged OSCAL"),
        ("[" * 100_000, "JSON nested too deeply"),
        (catalog() .replace("Controls", "\\ud800"), "damaged JSON"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_has_a_reason(content, why):
    assert reason(read_oscal, content) == why


def test_groups_nested_without_end_stay_unread():
    inner = {"id": "g", "title": "g", "controls": [control("c", "C", "c")]}
    for _ in range(100):
        inner = {"id": "g", "title": "g", "groups": [inner]}

    assert reason(read_oscal, json.dumps({"catalog": inner})) == "OSCAL nested too deeply"


@pytest.fixture(scope="module")
def editions(shared_data):
    """The rows of NIST SP 800-53 by id, in three editions."""
    found = {}
    for path in sorted((shared_data / "nist_800_53").glob("*/*.json")):
        with path.open("rb") as stream:
            read = list(read_oscal(SourceFile(path.name, stream, path.stat().st_size)))
        found[path.parent.name] = {row.block_id: row for row in read}
        assert len(found[path.parent.name]) == len(read)
    return found


def statement(row):
    """The words of the statement alone: without guidance, labels of items and parameters."""
    text = row.text.split("**Guidance**")[0]
    if row.metadata.get("status") == "withdrawn":
        text = text.partition("\n")[2]
    text = (
        re.sub(r"^ *- (\S+\.|\(\S+\)) ", "", text, flags=re.MULTILINE)
        .replace("<assign:#>", "")
        .replace("<#:assign>", "")
    )
    while (less := re.sub(r"\[[^\[\]]*\]", "", text)) != text:
        text = less
    return text.split()


def differ(before, after, what):
    return sum(what(before[name]) != what(after[name]) for name in before if name in after)


@pytest.mark.parametrize(
    ("edition", "families", "controls", "withdrawn"),
    [("rev4_2021-06", 18, 922, 96), ("rev5_2020-12", 20, 1189, 182), ("rev5_2021-06", 20, 1189, 182)],
)
def test_nist_800_53_has_as_many_controls_as_its_readme_counts(editions, edition, families, controls, withdrawn):
    read = editions[edition].values()

    assert (len({row.document_id for row in read}), len(read)) == (families, controls)
    assert sum(row.metadata.get("status") == "withdrawn" for row in read) == withdrawn
    assert all(row.text for row in read)


def test_from_revision_4_to_5_nearly_everything_changed(editions):
    before, after = editions["rev4_2021-06"], editions["rev5_2021-06"]

    assert (len(after.keys() - before.keys()), len(before.keys() - after.keys())) == (267, 0)
    assert differ(before, after, statement) == 828
    assert differ(before, after, lambda row: row.title) == 280
    withdrawn = [{name for name, row in read.items() if "status" in row.metadata} for read in (before, after)]
    assert len((withdrawn[1] - withdrawn[0]) & before.keys()) == 87


def test_between_two_releases_of_revision_5_hardly_anything_did(editions):
    """678 statements differ as strings, 9 beyond the markup of parameters and links."""
    before, after = editions["rev5_2020-12"], editions["rev5_2021-06"]

    assert before.keys() == after.keys()
    assert differ(before, after, statement) == 9
    assert differ(before, after, lambda row: row.title) == 18
    assert differ(before, after, lambda row: row.text) == 100
