import pytest

from apps.corpus.formats.documents.oscal import MOST_BYTES, read_opencontrol
from apps.corpus.formats.rows import BlockRow
from tests.corpus.formats.documents.reading import reason, rows

PLAIN = """\
name: Access Control
satisfies:
- control_key: AC-2 (7)
  implementation_status: none
  narrative: 'Accounts are removed.

    '
  standard_key: NIST-800-53
"""
PARTS = """\
---
documentation_complete: false
name: Access Control
satisfies:
- control_key: AC-2
  covered_by: []
  narrative:
  - key: a
    text: |
      Types of accounts:
        * staff
        * machines
  - key: b
    text: Managers are assigned.
  - key: c
    text: ' '
  standard_key: NIST-800-53
"""


def read(text, path="AC_Policy/component.yaml"):
    return rows(read_opencontrol, text, path)


def test_a_narrative_is_a_passage_named_by_component_and_control():
    assert read(PLAIN) == [
        BlockRow(
            line=1,
            block_id="AC_Policy/AC-2%20(7)",
            document_id="AC_Policy",
            title="AC-2 (7)",
            text="Accounts are removed.",
            metadata={"control": "AC-2 (7)", "standard": "NIST-800-53", "status": "none"},
            document_title="Access Control",
        )
    ]


def test_each_part_of_a_narrative_is_a_passage_with_its_lines():
    assert [(row.block_id, row.title, row.text) for row in read(PARTS)] == [
        ("AC_Policy/AC-2/a", "AC-2 a", "Types of accounts:\n  * staff\n  * machines"),
        ("AC_Policy/AC-2/b", "AC-2 b", "Managers are assigned."),
    ]


def test_what_is_said_of_one_part_twice_is_one_passage():
    again = PLAIN + PLAIN.partition("satisfies:\n")[2].replace("removed", "locked")

    (row,) = read(again)

    assert row.text == "Accounts are removed.\n\nAccounts are locked."


@pytest.mark.parametrize(
    ("path", "stated", "name"),
    [
        ("AC-Policy/component.yaml", "", "AC_Policy"),
        ("my-system/AC-Policy/component.yml", "", "my-system/AC_Policy"),
        ("controls/AC-Policy.yaml", "", "controls/AC_Policy"),
        ("component.yaml", "", "component"),
        ("AC-Policy/component.yaml", "key: access-control\n", "access-control"),
    ],
)
def test_a_component_is_named_by_its_key_or_its_folder(path, stated, name):
    assert read(stated + PLAIN, path)[0].document_id == name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("site: shopfront\n", "YAML other than OpenControl"),
        ("- satisfies\n", "YAML other than OpenControl"),
        ("a: 1\n---\nb: 2\n", "YAML other than OpenControl"),
        ("a: &a [x, x]\nb: [*a, *a]\n", "YAML other than OpenControl"),
        ("a: [1\n", "damaged YAML"),
        ("? [a]\n: b\n", "damaged YAML"),
        ("satisfies: []\n", "OpenControl component without narratives"),
        ("satisfies:\n- control_key: AC-1\n  narrative: ' '\n", "OpenControl component without narratives"),
        ("satisfies:\n- control_key: AC-1\n", "damaged OpenControl"),
        ("satisfies:\n- control_key: [AC-1]\n  narrative: x\n", "damaged OpenControl"),
        ("satisfies:\n- AC-1\n", "damaged OpenControl"),
        ("a: " + "[" * 5_000, "YAML nested too deeply"),
        ("- a\n" * 500_000, "YAML that is too large"),
        ("#" * (MOST_BYTES + 1), "YAML that is too large"),
        ("key: [a]\n" + PLAIN, "damaged OpenControl"),
    ],
)
def test_what_cannot_be_read_has_a_reason(text, why):
    assert reason(read_opencontrol, text, "AC_Policy/component.yaml") == why


def test_a_tag_makes_no_object():
    (row,) = read(PLAIN.replace("name: Access Control", "name: !!python/name:os.getcwd x"))

    assert row.document_title == "x"


@pytest.mark.parametrize(
    ("edition", "components", "passages", "controls"), [("2016-04-13", 22, 113, 98), ("2016-11-04", 22, 528, 294)]
)
def test_the_answers_of_cloud_gov_are_as_many_as_their_readme_counts(
    shared_data, edition, components, passages, controls
):
    folder = shared_data / "cg_compliance" / edition
    paths = sorted(folder.rglob("component.yaml"))

    read_all = [row for path in paths for row in read(path.read_text(), str(path.relative_to(folder)))]

    assert (len(paths), len(read_all), len({row.block_id for row in read_all})) == (components, passages, passages)
    assert len({row.metadata["control"] for row in read_all}) == controls
