"""Q&As that were reviewed elsewhere: taken as accepted by a lead, drawn at random, reviewed blind."""

import pytest

from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.corpus.actions.imports import undo_import
from apps.queries.models import Query
from apps.review.models import Resolution, Verdict
from apps.review.selectors.elsewhere import elsewhere_sets
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.factories import AT, lead_of
from tests.review.elsewhere import REASON, REVIEWERS, applied, draw_from, entry, take_in
from tests.review.factories import answer_both, decide, reload
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_team(reviewers=3)


def triples_of(project) -> list[Triple]:
    return list(Triple.objects.filter(project=project).select_related("author", "current__author").order_by("number"))


def test_a_lead_takes_what_was_reviewed_elsewhere_as_accepted_with_a_reason_on_record(project):
    lead = lead_of(project)
    item = applied(project, entry(), entry(reviewed_by=[]), entry(machine_written=True))

    taken = take_in(item)

    one, draft, candidate = triples_of(project)
    end = Resolution.objects.get()
    event = Event.objects.get(action="triple.take")
    assert [t.state for t in (one, draft, candidate)] == [State.ACCEPTED, State.DRAFT, State.DRAFT]
    assert (one.resolution, one.round, one.current.submitted_at, one.resolved_at) == ("elsewhere", 1, AT, AT)
    assert (end.kind, end.decided_by, end.reason, end.revision) == ("elsewhere", lead, REASON, one.current)
    assert (event.actor, event.object_label) == (lead, "T-0001")
    assert event.after["reviewed_by"] == REVIEWERS
    assert (event.after["reason"], event.after["resolution_there"]) == (REASON, "consensus")
    assert Query.everything.get(outside_id=event.after["asked_as"]).text == one.current.question
    assert taken.result["taken"]["accepted"] == 1
    assert Verdict.objects.count() == 0


def test_the_random_ones_are_reviewed_blind_and_the_share_of_wrong_ones_has_an_interval(project):
    item = take_in(applied(project, *(entry() for _ in range(6))))

    draw_from(item, 4)

    drawn = [t for t in triples_of(project) if t.sampled_at]
    assert [(t.state, t.resolution, t.round) for t in drawn] == [(State.IN_REVIEW, "elsewhere", 1)] * 4
    [found] = elsewhere_sets(project)
    assert (found.taken, found.drawn, found.reviewed, found.error_rate.value) == (6, 4, 0, None)
    right, policy, dropped, returned = drawn
    answer_both(right, "confirm", "confirm")
    answer_both(policy, "confirm", "flag")
    answer_both(dropped, "flag", "flag")
    answer_both(returned, "flag", "confirm")
    assert [reload(t).resolution for t in drawn] == ["consensus", "", "", ""]
    assert elsewhere_sets(project)[0].open == 2
    from apps.review.enums import Decision

    decide(policy, lead_of(project), Decision.ACCEPT)
    decide(returned, lead_of(project), Decision.RETURN)
    assert elsewhere_sets(project)[0].open == 1
    answer_both(returned, "confirm", "confirm")

    [found] = elsewhere_sets(project)
    assert (found.reviewed, found.wrong, found.error_rate.value) == (4, 1, 0.25)


def test_undone_while_nothing_rests_on_them(project):
    item = take_in(applied(project, entry(), entry()))

    undo_import(import_id=item.pk, actor=lead_of(project), at=AT)

    assert {t.state for t in triples_of(project)} == {State.WITHDRAWN}
    again = take_in(applied(project, entry(), entry()))
    draw_from(again, 1)
    with pytest.raises(Refusal, match="drawn for review since: 1 Q&A"):
        undo_import(import_id=again.pk, actor=lead_of(project), at=AT)
