"""Triples written, reviewed, released and measured: a published example, and two editions of real documents."""

import json
import re
from pathlib import Path

import pytest

from apps.accounts.enums import Role
from apps.corpus.actions.imports import confirm_import
from apps.corpus.models import Corpus, Snapshot
from apps.evaluation.actions.scoring import request_evaluation
from apps.evaluation.selectors.evaluations import values_of
from apps.goldsets.actions.versions import create_gold_set, draft_version, freeze_version, release_version
from apps.goldsets.models import Version
from apps.metrics.expected.rules import KINDS, ExpectedBlock, Question, Returned
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import create_system
from apps.retrieval.core import ranking
from apps.retrieval.enums import SystemKind
from apps.retrieval.models import Ranking, Run
from apps.retrieval.selectors.question_sets import QueryChoice
from apps.review.actions.submitting import submit_triple
from apps.review.enums import VerdictChoice
from apps.triples.actions.triples import refresh_staleness, save_draft
from apps.triples.models import Triple
from apps.triples.selectors.triples import asked_queries
from tests.acceptance.chain import command
from tests.corpus.factories import make_document_import, zipped
from tests.corpus.factories import make_snapshot as freeze
from tests.editions.versions import release_without_stale
from tests.factories import AT, lead_of, make_member, make_project
from tests.metrics.expected import by_hand
from tests.retrieval.factories import import_results
from tests.review.factories import answer_both, make_accepted
from tests.running_jobs import run_jobs
from tests.triples.factories import make_snapshot, make_wording

pytestmark = pytest.mark.django_db

PUBLISHED = {
    "question": "How long may a session for emergency access last?",
    "expected_block": {"block_id": "access", "document_id": "handbook", "page_range": [31, 32]},
    "expected_answer": "At most eight hours.",
    "metadata": {
        "domain": "access",
        "difficulty": "standard",
        "added_by": "A. Author",
        "added_at": "2026-01-31T10:00:00Z",
        "reviewed_by": ["R. One", "R. Two"],
        "resolution": "consensus",
    },
}


def reviewed_by_two(project) -> None:
    for _ in range(2):
        make_member(project, Role.REVIEWER, name="Reviewer")


def first_version(project, snapshot: Snapshot) -> Version:
    lead = lead_of(project)
    gold_set = create_gold_set(project=project, name="Handbook", actor=lead, at=AT)
    version = draft(gold_set.pk, snapshot, lead)
    freeze_version(version_id=version.pk, actor=lead, at=AT)
    return release_version(version_id=version.pk, actor=lead, at=AT)


def draft(gold_set_id: int, snapshot: Snapshot, lead) -> Version:
    return draft_version(gold_set_id=gold_set_id, snapshot=snapshot, rounds=[], test_share=0.0, actor=lead, at=AT)


def run_on(version: Version, kind: str) -> Run:
    """One of our systems on the questions of the version."""
    project = version.gold_set.project
    lead = lead_of(project)
    system = create_system(project=project, name=kind, kind=kind, parameters={}, actor=lead, at=AT)
    choice = QueryChoice(questions=f"{version.gold_set.slug}/{version.label}")
    run = request_run(
        project=project, system_id=system.pk, snapshot_id=version.snapshot_id, choice=choice, depth=8, actor=lead, at=AT
    )
    run_jobs()
    return Run.objects.get(pk=run.pk)


def measured(version: Version, run: Run, hit: str, measures: str) -> dict[str, dict[str, float]]:
    """Each measure's value by the label of the triple."""
    lead = lead_of(version.gold_set.project)
    evaluation = request_evaluation(
        project=version.gold_set.project,
        run_id=run.pk,
        version_id=version.pk,
        hit=hit,
        measures=measures,
        actor=lead,
        at=AT,
    )
    run_jobs()
    evaluation.refresh_from_db()
    assert evaluation.is_scored, evaluation.job.error
    named = values_of(evaluation)
    return {name: dict(zip(evaluation.query_ids, column.tolist(), strict=True)) for name, column in named.items()}


def mark_evidence(triple: Triple, snapshot: Snapshot) -> None:
    """Published entries name a passage; what in it answers is for the author to mark."""
    save_draft(
        project=triple.project,
        triple_id=triple.pk,
        author=triple.revision.author,
        seen_version=triple.edit_version,
        snapshot=snapshot,
        wording=make_wording(snapshot, question=PUBLISHED["question"], answer=PUBLISHED["expected_answer"]),
        at=AT,
    )


def test_the_published_example_is_imported_reviewed_released_and_measured(tmp_path):
    project = make_project()
    snapshot = make_snapshot(project)
    reviewed_by_two(project)
    (tmp_path / "triples.jsonl").write_text(json.dumps(PUBLISHED) + "\n")
    file = tmp_path / "triples.jsonl"
    command("import_triples", str(file), "--project", project.slug)
    triple = Triple.objects.get()
    assert triple.difficulty == "standard"
    mark_evidence(triple, snapshot)
    submit_triple(project=project, triple_id=triple.pk, author=triple.revision.author, at=AT)
    answer_both(triple, VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)

    version = first_version(project, snapshot)
    run = run_on(version, SystemKind.BM25)

    for hit in KINDS:
        assert set(measured(version, run, hit, "Success@5 RR")["Success@5"].values()) == {1.0}


DATA = {"cg_compliance": ("2016-04-13", "2016-11-04", "*.md"), "nist_800_53": ("rev5_2020-12", "rev5_2021-06", "*")}
TRIPLES, DEPTH, CHUNK, LONGEST = 10, 8, 200, 24
MEASURES = "Success@5 RR P@5 Recall@5 Coverage@5 Sufficient@5 FailureRate@5"


def edition(folder: Path, pattern: str, project=None, corpus: str = "") -> Snapshot:
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob(pattern) if path.is_file()}
    item = make_document_import(zipped(files), **({"project": project, "corpus": corpus} if project else {}))
    run_jobs()  # a large folder is read by a job
    confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
    run_jobs()
    return freeze(corpus=Corpus.objects.get(project=item.project))


def write_triples(snapshot: Snapshot) -> None:
    """A question on each of the first passages with a sentence that is short enough to be compared by hand."""
    project = snapshot.corpus.project
    reviewed_by_two(project)
    written = 0
    for entry in snapshot.entries.select_related("version", "block").order_by("position"):
        sentence = next(
            (
                text
                for text in re.split(r"(?<=[.])\s|\n", entry.version.text)
                if 8 <= len(by_hand.words(text)) <= LONGEST
            ),
            "",
        )
        if sentence and written < TRIPLES:
            key = entry.block.outside_id
            make_accepted(project, snapshot=snapshot, key=key, evidence=sentence.strip(), answer=sentence.strip()[:300])
            written += 1
    assert written == TRIPLES


def chunks_of(snapshot: Snapshot) -> list[Returned]:
    """The passages of an outside program: 200 words each, of whole documents, without our ids and pages."""
    documents: dict[str, list[str]] = {}
    for entry in snapshot.entries.select_related("version", "block__document").order_by("position"):
        documents.setdefault(entry.block.document.outside_id, []).extend(entry.version.text.split())
    return [
        Returned("", document, None, " ".join(words[start : start + CHUNK]))
        for document, words in documents.items()
        for start in range(0, len(words), CHUNK)
    ]


def outside_program(question: str, chunks: list[Returned]) -> list[Returned]:
    """The chunks that share most words with the question, best first."""
    asked = set(by_hand.words(question))
    order = sorted(range(len(chunks)), key=lambda at: (-len(asked & set(by_hand.words(chunks[at].text))), at))
    return [chunks[at] for at in order[:DEPTH]]


def returned_by_ours(run: Run, query_id: int) -> list[Returned]:
    """What a run of ours returned, read from its rows."""
    packed = Ranking.objects.get(run=run, query=query_id).packed
    blocks = []
    for position in ranking.unpack(bytes(packed))[0].tolist():
        entry = run.snapshot.entries.select_related("block__document", "version").get(position=position)
        version = entry.version
        pages = None if version.page_start is None else (version.page_start, version.page_end or version.page_start)
        blocks.append(Returned(entry.block.outside_id, entry.block.document.outside_id, pages, version.text))
    return blocks


def question_of(row) -> Question:
    blocks = tuple(
        ExpectedBlock(
            one["block_id"],
            one["document_id"],
            None if one["page_start"] is None else (one["page_start"], one["page_end"] or one["page_start"]),
            tuple(one["evidence"]),
        )
        for one in row.content["blocks"]
    )
    return Question(row.label, blocks, row.content["match"] == "all")


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
def test_real_editions_are_measured_as_by_hand_under_every_rule(shared_data, name):
    if not (shared_data / name).is_dir():
        pytest.skip(f"{name} is not there")
    first, second, pattern = DATA[name]
    spring = edition(shared_data / name / first, pattern)
    project = spring.corpus.project
    write_triples(spring)
    one = first_version(project, spring)
    autumn = edition(shared_data / name / second, pattern, project, spring.corpus.slug)
    refresh_staleness(project=project, snapshot=autumn, at=AT)
    two = release_without_stale(draft(one.gold_set_id, autumn, lead_of(project)), lead_of(project))
    assert 0 < two.triples.count() <= TRIPLES

    rows = {row.label: row for row in two.triples.all()}
    asked = asked_queries(row.revision_id for row in rows.values())
    chunks = chunks_of(autumn)
    outside = {label: outside_program(row.content["question"], chunks) for label, row in rows.items()}
    results = [
        {"qid": label, "rank": rank, "document_id": passage.document_id, "text": passage.text}
        for label, passages in outside.items()
        for rank, passage in enumerate(passages, 1)
    ]
    theirs = import_results(project, autumn, *results).run
    ours = [run_on(two, SystemKind.BM25), run_on(two, SystemKind.TFIDF)]
    returned = {theirs: outside} | {
        run: {label: returned_by_ours(run, asked[row.revision_id].query_id) for label, row in rows.items()}
        for run in ours
    }

    for run, hit in ((run, hit) for run in returned for hit in KINDS):
        found = measured(two, run, hit, MEASURES)
        for label in found["RR"]:
            wanted = by_hand.values(hit, question_of(rows[label]), returned[run][label], 5)
            shown = {measure.partition("@")[0]: values[label] for measure, values in found.items()}
            assert shown == pytest.approx(wanted), (run.tag, hit, label)
