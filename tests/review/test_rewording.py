"""An accepted question that a reader of its miss finds unclear: reworded, confirmed again, and in later versions."""

import pytest
from django.urls import reverse

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.goldsets.enums import VersionState
from apps.review.actions.candidate_blocks import withdraw_note
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import begin_revision, reword, submit_triple
from apps.review.enums import VerdictChoice
from apps.review.selectors.candidate_blocks import doubts_about
from apps.review.selectors.participation import participation_of
from apps.triples.actions.triples import save_draft
from apps.triples.enums import State
from apps.triples.models import AskedRevision
from apps.triples.selectors.triples import expected_blocks, open_revision
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import make_bench, make_version
from tests.module_rows import rows_of_module
from tests.review.candidates import CONFIRM, doubt, propose, say
from tests.review.factories import answer_both, make_accepted, make_triple, reload, reviewers_of
from tests.triples.factories import make_team, make_wording

pytestmark = pytest.mark.django_db
ANEW = "How long may one session of break-glass access last?"
C = VerdictChoice.CONFIRM


@rows_of_module
def triple():
    """Accepted, and somebody finds its question unclear."""
    made = make_accepted(make_team(reviewers=3))
    doubt(made, make_member(made.project, Role.ANNOTATOR, name="Reader"), "Which session?")
    return made


@pytest.fixture
def project(triple):
    return triple.project


def anew(triple, person=None, question=ANEW, **more):
    triple = reload(triple)
    snapshot = triple.revision.snapshot
    wording = make_wording(snapshot, question=question, **more)
    return reword(
        project=triple.project,
        triple_id=triple.pk,
        person=person or triple.author,
        snapshot=snapshot,
        wording=wording,
        at=AT,
    )


def begin(triple, person=None):
    person, snapshot = person or triple.author, triple.revision.snapshot
    return begin_revision(project=triple.project, triple_id=triple.pk, person=person, snapshot=snapshot, at=AT)


def doubts_of(triple, person):
    return doubts_about(triple, participation_of(triple, person, frozenset({"annotator"})))


def test_its_author_rewords_it_and_the_same_two_confirm_it_again(triple):
    before = reviewers_of(triple)

    assert anew(triple).state == State.IN_REVIEW
    assert reviewers_of(triple) == before
    again = answer_both(triple, C, C)

    assert (again.state, again.resolution, again.round) == (State.ACCEPTED, "revised", 2)
    assert again.revision.question == ANEW
    assert AskedRevision.objects.get(revision=again.revision).query.text == ANEW
    assert doubts_of(again, triple.author) == []
    event = Event.objects.get(action="triple.reword")
    assert (event.actor, event.before["state"], event.after["state"]) == (triple.author, "accepted", "in_review")


def test_a_lead_rewords_it_as_well(triple):
    assert anew(triple, lead_of(triple.project)).state == State.IN_REVIEW


def test_it_stays_accepted_with_its_question_while_the_new_one_is_written(triple):
    asked = triple.revision.question

    begin(triple)

    assert (reload(triple).state, reload(triple).revision.question) == (State.ACCEPTED, asked)
    assert begin(triple) == open_revision(triple)


def test_a_flag_of_the_new_question_is_a_dispute_like_any_other(triple):
    anew(triple)

    assert answer_both(triple, C, VerdictChoice.FLAG).state == State.DISPUTED


def test_a_question_that_nobody_doubts_is_not_reworded(project):
    with pytest.raises(SubmitRefused, match="Nobody has found its question unclear"):
        anew(make_accepted(project))


def test_a_stale_one_is_pinned_again_instead(project):
    triple = make_triple(project, State.ACCEPTED, stale=True)
    doubt(triple, lead_of(project))

    with pytest.raises(SubmitRefused, match="only an accepted Q&A whose passage is current"):
        anew(triple)


def test_the_same_question_is_no_answer_to_a_doubt(triple):
    with pytest.raises(SubmitRefused, match="The question reads as before"):
        anew(triple, question=triple.revision.question, answer="Eight hours at most.")


def test_who_reviewed_it_is_refused_without_learning_of_the_doubt(project, triple):
    for one in (triple, make_accepted(project)):
        reviewer = reviewers_of(one)[0]
        set_roles(project=project, user=reviewer, roles=[Role.REVIEWER, Role.LEAD], actor=lead_of(project), at=AT)
        with pytest.raises(SubmitRefused, match="You reviewed this Q&A"):
            anew(one, reviewer)


def test_nobody_else_rewords_it_or_learns_of_the_doubt(project, triple):
    for one in (triple, make_accepted(project)):
        with pytest.raises(SubmitRefused, match="who wrote it, or a lead can reword it"):
            anew(one, make_member(project, Role.ANNOTATOR))


def test_who_answers_about_a_further_passage_does_not_reword_it(project, triple):
    both = make_member(project, Role.REVIEWER, Role.LEAD)
    say(propose(triple, lead_of(project)), both)

    with pytest.raises(SubmitRefused, match="You reviewed this Q&A"):
        anew(triple, both)


def test_what_was_begun_can_be_ended_when_the_doubt_is_taken_back(triple):
    begin(triple)
    note = doubts_of(triple, triple.author)[0]
    withdraw_note(project=triple.project, pk=note.pk, person=note.made_by, at=AT)

    assert anew(triple).state == State.IN_REVIEW


def test_a_passage_confirmed_meanwhile_is_in_both_revisions(project, triple):
    writing, candidate = begin(triple), propose(triple, lead_of(project))
    seen, snapshot = reload(triple).edit_version, triple.revision.snapshot
    for person in reviewers_of(triple):
        say(candidate, person, CONFIRM)

    writing.refresh_from_db()
    current = reload(triple).revision
    assert (current.number, writing.number) == (2, 3)
    assert [len(expected_blocks(revision)) for revision in (current, writing)] == [2, 2]
    with pytest.raises(Exception, match="saved elsewhere"):
        save_draft(
            project=project, triple_id=triple.pk, author=triple.author, seen_version=seen, snapshot=snapshot,
            wording=make_wording(snapshot, question=ANEW), at=AT,
        )  # fmt: skip


def test_nobody_is_asked_about_passages_while_the_new_question_is_reviewed(project, triple):
    candidate, reviewers = propose(triple, lead_of(project)), reviewers_of(triple)
    anew(triple)

    with pytest.raises(Exception, match="nobody is asked about this passage any more"):
        say(candidate, reviewers[0])


def test_versions_keep_the_question_that_they_were_released_with():
    bench = make_bench(triples=1)
    for _ in range(2):
        make_member(bench.project, Role.REVIEWER)
    triple = bench.project.triples.get()
    asked = triple.revision.question
    first = make_version(VersionState.RELEASED, bench)
    doubt(triple, bench.lead)
    begin(triple)
    meanwhile = make_version(VersionState.RELEASED, bench)
    anew(triple)
    answer_both(triple, C, C)
    last = make_version(VersionState.RELEASED, bench)

    found = [version.triples.get().content["question"] for version in (first, meanwhile, last)]
    assert found == [asked, asked, ANEW]


# Its page ----------------------------------------------------------------------------------------------------------


def page(client, triple, person):
    client.force_login(person)
    return client.get(reverse("review:triple", args=[triple.project.slug, triple.pk])).content.decode()


def test_its_page_has_one_button_that_leads_to_the_editor(client, triple):
    shown = page(client, triple, triple.author)
    assert "Which session?" in shown
    assert "Reword the question" in shown

    answered = client.post(reverse("review:begin", args=[triple.project.slug, triple.pk]))

    assert answered.url == reverse("triples:edit", args=[triple.project.slug, triple.pk])
    what_it_answers = reverse("review:flags", args=[triple.project.slug, triple.pk])
    assert what_it_answers in client.get(answered.url).content.decode()
    assert "Which session?" in client.get(what_it_answers).content.decode()
    assert "Reword the question: continue writing" in page(client, triple, triple.author)


def test_what_is_written_there_goes_to_review(client, triple):
    writing = begin(triple)
    save_draft(
        project=triple.project, triple_id=triple.pk, author=triple.author, seen_version=reload(triple).edit_version,
        snapshot=writing.snapshot, wording=make_wording(writing.snapshot, question=ANEW), at=AT,
    )  # fmt: skip

    sent = submit_triple(project=triple.project, triple_id=triple.pk, author=triple.author, at=AT)

    assert sent.state == State.IN_REVIEW


def test_reviewers_see_neither_the_doubt_nor_the_button(client, triple):
    for person in (*reviewers_of(triple), make_member(triple.project, Role.REVIEWER)):
        shown = page(client, triple, person)
        assert "Which session?" not in shown
        assert "Reword the question" not in shown
        what_it_answers = client.get(reverse("review:flags", args=[triple.project.slug, triple.pk]))
        assert "Which session?" not in what_it_answers.content.decode()
