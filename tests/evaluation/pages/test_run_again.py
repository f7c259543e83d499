"""What pages say of the systems that were scored on an older snapshot, and the button that runs them again."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.dashboard.pages import quality
from apps.evaluation.pages.trends import Trend
from apps.evaluation.presenters.run_again import names_of
from apps.evaluation.selectors.leaderboard import scores_by_version
from apps.goldsets.actions.versions import freeze_version
from apps.goldsets.enums import VersionState
from apps.goldsets.pages.versions import page_of
from apps.retrieval.models import Run
from tests.evaluation.hits import places, run_that, score
from tests.evaluation.test_run_again import drafted_after, newer_snapshot, release_on_newer, scored_system
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_bench, make_version, make_viewer
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def version():
    return make_version(VersionState.RELEASED, make_bench(triples=2), test_share=0.0)


def page(client, version):
    client.force_login(lead_of(version.gold_set.project))
    return " ".join(client.get(page_of(version)).content.decode().split())


def test_the_page_of_a_version_says_what_was_run_again_and_names_uploaded_runs(client, version):
    scored_system(version)
    scored_system(version, "TF-IDF", "tfidf")
    score(version, run_that(version, "theirs", places(version, 1, 2)), measures="RR")
    later = release_on_newer(version)
    assert "BM25 and TF-IDF are being run again on v2, since v1 was on v1" in page(client, later)

    run_jobs()

    text = page(client, later)
    assert "BM25 and TF-IDF were run again on v2, since v1 was on v1" in text
    new = Run.objects.get(tag="bm25@2")
    assert reverse("retrieval:run", args=[later.gold_set.project.slug, new.pk]) in text
    assert "1 uploaded run cannot be run again: it holds results of the older snapshot" in text
    assert f"{reverse('retrieval:upload', args=[later.gold_set.project.slug])}?snapshot={later.snapshot_id}" in text
    facts = dict(quality.latest(later.gold_set.project, with_draft=False).facts)
    assert facts["Systems"].startswith("BM25 and TF-IDF were run again on v2, since v1 was on v1; 1 uploaded run")


def test_a_frozen_version_says_what_its_release_will_run(client, version):
    scored_system(version)
    draft = drafted_after(version, newer_snapshot(version))
    frozen = freeze_version(version_id=draft.pk, actor=draft.created_by, at=AT)

    assert "When v2 is released, BM25 is run again on v2, since v1 was on v1." in page(client, frozen)


def test_a_version_on_the_snapshot_of_the_one_before_has_no_such_part(client, version):
    scored_system(version)

    assert "Systems on the newer snapshot" not in page(client, version)


def test_the_button_runs_the_systems_again_once(client, version):
    later = release_on_newer(version)
    system = scored_system(version)
    assert "BM25 has not been run on v2, and v1 was on v1" in page(client, later)
    url = reverse("evaluation:run-again", args=[later.gold_set.project.slug, later.pk])

    answer = client.post(url, {"system": [system.pk]}, follow=True)
    again = client.post(url, {"system": [system.pk]})

    assert "BM25 is being run on v2 and scored on v2." in answer.content.decode()
    assert again.status_code == 409
    assert Run.objects.filter(system=system, snapshot=later.snapshot).count() == 1


def test_whoever_is_no_lead_gets_the_sentence_without_the_button(client, version):
    later = release_on_newer(version)
    scored_system(version)
    client.force_login(make_viewer(later.gold_set.project))

    text = client.get(page_of(later)).content.decode()

    assert "has not been run on v2" in text
    assert reverse("evaluation:run-again", args=[later.gold_set.project.slug, later.pk]) not in text


def test_the_page_takes_the_same_queries_for_one_system_and_for_three(client, version, django_assert_num_queries):
    later = release_on_newer(version)
    scored_system(version)
    page(client, later)
    with CaptureQueriesContext(connection) as one:
        client.get(page_of(later))
    scored_system(version, "TF-IDF", "tfidf")
    scored_system(version, "LSA", "lsa", dimensions=2)

    with django_assert_num_queries(len(one)):
        text = client.get(page_of(later)).content.decode()

    assert "LSA" in text


def test_a_systems_scores_on_both_versions_stand_in_one_row(version):
    scored_system(version)
    later = release_on_newer(version)
    run_jobs()

    by_version = scores_by_version(later.gold_set, "dev", "RR")["BM25"]
    assert [by_version[one.pk].run for one in (version, later)] == ["bm25@1", "bm25@2"]
    (row,) = Trend(later, "dev", "RR").across
    assert (row.system, [score.version_id for score in row.scores]) == ("BM25", [version.pk, later.pk])


def test_names_with_commas_are_in_quotation_marks():
    assert names_of(["BM25"]) == "BM25"
    assert names_of(["BM25", "LSA", "LSA", "TF-IDF"]) == "BM25, LSA and TF-IDF"
    assert names_of(["BM25", "BM25, damped"]) == "“BM25” and “BM25, damped”"
