"""From sixty grades and six Q&As to a second version beside the first: nothing judged twice, counts agree."""

import re
from dataclasses import dataclass

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.evaluation.actions import request_evaluation
from apps.evaluation.models import Evaluation
from apps.goldsets import actions as goldsets
from apps.goldsets.models import Version
from apps.goldsets.pages.drafts import draft_facts
from apps.goldsets.selectors.assembly import gather
from apps.judging.actions import close_round
from apps.judging.core.plan import Plan
from apps.judging.models import Round
from apps.judging.selectors.plans import preview_of
from apps.queries.models import Query
from apps.triples.actions.triples import retire_triple
from apps.triples.enums import RetireReason
from apps.triples.models import Triple
from tests.editions.stories import AUTUMN, LATER, QUERIES, SPRING, Story, make_story
from tests.editions.test_views import counts, form_of, url_of, words
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import make_source
from tests.judging.editions import asked, pool_of_everything
from tests.judging.factories import judge_all
from tests.retrieval.factories import make_run
from tests.review.factories import make_accepted
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

EXPECTED = {"b01": 3, "b15": 1, "b16": 1, "b20": 1}
"""Q&As by the passage that they expect."""


@dataclass
class TwoVersions:
    """The story with v1 released and scored, and a draft of v2."""

    story: Story
    first: Version
    draft: Version


def expect_passages(story: Story) -> None:
    for _ in range(2):
        make_member(story.project, Role.REVIEWER, name="Reviewer")
    for name, number in EXPECTED.items():
        quote = SPRING[name].partition(".")[0] + "."
        for _ in range(number):
            make_accepted(story.project, snapshot=story.spring, key=name, evidence=quote, answer=quote)


def inputs_of(story: Story, gold_set) -> dict:
    return {
        "gold_set_id": gold_set.pk,
        "snapshot": story.spring,
        "rounds": [story.first],
        "actor": lead_of(story.project),
        "at": AT,
    }


@pytest.fixture
def two(db) -> TwoVersions:
    story = make_story(marked=True)
    lead = lead_of(story.project)
    Query.objects.filter(project=story.project).update(source=make_source(story.project))
    expect_passages(story)
    gold_set = goldsets.create_gold_set(project=story.project, name="Handbook", actor=lead, at=AT)
    first = goldsets.draft_version(**inputs_of(story, gold_set))
    goldsets.freeze_version(version_id=first.pk, actor=lead, at=AT)
    first = goldsets.release_version(version_id=first.pk, actor=lead, at=AT)
    run = make_run(story.project, story.spring)
    request_evaluation(project=story.project, run_id=run.pk, version_id=first.pk, actor=lead, at=AT)
    run_jobs()
    return TwoVersions(story, first, goldsets.draft_version(**inputs_of(story, gold_set)))


def finish(round_: Round, story: Story) -> None:
    judge_all(round_, story.judge, lambda seat: 2, at=LATER)
    close_round(round_id=round_.pk, actor=lead_of(story.project), at=LATER)


def test_the_second_version_is_scored_beside_the_first_and_nobody_judged_a_pair_twice(two, client):
    story, lead = two.story, lead_of(two.story.project)
    digest = two.first.digest
    client.force_login(lead)
    item = story.begin_import()
    shown = client.get(url_of("import", story, item.pk))
    assert sum(int(grades) for _, grades in counts(shown).values()) == 60

    taken = client.post(url_of("take-import", story, item.pk), form_of(shown), follow=True)
    round_ = Round.objects.latest("number")
    autumn = round_.pool.snapshot
    client.post(url_of("run-again", story, autumn.pk))
    run_jobs()
    finish(round_, story)

    assert counts(taken) == counts(shown)
    assert "51 grades came along" in words(taken)
    assert "Moved to this edition: Handbook v2." in words(taken)
    content = draft_facts(Version.objects.get(pk=two.draft.pk), at=LATER)
    assert (len(content["content"].pairs), content["left_out"]) == (58, "3 judged pairs")
    everything = pool_of_everything(story.project, autumn)
    plan = preview_of(everything, Plan(overlap=0.0), {story.judge.pk: None})
    assert (plan.kept, plan.pairs) == (58, len(QUERIES) * len(AUTUMN) - 58)
    assert Triple.objects.filter(is_stale=True).count() == 3

    release_second(two, lead)

    run_jobs()
    scored = Evaluation.objects.filter(version__gold_set=two.first.gold_set).exclude(scored_at=None)
    assert sorted(scored.values_list("version__number", "run__system__name")) == [(1, "BM25"), (2, "BM25")]
    assert Version.objects.get(pk=two.first.pk).digest == digest
    trend = client.get(reverse("evaluation:trend", args=[story.project.slug])).text
    assert re.search(r"v1.*v2|v2.*v1", trend, re.S)


def release_second(two: TwoVersions, lead: User) -> None:
    for triple in Triple.objects.filter(is_stale=True):
        retire_triple(
            project=triple.project,
            triple_id=triple.pk,
            lead=lead,
            roles=frozenset({Role.LEAD}),
            reason=RetireReason.BLOCK_GONE,
            at=LATER,
        )
    goldsets.freeze_version(version_id=two.draft.pk, actor=lead, at=LATER)
    goldsets.release_version(version_id=two.draft.pk, actor=lead, at=LATER)


def test_the_kinds_touch_the_questions_and_answers_that_expect_their_passages(two, client):
    client.force_login(lead_of(two.story.project))

    answer = client.get(url_of("import", two.story, two.story.begin_import().pk))

    rows = re.findall(r'card-title">(.*?)</td>.*?data-label="Q&amp;As">(.*?)</td>', answer.text, re.S)
    found = {kind: int(re.sub(r"<.*?>", "", cell)) for kind, cell in rows}
    assert found == {
        "Same text": 3,
        "Metadata only": 0,
        "Renamed or moved": 0,
        "Changed": 2,
        "Gone": 1,
        "New": 0,
    }
    assert "2 Q&amp;As on changed passages go back to their authors" in answer.text


def test_systems_that_ran_on_the_edition_before_run_again_once(two, client):
    client.force_login(lead_of(two.story.project))
    autumn = two.story.freeze_autumn()
    page = client.get(url_of("snapshot", two.story, autumn.pk))

    first = client.post(url_of("run-again", two.story, autumn.pk), follow=True)
    second = client.post(url_of("run-again", two.story, autumn.pk))

    assert "Run 1 system again" in words(page)
    assert "1 run has started on" in words(first)
    assert "again</button>" not in first.text
    assert (second.status_code, autumn.runs.count()) == (409, 1)


def test_a_draft_moves_with_the_rounds_of_the_edition(two):
    taken = two.story.take()

    draft = Version.objects.get(pk=two.draft.pk)
    assert draft.snapshot == taken.snapshot
    assert set(draft.rounds.all()) == {two.story.first, taken.carried, taken.round}
    assert {loss.block_name for loss in gather(draft).losses} == {"b16", "b17", "b20"}
    assert {name for _, name in asked(taken.round)} == {"b16", "b17", "b21"}
