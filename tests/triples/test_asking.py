"""An accepted question is asked as a query: the Q&A's own, or one of its own that no list shows."""

import io
import json

import pytest
from django.db import IntegrityError, connection, transaction

from apps.accounts.models import Project
from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.queries.actions.queries import QueryRefused, create_query, edit_query, import_queries, lock_queries
from apps.queries.formats import read_queries
from apps.queries.models import Query
from apps.review.actions.submitting import begin_revision, submit_triple
from apps.review.enums import Decision, VerdictChoice
from apps.triples.actions.triples import save_draft
from apps.triples.enums import State
from apps.triples.models import AskedRevision, Triple
from apps.triples.selectors.triples import AskedQuery, asked_by_label, asked_queries, newest_snapshot
from tests.factories import AT, lead_of
from tests.review.factories import (
    answer_both,
    decide,
    make_accepted,
    make_accepted_from,
    make_disputed,
    make_in_review,
    make_triple,
    reload,
    reviewers_of,
    take_back,
)
from tests.triples.factories import make_team, make_wording

CONFIRM = VerdictChoice.CONFIRM


@pytest.fixture
def project(db) -> Project:
    return make_team()


def asked_of(triple: Triple) -> AskedQuery:
    revision = reload(triple).current_id
    return asked_queries([revision])[revision]


def read_in(project: Project, *rows: dict) -> None:
    file, errors = TableFile("queries.jsonl", io.BytesIO("\n".join(map(json.dumps, rows)).encode())), ErrorList()
    rows = read_queries(file, errors, format="jsonl")
    import_queries(project=project, rows=rows, file=file, errors=errors, actor=lead_of(project), at=AT)


@pytest.mark.parametrize(
    ("make", "accept"),
    [
        (make_in_review, lambda triple: answer_both(triple, CONFIRM, CONFIRM)),
        (make_disputed, lambda triple: take_back(triple, reviewers_of(triple)[1])),
        (make_disputed, lambda triple: decide(triple, lead_of(triple.project), Decision.ACCEPT)),
    ],
)
def test_whatever_accepts_a_question_has_it_asked_under_its_label(project, make, accept):
    triple = make(project)
    assert not AskedRevision.objects.exists()

    accept(triple)

    assert asked_of(triple) == (Query.everything.get().pk, "T-0001", reload(triple).revision.question)
    assert not Query.objects.exists()


def test_the_event_of_the_acceptance_names_the_query(project):
    triple = make_accepted(project)

    event = Event.objects.get(action="triple.agree")

    assert (event.object_id, event.after["asked_as"]) == (str(triple.pk), "T-0001")


@pytest.mark.parametrize("state", [state for state in State if state not in (State.ACCEPTED, State.RETIRED)])
def test_what_was_never_accepted_is_not_asked(project, state):
    make_triple(project, state)

    assert not AskedRevision.objects.exists()
    assert not Query.everything.exists()


@pytest.mark.parametrize(("state", "stale"), [(State.ACCEPTED, True), (State.RETIRED, False)])
def test_what_was_accepted_stays_asked(project, state, stale):
    triple = make_triple(project, state, stale=stale)

    assert asked_of(triple).outside_id == "T-0001"


def test_a_question_that_came_from_a_query_is_asked_as_that_query(project):
    query = create_query(project=project, outside_id="Q01", text="session length", actor=lead_of(project), at=AT)

    triple = make_accepted_from(query, newest_snapshot(project))

    assert asked_of(triple) == (query.pk, "Q01", "session length")
    assert asked_by_label(project) == {triple.label: "Q01"}
    assert Query.everything.count() == 1


@pytest.mark.parametrize(("question", "outside_id"), [("How long may a session last?", "T-0001-2"), (None, "T-0001")])
def test_only_a_reworded_question_becomes_another_query(project, question, outside_id):
    triple = make_triple(project, State.ACCEPTED, stale=True)
    newest = project.corpora.get().snapshots.last()
    first = asked_of(triple)

    this = {"project": project, "triple_id": triple.pk, "snapshot": newest, "at": AT}
    revision = begin_revision(person=triple.author, **this)
    wording = make_wording(newest, question=question or first.text)
    save_draft(author=triple.author, seen_version=revision.triple.edit_version, wording=wording, **this)
    submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)
    answer_both(triple, CONFIRM, CONFIRM)

    assert asked_of(triple) == (Query.everything.last().pk, outside_id, question or first.text)
    assert AskedRevision.objects.count() == 2


def test_a_label_that_a_query_has_leaves_the_next_id_free(project):
    for outside_id in ("T-0001", "T-0001-2"):
        create_query(project=project, outside_id=outside_id, text="red key", actor=lead_of(project), at=AT)

    assert asked_of(make_accepted(project)).outside_id == "T-0001-3"


def test_a_new_query_cannot_take_the_id_of_an_asked_question(project):
    question = make_accepted(project).revision.question
    sentence = (
        f"T-0001 is the id under which systems are asked the question of a Q&A: “{question}”."
        " Choose another id for the query."
    )

    with pytest.raises(QueryRefused) as refused:
        create_query(project=project, outside_id="T-0001", text="red key", actor=lead_of(project), at=AT)
    with pytest.raises(InputErrors) as faults:
        read_in(project, {"query_id": "Q01", "text": "red key"}, {"query_id": "T-0001", "text": "green window"})

    assert refused.value.sentence == sentence
    (fault,) = faults.value.errors
    assert (fault.line, fault.field, fault.value, fault.message) == (2, "query_id", "T-0001", sentence)
    assert not Query.objects.exists()


def test_the_words_of_an_asked_question_are_fixed_and_nobody_edits_it(project):
    asked = asked_of(make_accepted(project)).query_id

    with pytest.raises(QueryRefused):
        edit_query(query_id=asked, text="other words", actor=lead_of(project), at=AT)
    for statement in (
        lambda: Query.everything.filter(pk=asked).update(text="other words"),
        lambda: Query.everything.filter(pk=asked).update(is_asked=False),
        lambda: Query.everything.filter(pk=asked).delete(),
        lambda: AskedRevision.objects.update(query=asked),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            statement()
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute('DELETE FROM "triples_askedrevision"')


def test_an_asked_question_can_be_fixed_for_a_run_like_any_query(project):
    asked = asked_of(make_accepted(project)).query_id

    assert lock_queries([asked], at=AT) == 0
