"""The report of a version, as a team hands it in: what is in it, how it was decided, what it lacks, and its scores."""

import pytest
from django.urls import reverse

from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.reports.edges.version_reports import version_report
from tests.evaluation.factories import make_scene
from tests.evaluation.factories import score as score_by_grades
from tests.evaluation.test_hit_scoring import places, run_that, score
from tests.factories import lead_of
from tests.goldsets.factories import make_bench, make_version

pytestmark = pytest.mark.django_db


def report(version: Version, **options):
    return version_report(version, **({"is_revoked": False, "is_blind": False} | options))


def titles(document) -> list[str]:
    return [part.title for part in document.parts]


def test_scores_on_triples_stand_in_tables_of_their_own_with_their_rule():
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    run = run_that(version, "ours", places(version, 1, 3, 0))
    score(version, run, measures="Success@2")
    score(version, run, "evidence", measures="Success@2")

    document = report(version)

    runs = [title for title in titles(document) if title.startswith("Runs on")]
    assert [title.partition("Q&As: ")[2] for title in runs] == ["same passage", "holds the evidence"]
    assert any("a lower end" in line for line in document.about)


def test_dev_and_test_have_their_own_runs():
    scene = make_scene()
    for split in ("dev", "test"):
        score_by_grades(scene, "base", split=split)

    assert [title for title in titles(report(scene.version)) if title.startswith("Runs on")] == [
        "Runs on the dev split",
        "Runs on the test split",
    ]


def test_it_says_how_everything_was_decided():
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)

    tables = {table.name: table for table in report(version).tables}

    assert ["Q&As", "consensus", "3"] in [list(row) for row in tables["How it was decided"].rows]


def test_pairs_of_grade_0_are_counted_by_split_but_not_for_judges():
    scene = make_scene()
    known = {table.name: table for table in report(scene.version).tables}
    blind = {table.name for table in report(scene.version, is_blind=True).tables}

    zeros = {row[0]: int(row[1]) for row in known["Judged and not relevant"].rows}
    assert sum(zeros.values()) == scene.version.queries.filter(grades__grade=0).values("grades").count()
    assert "Judged and not relevant" not in blind


def test_the_guideline_is_in_it_and_both_forms_are_served(client):
    bench = make_bench(triples=1, queries=1)
    version = make_version(VersionState.RELEASED, bench, test_share=0.0)
    client.force_login(lead_of(bench.project))
    url = reverse("reports:version", args=[bench.project.slug, version.pk])

    pages = [client.get(url), client.get(f"{url}?format=md")]

    assert [page.status_code for page in pages] == [200, 200]
    definition = version.guideline.grades[0]["definition"]
    for page in pages:
        assert "Guideline of the judges" in page.content.decode()
        assert definition in page.content.decode()
