"""The main job on a collection that nobody here wrote: Cranfield, with the traps its README names.

Questions are numbered with gaps but judged by position; the scale runs downwards; one row a question says -1. None of
it is guessed: each is said by an option.
"""

from collections import defaultdict

import pytest
import pytrec_eval
from django.core.management import CommandError

from apps.accounts.enums import Role
from apps.corpus.models import Snapshot
from apps.dashboard.actions.projects import change_scale
from apps.goldsets.models import VersionGrade
from apps.judging.core.plan import Plan
from apps.judging.models import Judgement
from apps.judging.selectors.pairs import resolved_grades
from apps.queries.models import Query
from apps.retrieval.core.ranking import unpack
from apps.retrieval.models import Pool, Run
from apps.retrieval.selectors.snapshots import position_of_blocks
from tests.acceptance import chain
from tests.factories import AT, lead_of, make_member, make_project

pytestmark = [pytest.mark.slow, pytest.mark.once]

MEASURES = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "P@10": "P_10", "Recall@100": "recall_100"}
TURNED = {1: 4, 2: 3, 3: 2, 4: 1}


@pytest.fixture
def cranfield(shared_data):
    folder = shared_data / "cranfield"
    if not folder.is_dir():
        pytest.skip(f"no Cranfield at {folder}")
    return folder


@pytest.fixture
def project(transactional_db, cranfield):
    project = make_project("Cranfield")
    scale = [{"grade": grade, "name": f"Grade {grade}", "hint": "As the readme says"} for grade in range(5)]
    project = change_scale(project_id=project.pk, scale=scale, actor=lead_of(project), at=AT)
    slug = project.slug
    chain.command(
        "import_corpus", str(cranfield / "cran.all.1400"), "--project", slug, "--corpus", "cran", "--format", "smart"
    )
    chain.command("freeze", "--project", slug, "--corpus", "cran")
    chain.command(
        "import_queries",
        str(cranfield / "cran.qry"),
        "--project",
        slug,
        "--format",
        "smart",
        *("--ids", "position", "--source", chain.permit(project, "cranfield")),
    )
    return project


def truth_of(cranfield) -> chain.Truth:
    """Grades turned round, 4 for a complete answer; the rows that say -1 are left out."""
    rows = [line.split() for line in (cranfield / "cranqrel").read_text().splitlines()]
    return {(query, block): TURNED[int(code)] for query, block, code in rows if int(code) in TURNED}


def test_judgements_need_their_columns_and_their_scale(project, cranfield):
    plain = ["import_judgements", str(cranfield / "cranqrel"), "--project", project.slug, "--snapshot", "cran@1"]
    columns = [*plain, "--format", "qrels", "--columns", "query_id doc_id grade"]

    with pytest.raises(CommandError, match="Nothing was imported"):
        chain.command(*plain, "--format", "qrels")
    with pytest.raises(CommandError, match="-1"):
        chain.command(*columns, "--grades", "1=4,2=3,3=2,4=1")
    said = chain.command(*columns, "--grades", "1=4,2=3,3=2,4=1,-1=skip", "--name", "As published")
    again = chain.command(*columns, "--grades", "1=4,2=3,3=2,4=1,-1=skip", "--name", "As published")

    assert "1,612" in said
    assert "othing" in again
    found = {(row.query_id, row.version_id): row.grade for row in resolved_grades(Snapshot.objects.get())}
    assert len(found) == len(truth_of(cranfield)) == 1612


@pytest.mark.long
def test_the_main_job_on_cranfield(project, cranfield, tmp_path):
    truth = truth_of(cranfield)
    annotators = [make_member(project, Role.ANNOTATOR) for _ in range(3)]
    chain.command(
        "pool",
        *("--project", project.slug, "--snapshot", "cran@1", "--name", "Depth 5", "--depth", "5"),
        *("--system", "bm25", "--system", "tfidf"),
    )
    pool = Pool.objects.get()
    round_ = chain.begin_round(project, pool, annotators, Plan(overlap=0.2, judges=2, seed=3))
    given = sum(chain.grade_over_http(project, round_, person, truth, noise=0.15) for person in annotators)
    settled = chain.settle(project, round_, truth)
    version = chain.release(project, round_, test_share=0)
    folder = chain.export(version, tmp_path / "gold", "trec", "csv")
    again = chain.export(version, tmp_path / "again", "trec", "csv")

    assert (Snapshot.objects.get().block_count, Query.objects.count()) == (1400, 225)
    assert given == Judgement.objects.count() == pool.entry_count + round(pool.entry_count * 0.2)
    assert settled > 0
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert all((folder / path).read_bytes() == (again / path).read_bytes() for path in files)
    _reimport_equals(project, folder, tmp_path)
    _scores_equal_trec_eval(folder, tmp_path)


def _reimport_equals(project, folder, tmp_path):
    """The exported qrels, taken in again as those of another rater, give the same grades."""
    qrels = folder / "trec/qrels.txt"
    chain.command(
        "import_judgements",
        str(qrels),
        *("--project", project.slug, "--snapshot", "cran@1", "--format", "qrels", "--name", "Back again"),
        *("--person", "As released"),
    )
    released = VersionGrade.objects.count()
    exported = {tuple(row.split()[:3:2]): int(row.split()[3]) for row in qrels.read_text().splitlines()}
    back = {
        (query, block): grade
        for query, block, grade in Judgement.objects.filter(annotator__name="As released").values_list(
            "entry__query__outside_id", "entry__version__block__outside_id", "grade"
        )
    }
    assert released == len(exported)
    assert back == exported


def _scores_equal_trec_eval(folder, tmp_path):
    qrels_path = folder / "trec/qrels.txt"
    run = Run.objects.filter(system__kind="bm25").get()
    lines = list(_trec_lines(run))
    run_path = tmp_path / "bm25.run"
    run_path.write_text("".join(lines))
    qrels, ranked = defaultdict(dict), defaultdict(dict)
    for row in qrels_path.read_text().splitlines():
        query, _, block, grade = row.split()
        qrels[query][block] = int(grade)
    for line in lines:
        query, _, block, _, value, _ = line.split()
        ranked[query][block] = float(value)
    reference = pytrec_eval.RelevanceEvaluator(dict(qrels), set(MEASURES.values())).evaluate(dict(ranked))

    said = chain.score(
        "--qrels", str(qrels_path), "--run", str(run_path), "--measures", " ".join(MEASURES), "--per-query"
    )

    per_query = said["runs"][0]["per_query"]
    assert per_query.keys() == qrels.keys()
    for query, values in per_query.items():
        expected = {name: reference.get(query, {}).get(key, 0.0) for name, key in MEASURES.items()}
        assert {name: values[name] for name in MEASURES} == pytest.approx(expected, abs=1e-12), query


def _trec_lines(run):
    ids = {position: block for block, position in position_of_blocks(run.snapshot).items()}
    for ranking in run.rankings.select_related("query").order_by("query__outside_id"):
        positions, scores = unpack(ranking.packed)
        for rank, (position, value) in enumerate(zip(positions.tolist(), scores.tolist(), strict=True), start=1):
            yield f"{ranking.query.outside_id} Q0 {ids[position]} {rank} {value!r} {run.tag}\n"
