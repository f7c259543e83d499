"""Why was it missed? One question a page, and one key for whose fault it is."""

from copy import deepcopy

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.goldsets.enums import VersionState
from apps.review.models import CandidateBlock, MissNote
from tests.evaluation.hits import places, run_that, run_that_cuts, score
from tests.factories import lead_of, make_member
from tests.goldsets.factories import make_bench, make_version
from tests.review.candidates import say as say_also_right

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _evaluation(_version):
    return score(_version, run_that(_version, "ours", places(_version, 1, 3, 0)), measures="Success@2 Success@1 RR")


@pytest.fixture
def evaluation(db, _evaluation):
    """The first question has its passage first, the second at rank 3, the third nowhere: two are missed."""
    return deepcopy(_evaluation)


@pytest.fixture
def lead(client, version):
    client.force_login(lead_of(version.gold_set.project))
    return client


def url(evaluation, place=1, name="misses", **query):
    base = reverse(f"evaluation:{name}", args=[evaluation.project.slug, evaluation.pk, place])
    return base + "".join(f"{'&' if at else '?'}{key}={value}" for at, (key, value) in enumerate(query.items()))


def page(client, evaluation, place=1, **query):
    return client.get(url(evaluation, place, **query)).content.decode()


def press(client, evaluation, place=1, say="wrong", **posted):
    return client.post(url(evaluation, place, "miss-note"), {"say": say, "measure": "Success@2", "rank": 1} | posted)


def test_the_page_says_at_which_rank_the_expected_passage_is(lead, evaluation):
    second, third = page(lead, evaluation, 1), page(lead, evaluation, 2)

    assert "Expected at rank 3; only the first 2 count." in second
    assert "is not among the" in third
    assert "<b>1</b> of 2" in second
    assert "Nobody has reviewed it for this question yet." in second
    assert "cutoff, first 2" in second


def test_another_measure_has_another_cutoff(lead, evaluation):
    assert "only the first counts" in page(lead, evaluation, 1, measure="Success@1")


def test_the_evaluation_leads_to_its_misses(lead, evaluation):
    shown = lead.get(reverse("evaluation:evaluation", args=[evaluation.project.slug, evaluation.pk])).content.decode()

    assert "Go through 2 misses" in shown


def test_steps_go_through_what_was_returned(lead, evaluation):
    first, second = page(lead, evaluation, 1), page(lead, evaluation, 1, rank=2)

    assert "rank=2" in first
    assert "The passage returned before" not in first
    assert "The passage returned before" in second
    assert "Returned first" not in second


def test_also_right_asks_two_reviewers_and_goes_on(lead, evaluation):
    answered = press(lead, evaluation, say="also_right")

    candidate = CandidateBlock.objects.get()
    assert answered.url == url(evaluation, 2, measure="Success%402")
    assert (candidate.proposed_by, candidate.evaluation) == (lead_of(evaluation.project), evaluation.pk)
    assert "Two reviewers are asked whether it is right as well." in page(lead, evaluation, 1)


def test_marked_words_go_with_it(lead, evaluation):
    shown = lead.get(url(evaluation)).context["miss"].read
    words = " ".join(shown.text.split()[:3])

    press(lead, evaluation, say="also_right", quote=words)

    assert CandidateBlock.objects.get().spans == [[shown.text.index(words), shown.text.index(words) + len(words)]]


def test_words_that_are_not_in_the_text_are_named(lead, evaluation):
    answered = lead.post(
        url(evaluation, 1, "miss-note"), {"say": "also_right", "quote": "never written"}, follow=True
    ).content.decode()

    assert "are not in the text in this form" in answered
    assert not CandidateBlock.objects.exists()


def test_wrong_is_kept_so_that_nobody_is_asked_again(lead, evaluation):
    press(lead, evaluation, say="wrong")

    shown = page(lead, evaluation, 1)
    assert "It was found wrong for this question." in shown
    assert "Undo that first." in shown


def test_an_unclear_question_goes_to_its_author(lead, evaluation):
    press(lead, evaluation, say="unclear", text="Which of the two?")

    note = MissNote.objects.get()
    assert (note.kind, note.text) == ("unclear", "Which of the two?")
    assert "found unclear" in page(lead, evaluation, 1)


@pytest.mark.parametrize("what", ["also_right", "wrong", "unclear"])
def test_what_was_said_last_can_be_undone(lead, evaluation, what):
    press(lead, evaluation, say=what)
    assert "what you said last" in page(lead, evaluation, 2)

    back = press(lead, evaluation, 2, say="undo")

    assert back.url == url(evaluation, 1, measure="Success%402")
    assert "nothing to undo yet" in page(lead, evaluation, 1)
    assert not CandidateBlock.objects.exclude(state="withdrawn").exists()
    assert not MissNote.objects.filter(withdrawn_at=None).exists()


def test_the_last_miss_leads_back_to_the_scores(lead, evaluation):
    answered = press(lead, evaluation, 2, say="wrong")

    assert answered.url == reverse("evaluation:evaluation", args=[evaluation.project.slug, evaluation.pk])
    assert lead.get(url(evaluation, 3)).status_code == 404


def test_reviewers_who_are_asked_see_no_rank_until_it_is_settled(client, evaluation):
    reviewers = [make_member(evaluation.project, Role.REVIEWER, name=name) for name in ("One", "Two")]
    client.force_login(lead_of(evaluation.project))
    press(client, evaluation, say="also_right")
    candidate = CandidateBlock.objects.select_related("triple__project").get()
    client.force_login(reviewers[0])

    shown = page(client, evaluation, 1)
    refused = press(client, evaluation, 1, say="wrong")

    assert "hidden from you until that is settled" in shown
    assert "Expected at rank" not in shown
    assert "rank 3" not in shown
    assert (refused.url, MissNote.objects.count()) == (url(evaluation, 1, measure="Success%402"), 0)
    for person in reviewers:
        say_also_right(candidate, person, "reject")
    assert "Expected at rank 3" in page(client, evaluation, 1)


def test_a_viewer_reads_and_says_nothing(client, evaluation):
    client.force_login(make_member(evaluation.project, Role.VIEWER))

    assert "Expected at rank 3" in page(client, evaluation)
    assert "say here what a miss is" in page(client, evaluation)
    assert press(client, evaluation).status_code == 403


def test_test_items_are_for_leads_and_each_look_is_logged(client):
    version = make_version(VersionState.RELEASED, make_bench(triples=5), test_share=1.0)
    run = run_that(version, "ours", places(version, 1, 3, 0, 1, 1))
    evaluation = score(version, run, measures="Success@2")
    client.force_login(lead_of(evaluation.project))
    looks = Event.objects.filter(action="version.test_seen")
    before = looks.count()

    client.get(url(evaluation))

    assert looks.count() == before + 1
    client.force_login(make_member(evaluation.project, Role.REVIEWER))
    assert client.get(url(evaluation)).status_code == 302
    assert looks.count() == before + 1


def test_the_page_takes_the_same_queries_for_few_and_many_results(lead, version):
    few = score(version, run_that(version, "few", places(version, 1, 2, 0)), measures="Success@1")
    counts = []
    for place in (1, 2):
        lead.get(url(few, place))
        with CaptureQueriesContext(connection) as seen:
            lead.get(url(few, place))
        counts.append(len(seen))

    assert counts[0] == counts[1]


# Passages that a system cut ----------------------------------------------------------------------------------------


@pytest.fixture
def cut(version):
    return score(version, run_that_cuts(version), "evidence", measures="Success@1")


def test_a_passage_that_a_system_cut_cannot_be_added_and_ours_are_offered(lead, cut):
    found = lead.get(url(cut)).context["miss"]

    shown = page(lead, cut)
    assert "The system cut this passage itself" in shown
    assert found.offered
    lead.post(url(cut, 1, "miss-note"), {"say": "also_right", "rank": 1})
    assert not CandidateBlock.objects.exists()

    lead.post(url(cut, 1, "miss-note"), {"block": found.offered[0].block_id, "rank": 1})

    assert CandidateBlock.objects.get().version == found.offered[0].version


def test_it_is_counted_how_much_of_the_evidence_it_has(lead, cut):
    assert "; the rule needs" in page(lead, cut)
