"""Scores by stratum in the report of a version, and the gaps that it names."""

import numpy as np
import pytest

from apps.goldsets.enums import VersionState
from apps.metrics.statistics.proportions import wilson
from apps.queries.models import Source
from apps.reports.core.version_document import SmallStratum, small_words
from apps.reports.presenters.documents import version_report
from apps.reports.presenters.version_reports.questions import divided, in_order
from tests.evaluation.factories import make_scene
from tests.evaluation.factories import score as score_by_grades
from tests.evaluation.hits import places, run_that, score
from tests.factories import AT
from tests.goldsets.factories import make_bench, make_version
from tests.review.factories import make_accepted, make_disputed, make_in_review

pytestmark = pytest.mark.django_db


def document(version, **options):
    return version_report(version, **({"is_blind": False, "at": AT} | options))


def rows_of(document, name):
    return [list(row) for row in next(table.rows for table in document.tables if table.name == name)]


def gaps_of(version, **options) -> list[str]:
    told = [row[1] for row in rows_of(document(version, **options), "Known gaps")]
    return [sentence.replace("\N{NO-BREAK SPACE}", " ") for sentence in told]


def test_each_stratum_has_the_mean_of_the_best_run_and_of_the_baseline():
    """GOOD has a relevant passage first: RR 1. BAD has b, of grade 1, third: RR 1/3. Domains take turns."""
    scene = make_scene(queries=12, test_share=0.0)
    for tag in ("base", "better"):
        score_by_grades(scene, tag, split="dev", measures="RR")

    rows = rows_of(document(scene.version), "Strata on the dev split")

    assert [(by, name, run, mean, n) for by, name, run, mean, _, n in rows] == [
        ("All", "all questions", "better", "1.0000", "12"),
        ("All", "all questions", "base", "0.3333", "12"),
        ("Domain", "access", "better", "1.0000", "6"),
        ("Domain", "access", "base", "0.3333", "6"),
        ("Domain", "backups", "better", "1.0000", "6"),
        ("Domain", "backups", "base", "0.3333", "6"),
    ]


def test_a_stratum_with_too_few_queries_is_named_and_not_scored():
    scene = make_scene(queries=8, test_share=0.0)
    score_by_grades(scene, "base", split="dev", measures="RR")

    told = document(scene.version)

    assert "Strata on the dev split" not in [table.name for table in told.tables]
    assert "Domain, dev split: fewer than 5 queries of access (4), backups (4)." in gaps_of(scene.version)


def test_scores_on_both_splits_together_are_told_for_each_split():
    scene = make_scene(queries=16)
    score_by_grades(scene, "better", measures="RR")

    rows = rows_of(document(scene.version), "Strata on dev and test together")

    sizes = {split: scene.version.queries.filter(split=split).count() for split in ("dev", "test")}
    assert {row[1]: int(row[5]) for row in rows if row[0] == "Split"} == sizes


def test_numeric_questions_have_a_stratum_with_wilsons_interval():
    bench = make_bench(triples=5)
    words = {"key": "rotation", "evidence": "at once when a custodian leaves", "answer": "When a custodian leaves."}
    make_accepted(bench.project, snapshot=bench.snapshot, **words)
    version = make_version(VersionState.RELEASED, bench, test_share=0.0)
    score(version, run_that(version, "ours", places(version, 1, 1, 2, 2, 2, 1)), measures="Success@1")

    rows = rows_of(document(version), "Strata on dev and test together, Q&As: same passage")

    low, high = wilson(2, 5)
    row = next(row for row in rows if row[1] == "Numeric")
    assert row == ["Kind", "Numeric", "ours", "0.4000", f"{low:.4f} to {high:.4f}", "5"]


def test_gaps_of_relevance_are_counted_by_hand_but_not_for_judges():
    qrels = {"Q1": {"a": 0}, "Q2": {"a": 1}, "Q3": {"a": 2}, "Q4": dict.fromkeys("abcd", 3), "Q5": {"a": 2, "b": 3}}
    version = make_scene(qrels=qrels, runs={}, test_share=0.0).version

    told, blind = gaps_of(version), gaps_of(version, is_blind=True)

    for sentence in (
        "2 of 5 graded queries (40 %) have no passage graded 2 or higher: measures that need one leave them out or"
        " count 0.",
        "1 of 5 graded queries (20 %) has a single passage graded 2 or higher: their scores hang on it.",
        "1 of 5 graded queries (20 %) has more than 3 passages graded 2 or higher.",
    ):
        assert sentence in told
    assert not any("graded 2 or higher" in sentence for sentence in blind)


def test_what_nobody_judged_is_told_of_each_run():
    scene = make_scene(queries=4, test_share=0.0)
    score_by_grades(scene, "base", split="dev", measures="RR")

    told = gaps_of(scene.version)

    start = "Not judged among the first 10 results on the dev split: 25 % of base."
    assert any(sentence.startswith(start) for sentence in told)


def test_questions_that_waited_and_that_went_stale_are_gaps():
    bench = make_bench(triples=2)
    make_in_review(bench.project, snapshot=bench.snapshot)
    make_disputed(bench.project, snapshot=bench.snapshot)
    version = make_version(VersionState.RELEASED, bench)

    told = gaps_of(version)

    assert "1 Q&A was in review when it was frozen, so not in it." in told
    assert "1 Q&A was disputed when it was frozen, so not in it." in told


def test_a_source_off_its_target_is_a_gap():
    bench = make_bench(triples=0)
    Source.objects.filter(pk=bench.source.pk).update(target_share=0.6)
    version = make_version(VersionState.RELEASED, bench)

    assert "query-log gives 100 % of the queries, 40 % above its target of 60 %." in gaps_of(version)


def test_documents_that_no_question_needs_are_counted():
    scene = make_scene(queries=2, runs={}, test_share=0.0)
    documents = scene.version.manifest["snapshot"]["documents"]
    needed = {entry.block.document_id for entry in scene.snapshot.entries.all() if entry.block.outside_id in "ab"}

    told = [sentence for sentence in gaps_of(scene.version) if "no passage that a question needs" in sentence]

    assert bool(told) == (documents > len(needed))
    if told:
        assert told[0].startswith(f"{documents - len(needed)} of {documents} documents")


def test_no_query_is_named():
    scene = make_scene(queries=4, test_share=0)
    for tag in scene.runs:
        score_by_grades(scene, tag, measures="RR")

    told = [text for table in document(scene.version).tables for row in table.rows for text in row]

    assert not any(name in text for name in ("Q01", "Q02", "Q03", "Q04") for text in told)


def test_the_smallest_strata_are_named_first_and_many_are_cut():
    small = [SmallStratum("Domain", f"d{n:02}", n % 4 + 1) for n in range(14)]

    told = small_words(small)

    assert told.startswith("d00 (1), d04 (1), d08 (1), d12 (1), d01 (2)")
    assert told.endswith(" and 2 more")


def test_strata_divide_questions_by_field_largest_first():
    kinds = {f"q{n}": [("Kind", "big")] + ([("Kind", "five")] if n < 5 else [("Kind", "small")]) for n in range(8)}

    large, small = divided(list(kinds), kinds)

    assert {kind: places.tolist() for kind, places in large.items()} == {
        ("Kind", "big"): list(range(8)),
        ("Kind", "five"): list(range(5)),
    }
    assert small == [SmallStratum("Kind", "small", 3)]


def test_values_are_brought_into_the_order_of_other_names():
    values = in_order(np.array([0.1, 0.2]), ["b", "a"], ["a", "b", "c"])

    assert values[:2].tolist() == [0.2, 0.1]
    assert np.isnan(values[2])
