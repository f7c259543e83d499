"""`--dry-run` ends with the code and the words of the real run, and changes nothing."""

import io

import pytest
from django.core.management import CommandError, call_command

from apps.audit.models import Event
from apps.common.errors import Refusal
from tests.evaluation.factories import BAD, make_scene, qrels_of

OF_SNAPSHOT = ("import_judgements", "import_run")
CASES = {
    "judgements with half a grade": (
        "import_judgements", "half.csv",
        "Search,Doc,Rating\nQ01,a,1\nQ01,b,1.5\nQ02,a,3\n", ["--columns", "Search=query,Doc=passage,Rating=grade"],
    ),
    "judgements on another scale": (
        "import_judgements", "stars.csv",
        "Search,Doc,Rating\nQ01,a,1\nQ01,b,5\n", ["--columns", "Search=query,Doc=passage,Rating=grade"],
    ),
    "judgements of nothing": ("import_judgements", "none.qrels", "", ["--format", "qrels"]),
    "judgements with every row left out": (
        "import_judgements", "skip.qrels", "Q01 0 a 9\n", ["--format", "qrels", "--grades", "9=skip"],
    ),
    "judgements with an unknown passage": (
        "import_judgements", "lost.qrels", "Q01 0 lost 1\n", ["--format", "qrels"],
    ),
    "judgements by a stranger": (
        "import_judgements", "good.qrels", "Q01 0 a 1\n", ["--format", "qrels", "--user", "nobody@example.org"],
    ),
    "judgements that fit": ("import_judgements", "good.qrels", "Q01 0 a 1\n", ["--format", "qrels", "--person", "Eve"]),
    "a run with a word for a score": ("import_run", "bad.run", "Q01 Q0 a 1 high dense\n", []),
    "a run with a tag that is taken": ("import_run", "base.run", "Q01 Q0 a 1 1.0 base\n", []),
    "a run by a stranger": ("import_run", "good.run", "Q01 Q0 a 1 1.0 new\n", ["--user", "nobody@example.org"]),
    "a run that fits": ("import_run", "good.run", "Q01 Q0 a 1 1.0 new\n", []),
    "queries with a blank in an id": ("import_queries", "q.csv", "query_id,text\nQ 91,breakfast\n", []),
    "queries that fit": ("import_queries", "q.csv", "query_id,text\nQ91,breakfast\n", []),
    "a corpus without ids": ("import_corpus", "c.jsonl", '{"text": "a"}\n', ["--corpus", "New", "--format", "jsonl"]),
    "a corpus that fits": (
        "import_corpus", "c.jsonl",
        '{"block_id": "n1", "document_id": "n", "text": "new"}\n', ["--corpus", "New", "--format", "jsonl"],
    ),
    "triples without an answer": ("import_triples", "t.jsonl", '{"question": "why"}\n', []),
    "a training list of nothing": ("import_training", "t.txt", "", ["--name", "Ranker", "--format", "lines"]),
    "a training list that fits": ("import_training", "t.txt", "when is supper\n", ["--name", "Ranker"]),
}  # fmt: skip


@pytest.fixture
def scene(db):
    return make_scene(queries=10, runs={"base": dict.fromkeys(qrels_of(10), BAD)})


def ended(command, *words):
    """The exit code, and what was said where it is not 0."""
    try:
        call_command(command, *words, stdout=io.StringIO(), stderr=io.StringIO())
    except (CommandError, Refusal) as refusal:
        return getattr(refusal, "returncode", 2), str(refusal)
    return 0, ""


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_dry_run_ends_as_the_real_one_and_changes_nothing(scene, tmp_path, case):
    command, name, text, options = case
    (tmp_path / name).write_text(text)
    words = [str(tmp_path / name), "--project", scene.project.slug, *options]
    if command in OF_SNAPSHOT:
        words += ["--snapshot", scene.snapshot.reference]
    events = Event.objects.count()

    dry = ended(command, *words, "--dry-run")
    assert Event.objects.count() == events

    assert dry == ended(command, *words)
    assert (Event.objects.count() > events) == (dry[0] == 0)


def test_a_dry_run_of_a_collection_ends_as_the_real_one(scene, tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "Supper is at six."}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "Q91", "text": "supper"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nQ91\td1\t7\n")
    words = [str(tmp_path), "--project", scene.project.slug, "--corpus", "Supper"]

    dry = ended("import_collection", *words, "--dry-run")

    assert dry == ended("import_collection", *words)
    assert dry[0] == 2
    assert ended("import_collection", *words, "--grades", "7=3", "--dry-run") == (0, "")
