"""Sixty grades and six Q&As, then the second edition: every page that counts the grades says the same."""

import re

import pytest
from django.urls import reverse

from apps.goldsets.models import Version
from apps.judging.models import Round
from tests.editions.stories import SPRING, make_story
from tests.editions.test_views import form_of, url_of, words
from tests.editions.versions import TwoVersions, expect_passages, finish, release_first, release_second
from tests.factories import lead_of
from tests.judging.editions import pool_of_everything
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

EXPECTED = ["b01", "b02", "b03", "b15", "b16", "b20"]


@pytest.fixture
def two(db) -> TwoVersions:
    story = make_story(marked=True)
    expect_passages(story, [(name, SPRING[name].partition(".")[0] + ".") for name in EXPECTED])
    return release_first(story)


def taken(two: TwoVersions, client) -> Round:
    """The edition is taken by its page; the round that it makes."""
    client.force_login(lead_of(two.story.project))
    item = two.story.begin_import()
    shown = client.get(url_of("import", two.story, item.pk))
    client.post(url_of("take-import", two.story, item.pk), form_of(shown))
    return Round.objects.latest("number")


def pages(two: TwoVersions, round_: Round, client) -> dict[str, str]:
    """The words of each page that counts the grades of the new edition."""
    slug, autumn = two.story.project.slug, round_.pool.snapshot
    everything = pool_of_everything(two.story.project, autumn, f"Everything {round_.state}")
    version = [slug, two.draft.gold_set.slug, two.draft.number]
    addresses = {
        "edition": url_of("snapshot", two.story, autumn.pk),
        "plan": reverse("judging:new-round", args=[slug]) + f"?pool={everything.pk}",
        "round": reverse("judging:round", args=[slug, round_.pk]),
        "rounds": reverse("judging:index", args=[slug]),
        "draft": reverse("goldsets:version", args=version),
        "left out": reverse("goldsets:left-out", args=version),
        "agreement": reverse("agreement:overview", args=[slug]),
        "home": reverse("dashboard:home", args=[slug]),
    }
    return {name: words(client.get(address)) for name, address in addresses.items()}


def test_while_the_round_of_the_edition_is_judged_every_page_has_the_same_counts(two, client):
    shown = pages(two, taken(two, client), client)

    assert "51 grades came along" in shown["edition"]
    assert "To judge: 7 pairs in Round 3" in shown["edition"]
    assert "51 of 63 have a grade, 7 are being judged: 5 to judge" in shown["plan"]
    assert "0 of 7 judgements given" in shown["round"]
    assert "once 107" in shown["rounds"]
    assert "Judged pairs51" in shown["draft"]
    assert "9 judged pairs are left out of v2" in shown["draft"]
    assert "9 judged pairs" in shown["left out"]
    assert "of 60" in re.search(r"pairs graded by two people or more, (of \d+)", shown["agreement"])[1]
    assert "Judgements given0 of 7" in shown["home"]
    assert "Missing grades: 7" in shown["home"]


def test_once_it_is_judged_every_page_has_the_same_counts_again(two, client):
    round_ = taken(two, client)
    finish(round_, two.story)
    round_.refresh_from_db()

    shown = pages(two, round_, client)

    assert "58 of 63 have a grade: 5 to judge" in shown["plan"]
    assert "7 of 7 judgements given" in shown["round"]
    assert "Judged pairs58" in shown["draft"]
    assert "3 judged pairs are left out of v2" in shown["draft"]
    assert "3 judged pairs" in shown["left out"]
    assert "pairs graded by two people or more, of 67" in shown["agreement"]
    assert "Missing grades" not in shown["home"]
    run_jobs()
    release_second(two, lead_of(two.story.project))
    second = Version.objects.get(pk=two.draft.pk)
    assert (second.grades.count(), second.manifest["left_out"]["pairs"]) == (58, 3)
    home = client.get(reverse("dashboard:home", args=[two.story.project.slug]))
    assert "3 queries, 58 judged pairs" in words(home)
