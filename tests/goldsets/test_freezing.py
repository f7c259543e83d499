"""A freeze writes what people answered, under a digest that anybody can recompute, and asks little of the database."""

import hashlib
import json
from collections import defaultdict

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.goldsets.actions.versions import freeze_version
from apps.goldsets.enums import VersionState
from apps.goldsets.execution import freezing
from apps.goldsets.models import VersionGrade, VersionQuery
from apps.judging.models import Judgement
from tests.factories import AT
from tests.goldsets.factories import draft, make_bench, make_version
from tests.judging.factories import give, judge_all, make_round, people_of

pytestmark = pytest.mark.django_db


def canonical(value) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def line(value) -> str:
    return json.dumps(value, ensure_ascii=False)


def differs(seat, place):
    return place == 2 and seat.entry_id % 3 == 0


def unlike_bench():
    """Two judges who agree, and a third who differs on every third pair; one answer was changed, then changed back."""
    bench = make_bench(queries=3, triples=0, judge=False)
    bench.round = make_round(bench.project, pool=bench.pool, annotators=3, overlap=1.0, judges=3, judge_again=True)
    for place, person in enumerate(people_of(bench.round)):
        judge_all(bench.round, person, lambda seat, n=place: (seat.entry_id + differs(seat, n)) % 4)
    first = bench.round.judgements.order_by("pk").first()
    for grade in ((first.grade + 1) % 4, first.grade):
        give(first.seat, first.annotator, grade)
    return bench


def answers_of(round_):
    """The answers in force by query and block, one judgement after the other."""
    answers = defaultdict(list)
    superseded = set(Judgement.objects.exclude(supersedes=None).values_list("supersedes", flat=True))
    for given in Judgement.objects.filter(round=round_).select_related("entry__query", "entry__version__block"):
        if given.pk not in superseded:
            answers[given.entry.query.outside_id, given.entry.version.block.outside_id].append(given.grade)
    return answers


def judgement_lines(version, round_):
    splits = dict(VersionQuery.objects.filter(version=version).values_list("outside_id", "split"))
    for (query, block), grades in sorted(answers_of(round_).items()):
        top = max(grades, key=grades.count)
        yield line(
            {
                "query_id": query,
                "block_id": block,
                "grade": top,
                "resolution": "unanimous" if len(set(grades)) == 1 else "majority",
                "judges": len(grades),
                "split": splits[query],
            }
        )


def query_lines(version):
    for row in sorted(VersionQuery.objects.filter(version=version), key=lambda row: row.outside_id):
        query = row.query
        yield line(
            {
                "query_id": query.outside_id,
                "text": query.text,
                "label": query.label,
                "intent": query.intent,
                "description": query.description,
                "source": query.source.slug,
                "difficulty": query.difficulty,
                "domain": query.domain,
                "query_type": query.query_type,
                "group": query.group_key,
                "tags": query.tags,
                "metadata": {**query.metadata, "split": row.split},
            }
        )


def recomputed(version, round_):
    """The digest of a version without triples, from the work itself."""
    guideline = version.guideline
    words = canonical({"markdown": guideline.markdown, "grades": guideline.grades})
    frame = {
        "snapshot": version.snapshot.digest,
        "scale": version.gold_set.project.scale,
        "guideline": hashlib.sha256(words.encode()).hexdigest(),
    }
    lines = [
        canonical(frame),
        "jsonl/judgements.jsonl",
        *judgement_lines(version, round_),
        "jsonl/queries.jsonl",
        *query_lines(version),
        "jsonl/triples.jsonl",
    ]
    return hashlib.sha256("".join(f"{each}\n" for each in lines).encode()).hexdigest()


def test_the_digest_is_that_of_the_work_itself():
    bench = unlike_bench()

    first = freeze_version(version_id=draft(bench).pk, actor=bench.lead, at=AT)
    again = freeze_version(version_id=draft(bench).pk, actor=bench.lead, at=AT)

    assert first.digest == recomputed(first, bench.round)
    assert again.digest == first.digest
    assert first.manifest["counts"]["by_resolution"] == {"majority": 3, "unanimous": 6}
    assert again.numbered == "1.0.1"


def test_a_grade_is_stored_with_its_text_and_its_place():
    bench = make_bench(queries=2)

    version = make_version(VersionState.FROZEN, bench)

    stored = VersionGrade.objects.filter(version=version).select_related("query", "block_version__block")
    places = {place.version_id: place.position for place in bench.snapshot.entries.all()}
    assert {(row.query.query_id, row.block_version_id) for row in stored} == set(
        bench.pool.entries.values_list("query_id", "version_id")
    )
    for row in stored:
        name = row.block_version.block.outside_id
        assert (row.block_id, row.position) == (name, places[row.block_version_id])
        assert (row.grade, row.resolution, row.judges) == (len(name) % 4, "unanimous", 2)


def statements_of_a_freeze(queries):
    """Those of a gold set's second version, which is compared with the first."""
    bench = make_bench(queries=queries)
    make_version(VersionState.FROZEN, bench)
    version = draft(bench)
    with CaptureQueriesContext(connection) as statements:
        freeze_version(version_id=version.pk, actor=bench.lead, at=AT)
    return len(statements)


def test_a_freeze_takes_as_many_statements_for_few_pairs_as_for_many():
    assert statements_of_a_freeze(queries=12) == statements_of_a_freeze(queries=2)


def test_more_grades_than_are_written_at_once_are_all_written(monkeypatch):
    bench = make_bench(queries=3)
    whole = make_version(VersionState.FROZEN, bench)
    monkeypatch.setattr(freezing, "GRADES_AT_ONCE", 4)

    in_parts = make_version(VersionState.FROZEN, bench)

    assert VersionGrade.objects.filter(version=in_parts).count() == 9
    assert in_parts.digest == whole.digest
