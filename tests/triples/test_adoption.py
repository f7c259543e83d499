"""Candidates: apart from everybody's drafts until a person adopts one, and never further without."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.audit.models import Event
from apps.common.errors import Forbidden
from apps.jobs.models import Notification
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import submit_triple
from apps.review.models import ReviewSeat
from apps.triples.actions.imports import CandidateRefused, adopt_candidate, reject_candidate
from apps.triples.actions.triples import DraftRefused, save_draft, start_draft, withdraw_draft
from apps.triples.enums import State
from apps.triples.models import Rejection, Triple
from apps.triples.selectors.retriever_hits import candidates_of, page_of
from apps.triples.selectors.triples import authors_of, visible_triples
from tests.factories import AT, lead_of, make_member, make_user
from tests.module_rows import rows_of_module
from tests.review.factories import answer_both, make_triple
from tests.triples.factories import make_candidate, make_team, make_wording


@rows_of_module
def team():
    return make_team(reviewers=3)


@pytest.fixture
def candidate(team):
    return make_candidate(team)


def adopt(triple, person):
    return adopt_candidate(project=triple.project, triple_id=triple.pk, person=person, at=AT)


def reject(triple, person, reason="The block does not say so."):
    return reject_candidate(project=triple.project, triple_id=triple.pk, person=person, reason=reason, at=AT)


# Adopting ----------------------------------------------------------------------------------------------------------


def test_adopting_makes_the_person_the_author_and_tells_the_importer_who_is_none(team, candidate):
    person = make_member(team, Role.ANNOTATOR, name="Ann")

    adopted = adopt(candidate, person)

    assert (adopted.state, adopted.author, adopted.adopted_by) == (State.DRAFT, person, person)
    assert authors_of(adopted) == {person.pk}
    assert Event.objects.get(action="triple.adopt").actor == person
    [told] = Notification.objects.filter(person=lead_of(team), kind="triple.adopted")
    assert told.sentence == f"Ann adopted {candidate.label}, which a machine wrote."


def test_the_adopter_writes_and_submits_it_and_two_others_confirm(team, candidate):
    person = make_member(team, Role.ANNOTATOR)
    adopt(candidate, person)

    sent = submit_triple(project=team, triple_id=candidate.pk, author=person, at=AT)
    accepted = answer_both(sent, "confirm", "confirm")

    assert (accepted.state, accepted.is_machine_written, accepted.adopted_by) == (State.ACCEPTED, True, person)
    assert person.pk not in set(ReviewSeat.objects.values_list("reviewer", flat=True))


def test_the_importer_may_review_what_somebody_else_adopted(db):
    team = make_team(reviewers=1)
    importer = make_member(team, Role.REVIEWER, Role.LEAD)
    candidate = make_candidate(team, importer=importer)
    person = make_member(team, Role.ANNOTATOR)
    adopt(candidate, person)

    submit_triple(project=team, triple_id=candidate.pk, author=person, at=AT)

    assert importer.pk in set(ReviewSeat.objects.values_list("reviewer", flat=True))


def test_nobody_writes_submits_or_withdraws_a_candidate_not_even_who_imported_it(team, candidate):
    lead, snapshot = lead_of(team), candidate.snapshot

    with pytest.raises(DraftRefused, match="A machine wrote it"):
        save_draft(
            project=team,
            triple_id=candidate.pk,
            author=lead,
            seen_version=candidate.edit_version,
            snapshot=snapshot,
            wording=make_wording(snapshot),
            at=AT,
        )
    with pytest.raises(SubmitRefused, match="A machine wrote it"):
        submit_triple(project=team, triple_id=candidate.pk, author=lead, at=AT)
    with pytest.raises(DraftRefused, match="A machine wrote it"):
        withdraw_draft(project=team, triple_id=candidate.pk, author=lead, at=AT)


def test_what_is_split_off_stays_marked_and_is_its_authors(team, candidate):
    person = make_member(team, Role.ANNOTATOR)
    adopted = adopt(candidate, person)

    child = start_draft(project=team, author=person, snapshot=adopted.snapshot, parent=adopted, at=AT)

    assert (child.is_machine_written, child.adopted_by, child.is_candidate) == (True, person, False)


# Rejecting ---------------------------------------------------------------------------------------------------------


def test_a_rejection_withdraws_it_with_the_reason_on_the_record(team, candidate):
    person = make_member(team, Role.ANNOTATOR)

    rejected = reject(candidate, person)

    kept = Rejection.objects.get(triple=candidate)
    assert rejected.state == State.WITHDRAWN
    assert (kept.reason, kept.rejected_by, kept.rejected_at) == ("The block does not say so.", person, AT)
    assert Event.objects.get(action="triple.withdraw").after["reason"] == "The block does not say so."


@pytest.mark.parametrize(("reason", "code"), [("  ", "reason_missing"), ("x" * 2001, "reason_too_long")])
def test_a_rejection_needs_a_reason_of_some_length(candidate, reason, code):
    with pytest.raises(CandidateRefused) as refused:
        reject(candidate, lead_of(candidate.project), reason)

    assert refused.value.code == code
    assert Triple.objects.get(pk=candidate.pk).state == State.DRAFT


def test_why_it_was_rejected_is_never_changed(candidate):
    reject(candidate, lead_of(candidate.project))

    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        Rejection.objects.update(reason="Another")


# Who and when ------------------------------------------------------------------------------------------------------

MAY = {Role.ANNOTATOR: True, Role.LEAD: True, Role.REVIEWER: False, Role.VIEWER: False, None: False}


@pytest.mark.parametrize("step", [adopt, reject])
@pytest.mark.parametrize("role", MAY)
def test_annotators_and_leads_answer_candidates(candidate, role, step):
    person = make_member(candidate.project, role) if role else make_user()

    if MAY[role]:
        step(candidate, person)
    else:
        with pytest.raises(Forbidden, match="Only annotators and leads"):
            step(candidate, person)


@pytest.mark.parametrize("step", [adopt, reject])
@pytest.mark.parametrize("state", State)
def test_what_a_person_wrote_is_never_adopted_or_rejected_whatever_its_state(team, state, step):
    triple = make_triple(team, state)

    with pytest.raises(CandidateRefused, match="A person wrote it"):
        step(triple, lead_of(team))


@pytest.mark.parametrize("step", [adopt, reject])
@pytest.mark.parametrize(("earlier", "refusal"), [(adopt, "Ann has adopted it"), (reject, "It is withdrawn")])
def test_a_candidate_is_answered_once(candidate, earlier, refusal, step):
    earlier(candidate, make_member(candidate.project, Role.ANNOTATOR, name="Ann"))

    with pytest.raises(CandidateRefused, match=refusal):
        step(candidate, lead_of(candidate.project))


# The database ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [state for state in State if state not in {State.DRAFT, State.WITHDRAWN}])
def test_the_database_rejects_progress_of_a_candidate_without_an_author(candidate, state):
    values = {"resolution": "consensus", "resolved_at": AT, "retire_reason": "block_gone"}

    with pytest.raises(IntegrityError, match="only after a person has adopted it"), transaction.atomic():
        Triple.objects.filter(pk=candidate.pk).update(state=state, **values)


@pytest.mark.parametrize("values", [{"is_machine_written": False}, {"adopted_by": None}])
def test_the_database_protects_mark_and_adopter(candidate, values):
    adopt(candidate, lead_of(candidate.project))

    with pytest.raises(IntegrityError, match=r"stays marked|never changed"), transaction.atomic():
        Triple.objects.filter(pk=candidate.pk).update(**values)


# Apart -------------------------------------------------------------------------------------------------------------


def test_a_candidate_is_in_nobodys_list_until_it_is_adopted(team, candidate):
    make_candidate(make_team())
    lead = lead_of(team)
    member = membership_in(lead, team.slug)

    assert list(visible_triples(member)) == []
    assert list(candidates_of(team)) == [candidate]

    adopt(candidate, lead)

    assert list(visible_triples(member)) == [candidate]
    assert list(candidates_of(team)) == []


def test_pages_lead_forth_and_back(team, monkeypatch):
    monkeypatch.setattr("apps.triples.selectors.retriever_hits.PER_PAGE", 2)
    for _ in range(5):
        make_candidate(team)

    first, second = page_of(team), page_of(team, after=2)
    last = page_of(team, after=second.after)

    assert [[row.number for row in page.rows] for page in (first, second, last)] == [[1, 2], [3, 4], [5]]
    assert [(page.before, page.after) for page in (first, second, last)] == [(None, 2), (3, 4), (5, None)]
    assert [row.number for row in page_of(team, before=5).rows] == [3, 4]
    assert [row.number for row in page_of(team, before=3).rows] == [1, 2]


# Pages -------------------------------------------------------------------------------------------------------------


def url(name, triple):
    return reverse(f"triples:{name}", args=[triple.project.slug, triple.pk])


def test_a_person_reads_and_adopts_it_and_goes_to_the_bench(client, team, candidate):
    person = make_member(team, Role.ANNOTATOR)
    client.force_login(person)

    page = client.get(url("candidate", candidate)).content.decode()
    answer = client.post(url("adopt", candidate), follow=True)

    assert candidate.current.question in page
    assert "model-x" in page
    assert answer.redirect_chain == [(url("edit", candidate), 302)]
    assert f"{candidate.label} is now your draft" in answer.content.decode()


def test_a_person_rejects_it_and_comes_to_the_next(client, team, candidate):
    following = make_candidate(team)
    client.force_login(make_member(team, Role.ANNOTATOR))

    answer = client.post(url("reject", candidate), {"reason": "Nobody asks this."})

    assert answer.url == url("candidate", following)
    assert "Nobody asks this." in client.get(url("candidate", candidate)).content.decode()


def test_without_a_reason_the_page_says_so_and_nothing_happens(client, candidate):
    client.force_login(lead_of(candidate.project))

    answer = client.post(url("reject", candidate), {"reason": " "})

    assert answer.status_code == 400
    assert "A rejection needs a reason." in answer.content.decode()


def test_the_origin_is_shown_on_every_screen_it_passes(client, team, candidate):
    person = make_member(team, Role.ANNOTATOR)
    adopt(candidate, person)
    client.force_login(person)
    pages = [client.get(url("edit", candidate)), client.get(reverse("triples:mine", args=[team.slug]))]
    submit_triple(project=team, triple_id=candidate.pk, author=person, at=AT)
    reviewer = ReviewSeat.objects.first().reviewer
    client.force_login(reviewer)
    pages += [client.get(reverse(f"review:{name}", args=[team.slug, candidate.pk])) for name in ("screen", "triple")]
    pages += [client.get(reverse("review:queue", args=[team.slug]))]

    assert [("machine-written" in page.content.decode()) for page in pages] == [True] * 5
