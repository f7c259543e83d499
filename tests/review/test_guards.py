"""What is always true of triples and reviews is held by the database itself, whoever writes to it."""

import pytest
from django.db import DatabaseError, connection, transaction

from apps.accounts.enums import Role
from apps.review.actions.candidate_blocks import note_miss
from apps.review.actions.disputes import post_message
from apps.review.actions.submitting import begin_revision
from apps.review.enums import VerdictChoice
from apps.review.models import (
    CandidateAnswer,
    CandidateBlock,
    DisputeMessage,
    MissNote,
    Resolution,
    ReviewSeat,
    Verdict,
)
from apps.triples.models import ExpectedBlock, ImportedEntry, Revision, Triple
from tests.factories import AT, make_member
from tests.module_rows import rows_of_module
from tests.review.candidates import REJECT, make_open, say
from tests.review.factories import answer, make_accepted, make_disputed, make_in_review, reload, reviewers_of
from tests.triples.factories import make_draft, make_team

pytestmark = pytest.mark.django_db


@rows_of_module
def project():
    return make_team(reviewers=3)


def refused(sql: str, *values: object) -> str:
    """What the database says to this statement; "" when it lets it pass. Nothing of it stays."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, values)
            transaction.set_rollback(True)
    except DatabaseError as error:
        return str(error)
    return ""


def copied(row, **changes) -> str:
    """The refusal of a copy of this row with other values, under a new id."""
    values = type(row).objects.filter(pk=row.pk).values(*[f.attname for f in row._meta.fields]).get()
    fields = {field.attname: field for field in row._meta.fields}
    values = values | changes
    values.pop("id")
    stored = {name: fields[name].get_db_prep_save(value, connection) for name, value in values.items()}
    columns = ", ".join(f'"{fields[name].column}"' for name in stored)
    return refused(
        f'INSERT INTO "{row._meta.db_table}" ({columns}) VALUES ({", ".join(["%s"] * len(stored))})', *stored.values()
    )


def changed(row, **values) -> str:
    sets = ", ".join(f'"{name}" = %s' for name in values)
    return refused(f'UPDATE "{row._meta.db_table}" SET {sets} WHERE "id" = %s', *values.values(), row.pk)


def deleted(row) -> str:
    return refused(f'DELETE FROM "{row._meta.db_table}" WHERE "id" = %s', row.pk)


@pytest.fixture
def disputed(project):
    triple = make_disputed(project)
    post_message(project=project, triple_id=triple.pk, author=triple.author, text="Well.", at=AT)
    return triple


def test_a_submitted_revision_and_its_blocks_are_fixed(disputed):
    revision = disputed.current
    block = revision.expected_blocks.get()
    another = disputed.snapshot.entries.exclude(version=block.version_id).first().version_id

    assert "a submitted revision" in changed(revision, question="Another?")
    assert "a submitted revision" in deleted(revision)
    assert "an expected block of a submitted revision" in changed(block, spans="[]")
    assert "an expected block of a submitted revision" in deleted(block)
    assert "takes no further blocks" in copied(block, version_id=another)


def test_a_draft_is_written_freely(project):
    draft = make_draft(project)

    assert changed(draft.current, question="Another?") == ""
    assert changed(draft.current.expected_blocks.get(), spans="[]") == ""


@pytest.mark.parametrize("model", [Verdict, DisputeMessage, Resolution])
def test_review_texts_cannot_be_changed_or_deleted(project, disputed, model):
    make_accepted(project)
    row = model.objects.latest("pk")
    column = {Verdict: "note", DisputeMessage: "text", Resolution: "reason"}[model]

    assert changed(row, **{column: "Something else."}) != ""
    assert deleted(row) != ""


def test_nothing_of_a_triple_is_deleted(disputed):
    assert "a triple is never deleted" in deleted(disputed)
    assert "a seat is released, never deleted" in deleted(disputed.current.seats.first())


def test_where_an_imported_triple_came_from_is_fixed(project):
    triple = make_draft(project)
    entry = ImportedEntry.objects.create(
        triple=triple, file="gold.jsonl", line=3, imported_by=triple.author, imported_at=AT
    )

    assert "where a triple came from" in changed(entry, line=4)
    assert "where a triple came from" in deleted(entry)


def test_nobody_reviews_what_they_wrote(project):
    triple = make_in_review(project)
    one, _ = triple.current.seats.order_by("number")
    co_author = make_member(project, Role.LEAD)
    stranger = make_member(project, Role.REVIEWER)
    released = ReviewSeat.objects.filter(pk=one.pk)
    released.update(released_at=AT)

    assert copied(one, reviewer_id=stranger.pk, released_at=None) == ""
    assert "nobody reviews what they wrote" in copied(one, reviewer_id=triple.author_id, released_at=None)
    Triple.objects.filter(pk=triple.pk).update(adopted_by=co_author)
    assert "nobody reviews what they wrote" in copied(one, reviewer_id=co_author.pk, released_at=None)


def test_nobody_writes_what_they_review(project, disputed):
    reviewer, other = reviewers_of(disputed)[0], make_member(project, Role.ANNOTATOR)
    opened = begin_revision(
        project=project, triple_id=disputed.pk, person=disputed.author, snapshot=disputed.snapshot, at=AT
    )

    assert "nobody writes what they review" in copied(opened, number=9, author_id=reviewer.pk)
    assert "nobody writes what they review" in changed(opened, author_id=reviewer.pk)
    assert "nobody owns what they review" in changed(disputed, author_id=reviewer.pk)
    assert "nobody owns what they review" in changed(disputed, adopted_by_id=reviewer.pk)
    assert changed(opened, author_id=other.pk) == changed(disputed, author_id=other.pk) == ""


def test_a_revision_has_two_live_seats_at_most(project):
    triple = make_in_review(project)
    seat = triple.current.seats.order_by("number").first()
    third = make_member(project, Role.REVIEWER)

    assert copied(seat, reviewer_id=third.pk) != ""
    assert copied(seat, reviewer_id=third.pk, number=3) != ""
    assert copied(seat, number=2) != ""
    assert "a seat keeps its place and its reviewer" in changed(seat, reviewer_id=third.pk)
    assert "a seat keeps its place and its reviewer" in changed(seat, number=3)


def test_a_seat_that_has_answered_is_never_given_away(project):
    triple = make_in_review(project)
    answered, silent = triple.current.seats.order_by("number")
    answer(triple, answered.reviewer)

    assert "a seat that has answered is never given away" in changed(answered, released_at=str(AT))
    assert changed(silent, released_at=str(AT)) == ""


def test_a_released_seat_stays_released(project):
    triple = make_in_review(project)
    seat = triple.current.seats.first()
    ReviewSeat.objects.filter(pk=seat.pk).update(released_at=AT)

    assert "a seat keeps its place and its reviewer" in changed(seat, released_at=None)


def test_one_live_verdict_for_each_reviewer_from_their_own_seat(project):
    triple = make_in_review(project)
    one, two = reviewers_of(triple)
    given = answer(triple, one, VerdictChoice.FLAG)
    other = make_in_review(project)

    assert copied(given, idempotency_key="again") != ""
    assert "a verdict comes from its reviewer's own seat" in copied(given, reviewer_id=two.pk, idempotency_key="b")
    elsewhere = copied(given, revision_id=other.current_id, idempotency_key="c")
    assert "a verdict comes from its reviewer's own seat" in elsewhere
    theirs = answer(triple, two)
    stolen = copied(theirs, supersedes_id=given.pk, idempotency_key="d")
    assert "a verdict replaces only its reviewer's own" in stolen
    assert copied(given, supersedes_id=given.pk, idempotency_key="e") == ""
    assert copied(given, supersedes_id=given.pk, idempotency_key=given.idempotency_key) != ""


def test_a_flag_names_what_is_wrong_and_a_confirmation_names_nothing(project):
    triple = make_in_review(project)
    one, _ = reviewers_of(triple)
    given = answer(triple, one)

    assert copied(given, supersedes_id=given.pk, idempotency_key="b", choice="flag") != ""
    assert copied(given, supersedes_id=given.pk, idempotency_key="c", reasons=["other"]) != ""


@pytest.mark.parametrize(
    "values",
    [
        {"state": "nowhere"},
        {"state": "accepted"},
        {"state": "retired"},
        {"is_stale": True},
        {"author_id": None},
    ],
)
def test_a_triple_cannot_be_put_into_a_state_it_may_not_have(project, values):
    assert changed(make_draft(project), **values) != ""


def test_an_adjudication_has_a_judge_and_a_reason(project):
    make_accepted(project)

    assert copied(Resolution.objects.get(), kind="adjudicated", reason="Read it.") != ""


def test_two_rows_of_one_number_cannot_be(project):
    triple = make_draft(project)

    assert copied(triple) != ""
    assert copied(triple.current) != ""
    assert copied(triple.current.expected_blocks.get()) != ""
    assert (Revision.objects.count(), ExpectedBlock.objects.count(), reload(triple).number) == (1, 1, 1)


# Candidate blocks --------------------------------------------------------------------------------------------------


def test_a_candidate_block_has_two_answers_at_most_one_a_person(project):
    candidate, (one, _) = make_open(project)
    third = make_member(project, Role.REVIEWER)
    given = say(candidate, one)

    assert "candidate" in copied(given, number=2, idempotency_key="another")
    assert "candidate" in copied(given, reviewer_id=third.pk, idempotency_key="another")
    assert "candidate_answer_is_first_or_second" in copied(
        given, number=3, reviewer_id=third.pk, idempotency_key="another"
    )
    assert not copied(given, number=2, reviewer_id=third.pk, idempotency_key="another")


def test_nobody_answers_about_what_they_wrote_or_proposed(project):
    candidate, (one, _) = make_open(project)
    given = say(candidate, one)

    for person in (candidate.triple.author, candidate.proposed_by):
        assert "nobody answers" in copied(given, number=2, reviewer_id=person.pk, idempotency_key="another")


def test_an_answer_is_kept_and_none_comes_after_both(project):
    candidate, (one, two) = make_open(project)
    given = say(candidate, one, REJECT)

    assert refused("UPDATE review_candidateanswer SET note = 'x' WHERE id = %s", given.pk)
    assert refused("DELETE FROM review_candidateanswer WHERE id = %s", given.pk)
    say(candidate, two, REJECT)
    late = copied(given, supersedes_id=given.pk, idempotency_key="another")
    assert "both answers are in" in late
    assert CandidateAnswer.objects.count() == 2


def test_a_candidate_block_keeps_what_it_asks_and_is_never_reopened(project):
    candidate, (one, two) = make_open(project)
    column = "UPDATE review_candidateblock SET {} WHERE id = %s"

    assert "keeps what it asks" in refused(column.format("proposed_by_id = proposed_by_id + 1"), candidate.pk)
    assert "never deleted" in refused("DELETE FROM review_candidateblock WHERE id = %s", candidate.pk)
    assert refused(column.format("state = 'confirmed'"), candidate.pk)
    assert refused(column.format("state = 'rejected'"), candidate.pk)
    say(candidate, one, REJECT)
    say(candidate, two, REJECT)
    assert "never changed" in refused(column.format("state = 'open', closed_at = NULL"), candidate.pk)
    assert CandidateBlock.objects.get().state == "rejected"


def test_a_note_on_a_miss_is_taken_back_never_changed(project):
    triple = make_accepted(project)
    note = note_miss(project=project, triple_id=triple.pk, kind="wrong", passage="a" * 64, person=triple.author, at=AT)

    assert "never changed" in refused("UPDATE review_missnote SET text = 'x' WHERE id = %s", note.pk)
    assert "never deleted" in refused("DELETE FROM review_missnote WHERE id = %s", note.pk)
    assert "miss_note_wrong" in copied(note, passage="")
    assert MissNote.objects.count() == 1
