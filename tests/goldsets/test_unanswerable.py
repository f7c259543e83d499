"""Unanswerable queries in a version: frozen, counted, exported, compared, and what systems are measured by on them."""

import argparse
import json

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from apps.cli.score import command
from apps.evaluation.actions.scoring import EvaluationRefused, request_evaluation
from apps.evaluation.selectors.comparisons import EvaluationPair
from apps.goldsets.enums import VersionState
from apps.goldsets.execution import exporting
from apps.goldsets.formats.verification import verify
from apps.goldsets.rules import without_grades
from apps.goldsets.selectors.diffs import diff
from apps.judging.actions.unanswerable import vote_on_unanswerable
from apps.metrics.statistics.proportions import wilson
from apps.retrieval.models import Run
from apps.retrieval.rules import RunRefused
from tests.factories import AT
from tests.goldsets.factories import make_bench, make_version
from tests.judging.factories import later, people_of
from tests.retrieval.factories import import_lines, import_results, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

MEASURES = "nDCG@10 AbstentionRate FalseAnswerRate FalseAbstentionRate"
BASIS = {
    "basis": "exhaustive", "passages": 3, "judged": 3, "depth": 0, "systems": 0, "sampled": 0, "outside": 0,
    "missed_at_most": 0, "resolution": "unanimous",
}  # fmt: skip


def bench_with(unanswerable=2, answerable=2):
    """Queries with relevant passages, and some of which every passage is judged not relevant."""

    def grade(seat):
        return 0 if int(seat.query.outside_id[-1]) < unanswerable else len(seat.entry.version.block.outside_id) % 4

    return make_bench(queries=unanswerable + answerable, triples=0, grade_of=grade)


def names_of(bench):
    return sorted(bench.pool.pool_queries.values_list("query__outside_id", flat=True))


def confirm(bench, count=2):
    queries = bench.pool.pool_queries.select_related("query").order_by("query__outside_id")[:count]
    for row in queries:
        for person in people_of(bench.round):
            vote_on_unanswerable(snapshot=bench.snapshot, query_id=row.query_id, person=person, at=later(1))


@pytest.fixture
def bench():
    bench = bench_with()
    confirm(bench)
    return bench


@pytest.fixture
def version(bench):
    return make_version(VersionState.RELEASED, bench, test_share=0.0)


def test_a_version_freezes_what_was_confirmed_and_how_far_people_looked(bench, version):
    told = [row.fields.get("unanswerable") for row in version.queries.order_by("outside_id")]

    assert told == [BASIS, BASIS, None, None]
    assert version.manifest["counts"]["unanswerable"] == 2
    assert "unanswerable" not in without_grades(version.manifest)["counts"]


def test_a_version_without_any_says_nothing_of_them():
    version = make_version(VersionState.RELEASED, bench_with(), test_share=0.0)

    assert "unanswerable" not in version.manifest["counts"]
    assert all("unanswerable" not in row.fields for row in version.queries.all())


def test_its_files_have_them_and_are_intact(bench, version, tmp_path):
    exporting.write(version, tmp_path, formats=["all"])

    assert verify(tmp_path).is_intact
    lines = [json.loads(line) for line in (tmp_path / "jsonl/queries.jsonl").read_text().splitlines()]
    assert [line.get("unanswerable") for line in lines] == [BASIS, BASIS, None, None]
    assert (tmp_path / "trec/unanswerable.txt").read_text().split() == names_of(bench)[:2]
    relevant = [line.split()[0] for line in (tmp_path / "trec/qrels.txt").read_text().splitlines() if line[-1] != "0"]
    assert set(relevant) == set(names_of(bench)[2:])


def test_the_next_version_tells_what_changed():
    bench = bench_with()
    first = make_version(VersionState.RELEASED, bench, test_share=0.0)
    confirm(bench, 1)
    second = make_version(VersionState.RELEASED, bench, test_share=0.0)

    (changed,) = diff(first, second).redescribed
    assert changed.name == names_of(bench)[0]
    assert changed.before == "unanswerable: none"
    assert '"basis": "exhaustive"' in changed.after


def rows_of(bench, scores):
    """The rows of a run by the best score of each query in their order; none of a query where that is None."""
    return [
        row
        for name, score in zip(names_of(bench), scores, strict=True)
        if score is not None
        for row in ((name, "access", score), (name, "backups", score / 2))
    ]


def scored(bench, version, tag, scores, measures=MEASURES, **options):
    run = import_lines(bench.project, bench.snapshot, trec(rows_of(bench, scores), tag), **options).run
    made = request_evaluation(
        project=bench.project, run_id=run.pk, version_id=version.pk, measures=measures, actor=bench.lead, at=AT
    )
    run_jobs()
    made.refresh_from_db()
    assert made.is_scored, made.job.error
    return made


def figures(made):
    return {score.measure: (score.mean, score.n) for score in made.scores.all()}


def test_a_system_abstains_by_returning_nothing_or_by_a_low_score(bench, version):
    silent = figures(scored(bench, version, "silent", [None, 0.4, 0.1, 0.9]))
    shy = figures(scored(bench, version, "shy", [None, 0.4, 0.1, 0.9], abstains_below=0.5))

    assert (silent["AbstentionRate"], silent["FalseAnswerRate"]) == ((0.5, 2), (0.5, 2))
    assert silent["FalseAbstentionRate"] == (0.0, 2)
    assert (shy["AbstentionRate"], shy["FalseAnswerRate"]) == ((1.0, 2), (0.0, 2))
    assert shy["FalseAbstentionRate"] == (0.5, 2)
    assert silent["nDCG@10"] == shy["nDCG@10"], "what was found stays found"
    assert silent["nDCG@10"][1] == 2, "no unanswerable query is in the mean"


def test_measures_that_need_no_grades_count_what_is_returned_for_an_unanswerable_query(bench, version):
    measures = "nDCG@10 Sources(by='document')@10"
    options = {"as_role": "guest", "abstains_below": 0.5}

    found = figures(scored(bench, version, "guest", [0.4, 0.9, 0.1, None], measures, **options))

    assert (found["nDCG@10"][1], found["Sources(by='document')@10"][1]) == (2, 3)


def test_the_interval_of_a_rate_is_that_of_a_proportion(bench, version):
    made = scored(bench, version, "silent", [None, 0.4, 0.1, 0.9])

    score = made.scores.get(measure="AbstentionRate")
    assert score.method == "wilson"
    assert score.interval == pytest.approx(wilson(1, 2))


def test_two_runs_are_compared_over_the_queries_of_each_measure(bench, version):
    first = scored(bench, version, "silent", [None, 0.4, 0.1, 0.9])
    second = scored(bench, version, "shy", [None, 0.4, 0.1, 0.9], abstains_below=0.5)

    pair = EvaluationPair.of(first, second)

    found = {row.measure: (row.difference.mean, row.difference.n) for row in pair.comparison.measures}
    assert {name: found[name] for name in MEASURES.split()} == {
        "nDCG@10": (0.0, 2), "AbstentionRate": (0.5, 2), "FalseAnswerRate": (-0.5, 2), "FalseAbstentionRate": (0.5, 2),
    }  # fmt: skip
    assert pair.family("AbstentionRate").shown.difference.n == 2
    assert [change.query_id for change in pair.comparison.changes("AbstentionRate")] == names_of(bench)[:2]
    assert [drop.query_id for drop in pair.comparison.drops("FalseAbstentionRate")] == names_of(bench)[2:3]


def test_the_command_gives_the_same_figures_from_the_exported_files(bench, version, tmp_path, capsys):
    made = scored(bench, version, "shy", [None, 0.4, 0.1, 0.9], abstains_below=0.5)
    exporting.write(version, tmp_path, formats=["trec"])
    run = tmp_path / "run.txt"
    run.write_text("\n".join(trec(rows_of(bench, [None, 0.4, 0.1, 0.9]), "shy")))
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    files = ["--qrels", str(tmp_path / "trec/qrels.txt"), "--run", str(run)]
    files += ["--unanswerable", str(tmp_path / "trec/unanswerable.txt"), "--abstains-below", "0.5"]

    args = parser.parse_args(["score", *files, "--measures", MEASURES, "--format", "json"])
    assert args.run(args) == 0

    told = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
    assert told == {name: made.scores.get(measure=name).summary.estimate.as_json for name in MEASURES.split()}


def test_a_version_without_unanswerable_queries_is_not_measured_by_them():
    bench = bench_with()
    version = make_version(VersionState.RELEASED, bench, test_share=0.0)

    with pytest.raises(EvaluationRefused, match="counts unanswerable queries, and v1 has none"):
        scored(bench, version, "silent", [None, 0.4, 0.1, 0.9])
    assert figures(scored(bench, version, "other", [None, 0.4, 0.1, 0.9], "FalseAbstentionRate nDCG@10"))[
        "FalseAbstentionRate"
    ] == (0.0, 2)


def test_the_score_below_which_a_run_has_no_answer_never_changes(bench, version):
    run = scored(bench, version, "shy", [None, 0.4, 0.1, 0.9], abstains_below=0.5).run

    with pytest.raises(DatabaseError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(abstains_below=0.4)
    again = import_lines(bench.project, bench.snapshot, trec(rows_of(bench, [None, 0.4, 0.1, 0.9]), "shy"))
    assert (again.run, again.is_new) == (run, False)
    with pytest.raises(RunRefused, match="no answer below another score"):
        import_lines(
            bench.project, bench.snapshot, trec(rows_of(bench, [None, 0.4, 0.1, 0.9]), "shy"), tag="shy",
            abstains_below=0.7,
        )  # fmt: skip


def test_a_run_of_passages_of_its_own_has_no_scores_to_abstain_by(bench):
    row = {"qid": names_of(bench)[0], "rank": 1, "text": "Access is granted by role."}

    with pytest.raises(RunRefused, match="No scores are kept"):
        import_results(bench.project, bench.snapshot, row, abstains_below=0.5)


def test_pages_and_reports_show_each_measure_over_its_own_queries(client, bench, version):
    first = scored(bench, version, "silent", [None, 0.4, 0.1, 0.9])
    second = scored(bench, version, "shy", [None, 0.4, 0.1, 0.9], abstains_below=0.5)
    client.force_login(bench.lead)
    slug = bench.project.slug
    addresses = [
        reverse("evaluation:evaluation", args=[slug, first.pk]),
        reverse("evaluation:compare", args=[slug, first.pk, second.pk]) + "?measure=AbstentionRate",
        reverse("evaluation:overview", args=[slug]) + "?measure=FalseAnswerRate",
        reverse("reports:evaluation", args=[slug, first.pk]),
        reverse("reports:comparison", args=[slug, first.pk, second.pk]),
        reverse("goldsets:version", args=[slug, version.gold_set.slug, version.number]),
        reverse("retrieval:run", args=[slug, second.run_id]),
        *(reverse("evaluation:query", args=[slug, first.pk, second.pk, row.pk]) for row in version.queries.all()),
    ]

    pages = [client.get(address, follow=True) for address in addresses]

    assert [page.status_code for page in pages] == [200] * len(pages)
    texts = [b"".join(page).decode() if page.streaming else page.content.decode() for page in pages]
    assert all("AbstentionRate" in text for text in texts[:2])
    assert "2 queries that two people, or a lead, found no passage for" in texts[5]
    assert "where its best score is below 0.5" in texts[6]
    assert not any("nan" in text.split() for text in texts)
