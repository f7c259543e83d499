"""The same fact reads the same on every page that shows it, in a project of Q&As alone and in one of grades."""

import re
from html import unescape

import pytest
from django.core.cache import cache
from django.urls import reverse

from apps.accounts.enums import Role
from apps.corpus.models import Snapshot
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.goldsets.models import Version
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import make_gold_set, make_source
from tests.judging.factories import judge_all, make_round, people_of
from tests.review.factories import answer, make_accepted, make_in_review, reviewers_of
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()


def words_of(client, project, name, *ids, user=None, **query) -> str:
    """What a person reads on a page, in one line; cells of tables are apart by " | "."""
    client.force_login(user or lead_of(project))
    page = client.get(reverse(name, args=[project.slug, *ids]), query).content.decode().split("<main")[1]
    page = re.sub(r"</t[dh]>", " | ", re.sub(r"<(title|desc)[^>]*>.*?</\1>", "", page))
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page))).strip()


def make_questions():
    """Three accepted Q&As of one source and one of another, and one in review; no query and no round."""
    project = make_team()
    for name, number in (("Interviews", 3), ("Search log", 1)):
        source = make_source(project, name)
        source.target_share = 0.5
        source.save()
        for _ in range(number):
            Triple.objects.filter(pk=make_accepted(project).pk).update(source=source)
    make_in_review(project)
    return project


def test_the_mix_of_sources_of_a_set_of_questions_is_on_each_page_that_shows_sources(client):
    project = make_questions()
    Triple.objects.filter(state="in_review").update(source=project.sources.get(slug="interviews"))

    balance, sources = words_of(client, project, "queries:balance"), words_of(client, project, "queries:sources")

    assert "0 live queries, 5 Q&As" in balance
    assert "Interviews | 4 | 80.0% | 50.0%" in balance
    assert "Search log | 1 | 20.0% | 50.0%" in balance
    assert "Below the target: Search log by 1." in balance
    assert re.search(r"interviews \| \S.*? \| 0 \| 4 \| 50 % \|", sources)
    assert re.search(r"search-log \| \S.*? \| 0 \| 1 \| 50 % \|", sources)


def make_draft_of(project) -> Version:
    snapshot = Snapshot.objects.get(corpus__project=project)
    by = {"actor": lead_of(project), "at": AT}
    return draft_version(gold_set_id=make_gold_set(project).pk, snapshot=snapshot, rounds=[], seed=7, **by)


def test_the_mix_of_sources_of_a_version_is_in_its_draft_on_its_page_and_in_its_report(client):
    project = make_questions()
    version = make_draft_of(project)
    ids = (version.gold_set.slug, version.number)
    drafted = words_of(client, project, "goldsets:version", *ids)
    freeze_version(version_id=version.pk, actor=lead_of(project), at=AT)
    release_version(version_id=version.pk, actor=lead_of(project), at=AT)
    frozen = words_of(client, project, "goldsets:version", *ids)
    report = words_of(client, project, "reports:version", version.pk)

    for page in (drafted, frozen):
        assert "interviews | 0 | | 3 | 75 % | 50 %" in page
        assert "search-log | 0 | | 1 | 25 % | 50 %" in page
    assert "Search log makes 25 % of the Q&As; the target is 50 %." in drafted
    assert "search-log gives 25 % of the Q&As, 25 % below its target of 50 %." in report


def test_home_names_who_reviews_where_nobody_judges(client):
    project = make_questions()
    reviewer = reviewers_of(project.triples.get(state="in_review"))[0]

    home = words_of(client, project, "dashboard:home")

    assert f"{reviewer.name} | 4 | 1 |" in home
    assert "Nobody judges" not in home


def test_home_tells_a_lead_nothing_of_who_reviews_what_they_wrote(client):
    project = make_team()
    lead = lead_of(project)
    triple = make_in_review(project, author=lead)

    assert "Nobody judges or reviews yet." in words_of(client, project, "dashboard:home")

    answer(triple, reviewers_of(triple)[0])
    assert "Nobody judges or reviews yet." in words_of(client, project, "dashboard:home")
    assert "Reviewer | 0 | 1 |" in words_of(
        client, project, "dashboard:home", user=make_member(project, Role.LEAD, name="Another lead")
    )


def test_judgements_of_a_round_are_counted_as_judgements_on_every_page(client):
    round_ = make_round(queries=2, blocks=3, annotators=2, overlap=1.0)
    judge_all(round_, people_of(round_)[0])

    assert "Judgements given 6 of 12" in words_of(client, round_.project, "dashboard:home")
    assert "6 of 12 judgements given" in words_of(client, round_.project, "judging:round", round_.pk)


def test_pairs_graded_twice_are_not_denied_to_those_who_may_not_see_them(client):
    round_ = make_round(queries=2, blocks=3, annotators=2, overlap=1.0)
    for person in people_of(round_):
        judge_all(round_, person)
    viewer = make_member(round_.project, Role.VIEWER)

    for name in ("dashboard:home", "agreement:overview"):
        words = words_of(client, round_.project, name, user=viewer)
        assert "greement in a round is shown once a lead closes it" in words
        assert "No pair has two grades" not in words


def test_the_items_of_a_version_of_questions_open_on_its_questions(client):
    project = make_questions()
    version = make_draft_of(project)
    freeze_version(version_id=version.pk, actor=lead_of(project), at=AT)
    client.force_login(lead_of(project))

    page = client.get(reverse("goldsets:version", args=[project.slug, version.gold_set.slug, 1])).content.decode()

    for split in ("dev", "test"):
        (address,) = re.findall(rf'href="([^"]+)">See {split} items', page)
        items = client.get(address).content.decode()
        assert f"No queries in {split}" not in items
        assert f"Q&amp;As in {split}" in items
