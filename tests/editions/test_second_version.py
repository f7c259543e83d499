"""From sixty grades and six Q&As to a second version beside the first: nothing judged twice, counts agree."""

import re

import pytest
from django.urls import reverse

from apps.evaluation.models import Evaluation
from apps.goldsets.models import Version
from apps.goldsets.pages.drafts import draft_facts
from apps.goldsets.selectors.assembly import gather
from apps.judging.core.plan import Plan
from apps.judging.models import Round
from apps.judging.selectors.plans import preview_of
from apps.triples.models import Triple
from tests.editions.stories import AUTUMN, LATER, QUERIES, SPRING, make_story
from tests.editions.test_views import counts, form_of, url_of, words
from tests.editions.versions import TwoVersions, expect_passages, finish, release_first, release_second
from tests.factories import lead_of
from tests.judging.editions import asked, pool_of_everything
from tests.module_rows import rows_of_module
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

EXPECTED = {"b01": 3, "b15": 1, "b16": 1, "b20": 1}
"""Q&As by the passage that they expect."""


@rows_of_module
def two() -> TwoVersions:
    story = make_story(marked=True)
    quotes = {name: SPRING[name].partition(".")[0] + "." for name in EXPECTED}
    expect_passages(story, [(name, quotes[name]) for name, number in EXPECTED.items() for _ in range(number)])
    return release_first(story)


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
    assert "Drafts brought up to date: Handbook v2." in words(taken)
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
