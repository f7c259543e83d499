"""What the checks say of a stored draft."""

from apps.triples.actions import copy_wording, save_draft
from apps.triples.checks import WARN
from apps.triples.drafting import BlockChoice, checks_of
from tests.factories import AT
from tests.triples.factories import make_draft, make_team, version_of


def test_an_answer_given_while_one_block_was_expected_counts_when_there_are_two(db):
    project = make_team()
    triple = make_draft(project, question="Who says that a session lasts at most eight hours, and since when is it so?")
    (warning,) = [check for check in checks_of(project, triple.author, triple.revision) if check.level == WARN]
    wording = copy_wording(triple, triple.revision)
    version = version_of(triple.snapshot, "backups")
    saved = save_draft(
        project=project,
        triple_id=triple.pk,
        author=triple.author,
        seen_version=triple.edit_version,
        snapshot=triple.snapshot,
        wording=wording._replace(
            blocks=(*wording.blocks, BlockChoice(version.pk, ((0, 39),))),
            answers=((warning.key, "People ask like that."),),
        ),
        at=AT,
    )

    found = checks_of(project, saved.author, saved.current)

    assert [check.answer for check in found if check.key == warning.key] == ["People ask like that."]
    assert [check.where for check in found if check.key == warning.key] == ["access"]
