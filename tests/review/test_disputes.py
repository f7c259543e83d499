"""What can end a dispute, and the thread that leads there."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.review.actions.disputes import Claim, DisputeRefused, drop_triple, post_message, split_triple
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import begin_revision, revise
from apps.review.enums import Category, Decision, VerdictChoice
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_member
from tests.review.factories import (
    answer,
    answer_both,
    decide,
    make_claims,
    make_disputed,
    make_in_review,
    reload,
    reviewers_of,
    take_back,
)
from tests.triples.factories import make_team, make_wording

C, F = VerdictChoice.CONFIRM, VerdictChoice.FLAG


def test_revising_opens_a_new_round_for_the_same_two(project):
    triple = make_disputed(project)
    before = reviewers_of(triple)

    revised = revise(
        project=project,
        triple_id=triple.pk,
        author=triple.author,
        snapshot=triple.snapshot,
        wording=make_wording(triple.snapshot, answer="It closes by itself.", evidence="It closes by itself"),
        at=AT,
    )

    assert (revised.state, revised.round, revised.current.number) == (State.IN_REVIEW, 2, 2)
    assert set(reviewers_of(triple)) == set(before)
    assert answer_both(revised, C, C).resolution == "revised"


def test_the_author_alone_begins_a_revision_and_twice_opens_one_and_leaves_the_state(project):
    triple = make_disputed(project)
    args = {"project": project, "triple_id": triple.pk, "person": triple.author, "snapshot": triple.snapshot, "at": AT}
    with pytest.raises(SubmitRefused, match="Only Author, who wrote it, can revise it"):
        begin_revision(**args | {"person": reviewers_of(triple)[0]})

    first, second = begin_revision(**args), begin_revision(**args)

    assert first == second
    assert (reload(triple).state, reload(triple).current.number) == (State.DISPUTED, 1)
    assert first.question == triple.current.question


def test_the_flagger_withdraws_with_a_policy(project):
    triple = make_disputed(project)
    confirmer, flagger = reviewers_of(triple)

    with pytest.raises(DisputeRefused, match=f"Only {flagger}, who raised it"):
        take_back(triple, confirmer)

    accepted = take_back(triple, flagger, Category.SYNONYM)

    assert (accepted.state, accepted.resolution) == (State.ACCEPTED, "policy:synonym")


def test_splitting_makes_drafts_with_links_both_ways_each_with_its_own_block(project):
    triple = make_disputed(project)
    own = make_wording(triple.snapshot)
    other = make_wording(triple.snapshot, key="rotation", evidence="A root key is rotated at least every twelve months")
    claims = [Claim("How long?", "Eight hours.", own.blocks), Claim("How often?", "Every twelve months.", other.blocks)]

    children = split_triple(project=project, triple_id=triple.pk, author=triple.author, claims=claims, at=AT)

    assert reload(triple).state == State.SPLIT
    assert [child.state for child in children] == [State.DRAFT] * 2
    assert list(triple.children.order_by("number")) == children
    assert [child.current.question for child in children] == [claim.question for claim in claims]
    assert [child.parent for child in children] == [triple, triple]
    blocks = [child.current.expected_blocks.get() for child in children]
    assert [block.version.block.outside_id for block in blocks] == ["access", "rotation"]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda one, two: [one], "A split makes 2 to 6 claims, not 1."),
        (lambda one, two: [one] * 7, "A split makes 2 to 6 claims, not 7."),
        (lambda one, two: [one, two._replace(question=" ")], "Claim 2 has no question of its own."),
        (lambda one, two: [one, two._replace(answer=" ")], "Claim 2 has no answer."),
        (lambda one, two: [one._replace(blocks=()), two], "Claim 1 has no evidence: choose a sentence"),
    ],
)
def test_a_split_is_refused_naming_the_claim_that_lacks_something(project, spoil, sentence):
    triple = make_disputed(project)
    claims = spoil(*make_claims(triple))

    with pytest.raises(DisputeRefused, match=sentence):
        split_triple(project=project, triple_id=triple.pk, author=triple.author, claims=claims, at=AT)

    assert (reload(triple).state, Triple.objects.count()) == (State.DISPUTED, 1)


def test_dropping_needs_a_reason_and_is_recorded(project):
    triple = make_disputed(project)
    drop = {"project": project, "triple_id": triple.pk, "author": triple.author, "at": AT}

    with pytest.raises(DisputeRefused, match="A reason is needed"):
        drop_triple(**drop, reason="  ")

    dropped = drop_triple(**drop, reason="Nobody asks this.")

    assert dropped.state == State.DROPPED
    assert [(end.kind, end.reason) for end in triple.resolutions.all()] == [("dropped", "Nobody asks this.")]


@pytest.mark.parametrize(
    ("decision", "state", "resolution"),
    [
        (Decision.ACCEPT, State.ACCEPTED, "adjudicated"),
        (Decision.RETURN, State.IN_REVIEW, ""),
        (Decision.DROP, State.DROPPED, ""),
    ],
)
def test_a_lead_without_a_part_decides(project, decision, state, resolution):
    triple = make_disputed(project)

    decided = decide(triple, lead_of(project), decision)

    assert (decided.state, decided.resolution) == (state, resolution)
    with pytest.raises(DisputeRefused, match="A reason is needed"):
        decide(make_disputed(project), lead_of(project), decision, reason="")


def test_returning_opens_a_round_on_the_same_wording(project):
    triple = make_disputed(project)

    decided = decide(triple, lead_of(project), Decision.RETURN)

    assert (decided.round, decided.current.number) == (2, 2)
    assert decided.current.answer == triple.current.answer
    assert decided.current.expected_blocks.get().spans == triple.current.expected_blocks.get().spans
    assert set(reviewers_of(decided)) == set(reviewers_of(triple)), "there are no others"


def test_an_involved_person_does_not_adjudicate(db):
    project = make_team(reviewers=0)
    writing_lead = make_member(project, Role.LEAD, Role.ANNOTATOR, name="Writer")
    reviewing_lead = make_member(project, Role.LEAD, Role.REVIEWER, name="Second")
    make_member(project, Role.REVIEWER, name="Third")
    annotator = make_member(project, Role.ANNOTATOR, name="Fourth")
    triple = make_disputed(project, author=writing_lead)

    for person, reason in (
        (writing_lead, "You wrote this Q&A"),
        (reviewing_lead, "You reviewed this Q&A"),
        (annotator, "Only a lead"),
    ):
        with pytest.raises(DisputeRefused, match=reason):
            decide(triple, person, Decision.ACCEPT)


def test_what_was_being_written_goes_when_the_triple_goes_another_way(project):
    triple = make_disputed(project)
    begin_revision(project=project, triple_id=triple.pk, person=triple.author, snapshot=triple.snapshot, at=AT)

    decide(triple, lead_of(project), Decision.ACCEPT)

    assert triple.revisions.count() == 1


def test_author_and_flagger_write_in_the_thread_and_the_confirmer_reads(project):
    triple = make_disputed(project)
    confirmer, flagger = reviewers_of(triple)
    post = {"project": project, "triple_id": triple.pk, "at": AT}

    post_message(**post, author=triple.author, text="Why?")
    post_message(**post, author=flagger, text="Because.")
    with pytest.raises(DisputeRefused, match="the other reviewer can read"):
        post_message(**post, author=confirmer, text="Me too.")
    with pytest.raises(DisputeRefused, match="A text is needed"):
        post_message(**post, author=flagger, text=" ")

    assert [message.text for message in triple.messages.order_by("pk")] == ["Why?", "Because."]


def test_another_round_on_the_same_wording_goes_to_two_others(db):
    project = make_team(reviewers=4)
    triple = make_disputed(project)
    first = set(reviewers_of(triple))

    again = decide(triple, lead_of(project), Decision.RETURN)

    assert len(set(reviewers_of(again)) - first) == 2


def test_a_lead_reads_both_verdicts_with_their_words(client, db):
    project = make_team()
    triple = make_in_review(project)
    one, two = reviewers_of(triple)
    answer(triple, one, C, note="Says it plainly.")
    answer(triple, two, F, note="Says too much.")
    client.force_login(lead_of(project))

    page = client.get(reverse("review:triple", args=[project.slug, triple.pk])).content.decode()

    assert "Says it plainly." in page
    assert "Says too much." in page
    assert "Policy for numeric precision" in page


def test_who_decided_and_why_stays_on_the_page(client, db):
    project = make_team()
    triple = make_disputed(project)
    decide(triple, lead_of(project), Decision.ACCEPT, reason="The block says so in line two.")
    client.force_login(triple.author)

    page = client.get(reverse("review:triple", args=[project.slug, triple.pk])).content.decode()

    assert f"Adjudicated, {lead_of(project)}" in page
    assert "The block says so in line two." in page
    assert "Policy for" not in page


def flags_of(client, triple: Triple) -> str:
    return client.get(reverse("review:flags", args=[triple.project.slug, triple.pk])).content.decode()


def test_the_bench_of_a_revision_loads_the_flag_that_it_answers(client, project):
    triple = make_disputed(project)
    begin_revision(project=project, triple_id=triple.pk, person=triple.author, snapshot=triple.snapshot, at=AT)
    client.force_login(triple.author)

    bench = client.get(reverse("triples:edit", args=[project.slug, triple.pk])).content.decode()
    told = flags_of(client, triple)

    assert reverse("review:flags", args=[project.slug, triple.pk]) in bench
    assert f"{reviewers_of(triple)[1]} flagged round 1" in told
    assert "overstated, numeric" in told
    assert "Too much." in told
    assert reverse("review:triple", args=[project.slug, triple.pk]) in told


def test_flags_are_hidden_from_everybody_while_the_round_is_open(client, project):
    triple = make_in_review(project)
    answer(triple, reviewers_of(triple)[0], F)

    for person in (triple.author, *reviewers_of(triple), lead_of(project)):
        client.force_login(person)
        assert "flagged" not in flags_of(client, triple)
