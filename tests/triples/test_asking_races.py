"""Accepting at the same time as somebody else takes the label, or accepts too; the order is the test's."""

import pytest

from apps.queries.actions.queries import create_query
from apps.queries.models import Query
from apps.review.enums import Decision
from apps.triples.models import AskedRevision
from tests.factories import AT, lead_of
from tests.races import at_once, overlapping, refusals
from tests.review.factories import decide, make_disputed, reload
from tests.triples.factories import make_team

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def name_query(project):
    return create_query(project=project, outside_id="T-0001", text="red key", actor=lead_of(project), at=AT)


def accept(triple):
    return decide(triple, lead_of(triple.project), Decision.ACCEPT)


def test_a_question_accepted_twice_at_once_is_asked_once():
    triple = make_disputed(make_team())

    results = at_once(*[lambda: accept(triple)] * 3)

    assert len(refusals(results)) == 2
    assert AskedRevision.objects.get().revision_id == reload(triple).current_id
    assert Query.everything.get().outside_id == "T-0001"


def test_a_label_that_a_query_is_just_taking_leaves_the_next_id():
    project = make_team()
    triple = make_disputed(project)

    overlapping(lambda: name_query(project), lambda: accept(triple))

    assert set(Query.everything.values_list("outside_id", "is_asked")) == {("T-0001", False), ("T-0001-2", True)}


def test_an_id_that_an_acceptance_is_just_taking_is_refused_to_a_query():
    project = make_team()
    triple = make_disputed(project)

    _, refused = overlapping(lambda: accept(triple), lambda: name_query(project))

    assert refused.code == "query_exists"
    assert Query.everything.get().is_asked
