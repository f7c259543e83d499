"""The report of a version, as a team hands it in: what is in it, how it was decided, what it lacks, and its scores."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.common.text.wording import number, signed
from apps.evaluation.models import Comparison
from apps.evaluation.selectors.comparisons import EvaluationPair
from apps.goldsets.actions.training import add_training_manifest
from apps.goldsets.core.training import Entry
from apps.goldsets.enums import EntryKind, VersionState
from apps.goldsets.models import Version
from apps.metrics.estimate import Estimate
from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.significance import Summary
from apps.reports.core.document import Mean, Table
from apps.reports.core.version_document import ReleaseSummary, SplitBoard, released_document
from apps.reports.formats.markdown import as_markdown
from apps.reports.presenters.documents import version_report
from apps.reports.presenters.version_reports.questions import agreement_facts
from apps.review.enums import Category
from tests.evaluation.factories import BAD, add_run, make_scene
from tests.evaluation.factories import score as score_by_grades
from tests.evaluation.test_hit_scoring import places, run_that, score
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.module_rows import rows_of_module
from tests.review.factories import make_disputed, reviewers_of, take_back

pytestmark = pytest.mark.django_db
NEW_IN_MANIFESTS = {"disagreements", "waiting", "checks", "unused_targets"}


@rows_of_module
def bench():
    return make_bench(triples=3)


@pytest.fixture
def version(bench) -> Version:
    return make_version(VersionState.RELEASED, bench, test_share=0.0)


def report(version: Version, **options):
    return version_report(version, **({"is_blind": False, "at": AT} | options))


def titles(document) -> list[str]:
    return [part.title for part in document.parts]


def test_scores_on_triples_stand_in_tables_of_their_own_with_their_rule(version):
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


def test_the_best_run_is_compared_with_the_baseline_as_on_their_page_and_the_report_is_a_look_at_it(client):
    """The verdict and the figures are those of the comparison itself; no single query is told."""
    scene = make_scene(queries=12, test_share=0.0)
    scores = {tag: score_by_grades(scene, tag, split="dev", measures="RR nDCG@10") for tag in ("base", "better")}
    client.force_login(scene.lead)

    read = client.get(reverse("reports:version", args=[scene.project.slug, scene.version.pk]) + "?format=md").text
    document = report(scene.version)

    section = next(part for part in document.parts if " against " in part.title)
    pair = EvaluationPair.of(scores["base"], scores["better"])
    base, better = pair.comparison.names
    assert section.title == f"{better} against {base} on the dev split"
    verdict = section.blocks[0].text
    assert verdict == f"{pair.among('RR').verdict(pair.judged('RR')).removesuffix('.')}; no drop."
    assert verdict in re.sub(r"\\(.)", r"\1", read)
    table = next(table for table in document.tables if table.name == f"{better} minus {base}")
    assert [row[:4] for row in table.rows] == [
        [row.measure, number(row.baseline, 4), number(row.candidate, 4), signed(row.difference.mean, 4)]
        for row in pair.among("RR").measures
    ]
    assert not {query.outside_id for query in scene.version.queries.all()} & set(re.findall(r"\w+", read))
    assert Comparison.objects.get().measure == "RR"
    assert titles(document).index(section.title) == titles(document).index("Runs on the dev split") + 1


def test_the_best_of_several_runs_is_said_to_be_chosen_by_its_figures(version):
    for tag, ranks in {"one": (1, 1, 1), "two": (1, 2, 1), "three": (3, 2, 2)}.items():
        score(version, run_that(version, tag, places(version, *ranks)), measures="Success@1")

    section = next(part for part in report(version).parts if " against " in part.title)

    assert "Q&As" in section.title
    assert section.blocks[-1].text.startswith("It is the best of 3 runs by these very figures")


def test_the_interval_with_people_is_explained_where_there_is_one():
    summary = Summary(0.5, (0.4, 0.6), 12)
    basis = {field: [] for field in ReleaseSummary._fields} | {"name": "", "lead": "", "sources": None}
    contents = Table("Contents", ["Split"], [])

    def told(people):
        board = SplitBoard("the dev split", [parse_measure("RR")], [Mean("RR", "base", summary, people)])
        return as_markdown(
            released_document(ReleaseSummary(**basis | {"counts": contents, "boards": [board], "confidence": 0.95}))
        )

    reading = "The interval with people allows for other judges as well as for other queries"
    assert ("With people" in told(None), reading in told(None)) == (False, False)
    assert ("With people" in told((0.3, 0.7)), reading in told((0.3, 0.7))) == (True, True)


def test_it_says_how_everything_was_decided(version):
    tables = {table.name: table for table in report(version).tables}

    assert [list(row) for row in tables["How it was decided"].rows] == [
        ["Judged pairs", "unanimous", "the judges, who agreed", "12", "0"],
        ["Q&As", "consensus", "both reviewers at once", "3", "0"],
    ]


def test_pairs_of_grade_0_are_counted_by_split_but_not_for_judges():
    scene = make_scene()
    known = {table.name: table for table in report(scene.version).tables}
    blind = {table.name for table in report(scene.version, is_blind=True).tables}

    zeros = {row[0]: int(row[1]) for row in known["Judged and not relevant"].rows}
    assert sum(zeros.values()) == scene.version.queries.filter(grades__grade=0).values("grades").count()
    assert "Judged and not relevant" not in blind


def test_the_guideline_is_in_it_and_both_forms_are_served(client, bench, version):
    client.force_login(lead_of(bench.project))
    url = reverse("reports:version", args=[bench.project.slug, version.pk])

    pages = [client.get(url), client.get(f"{url}?format=md")]

    assert [page.status_code for page in pages] == [200, 200]
    definition = version.guideline.grades[0]["definition"]
    for page in pages:
        assert "Guideline of the judges" in page.content.decode()
        assert definition in page.content.decode()


def test_its_sections_are_in_the_order_of_a_reader():
    scene = make_scene()
    score_by_grades(scene, "base", split="dev")

    assert titles(report(scene.version)) == [
        "Contents",
        "Runs on the dev split",
        "Strata on the dev split",
        "Hard negatives",
        "Agreement when it was frozen",
        "Disagreements and how they were resolved",
        "Sources",
        "Known gaps",
        "Definitions",
        "How to read the figures",
        "Made from",
    ]


def test_disagreements_are_told_by_distance_and_role_but_not_to_judges():
    decided = {"Q1": {"a": 3, "b": 1}, "Q2": {"a": 2, "b": 0}}
    ratings = {"ann": {"Q1": {"a": 3, "b": 1}, "Q2": {"a": 3, "b": 0}}, "ben": {"Q1": {"a": 0, "b": 1}, "Q2": {"a": 2}}}
    version = make_scene(qrels=decided, ratings=ratings, runs={}, test_share=0.0).version

    known, blind = as_markdown(report(version)), as_markdown(report(version, is_blind=True))

    assert "Of 3 pairs that two people or more graded, they differed on 2, 67" in known
    assert "| 1 apart | 1 | 50" in known
    assert "| 3 apart | 1 | 50" in known
    assert "apart" not in blind
    assert "they differed" not in blind
    assert not re.search(r"\b(ann|ben)\b", known)


def test_a_flagged_question_is_told_by_what_the_flag_named(bench):
    disputed = make_disputed(bench.project, snapshot=bench.snapshot)
    take_back(disputed, reviewers_of(disputed)[1], Category.NUMERIC)
    tables = {table.name: table for table in report(make_version(VersionState.RELEASED, bench)).tables}

    assert [list(row) for row in tables["What flags named"].rows] == [
        ["What is wrong", "Answer overstated", "1"],
        ["Kind of entailment", "Numeric precision", "1"],
    ]
    policy = ["Q&As", "policy: numeric precision", "the reviewer who had flagged, by the policy", "1", "1"]
    assert policy in [list(row) for row in tables["How it was decided"].rows]


def test_what_a_system_was_trained_on_later_is_a_gap_that_names_no_item():
    bench = make_bench(queries=4, triples=0)
    version = make_version(VersionState.RELEASED, bench, test_share=0.5)
    in_test = version.queries.filter(split="test").first().outside_id
    assert "known from training" not in as_markdown(report(version))

    entry = Entry(EntryKind.QUESTION, in_test)
    add_training_manifest(
        project=bench.project, name="Ranker of May", file="trained.txt", entries={entry}, actor=bench.lead, at=AT
    )

    told = as_markdown(report(version))
    assert "| Training | 1 item of test is known from training (“Ranker of May”)" in told
    assert in_test not in told


def test_a_version_from_before_says_that_it_does_not_know_how_far_people_differed(version):
    version.manifest = {name: value for name, value in version.manifest.items() if name not in NEW_IN_MANIFESTS}

    told = as_markdown(report(version))

    assert "It was frozen before Karat kept how far people differed." in told
    assert "| consensus | both reviewers at once | 3 |" in told


def test_the_guideline_has_its_paragraphs_and_lists_as_plain_text(version):
    version.guideline.markdown = "# How to judge\n\nRead **all** of it.\n- One\n- Two"

    texts = next(part.blocks for part in report(version).parts if part.title == "Guideline of the judges")

    assert [block.text for block in texts][:4] == ["How to judge", "Read all of it.", "• One", "• Two"]


def test_the_report_reads_as_often_for_more_queries_and_runs():
    counts = []
    for queries, runs in ((4, ["base", "better"]), (8, ["base", "better", "third"])):
        scene = make_scene(queries=queries, test_share=0.0)
        scene.runs["third"] = add_run(scene, "third", {"Q01": BAD})
        for tag in runs:
            score_by_grades(scene, tag, split="dev", measures="RR")
        with CaptureQueriesContext(connection) as statements:
            report(Version.objects.select_related("gold_set", "snapshot", "guideline").get(pk=scene.version.pk))
        counts.append(len(statements))

    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("ends", "said"),
    [((-0.38, 1.0), "0.87, interval too wide, n 6"), ((0.61, 0.96), "0.87, 95 % 0.61 to 0.96, n 6")],
)
def test_agreement_on_few_pairs_is_told_as_on_the_page_of_agreement(ends, said):
    figure = {"name": "krippendorff_alpha_ordinal", **Estimate.of(0.87, ends, 6, "bootstrap").as_json}

    found = agreement_facts(Version(manifest={"agreement": {"grades": figure}}))

    assert found == [("Grades: krippendorff_alpha_ordinal", said)]
