"""A draft that is started, and what the checks say of it."""

import pytest
from django.db import IntegrityError, transaction

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.triples.actions.triples import AlreadyStarted, copy_wording, save_draft, start_draft
from apps.triples.core.checks import WARN
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import BlockChoice, checks_of
from apps.triples.selectors.triples import newest_snapshot
from tests.factories import AT, lead_of, make_member
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


def test_a_key_starts_one_draft_of_its_author(db):
    project = make_team()
    author, other = (make_member(project, Role.ANNOTATOR) for _ in range(2))

    def start(person: User, key: str) -> Triple:
        snapshot = newest_snapshot(project)
        return start_draft(project=project, author=person, snapshot=snapshot, idempotency_key=key, at=AT)

    first = start(author, "one")
    with pytest.raises(AlreadyStarted) as again:
        start(author, "one")

    assert again.value.triple == first
    others = [start(other, "one"), start(author, "two"), start(author, ""), start(author, "")]
    assert [triple.number for triple in others] == [2, 3, 4, 5]


def test_the_database_limits_a_key_to_one_draft_of_a_person(db):
    project = make_team()
    first, second = (make_draft(project, author=lead_of(project)) for _ in range(2))
    Triple.objects.filter(pk=first.pk).update(idempotency_key="one")

    with pytest.raises(IntegrityError), transaction.atomic():
        Triple.objects.filter(pk=second.pk).update(idempotency_key="one")
