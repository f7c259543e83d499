"""The table of what each form loses. That the forms hold the rest is in test_round_trip."""

from pathlib import Path

from apps.goldsets.formats.folder import FORMS
from apps.goldsets.formats.losses import LOSSES, with_table

REFERENCE = Path(__file__).parents[3] / "docs/reference/files.md"


def test_every_form_says_what_it_loses():
    assert sorted(LOSSES) == sorted(FORMS)


def test_the_reference_has_the_table():
    text = REFERENCE.read_text()

    assert with_table(text) == text
