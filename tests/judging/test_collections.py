"""A BEIR or MTEB folder is imported in one go: passages, queries, a snapshot between, judgements."""

import json

import pytest
from django.core.management import CommandError, call_command

from apps.corpus.models import Block, Corpus, Snapshot
from apps.judging.execution.collection_files import files_of
from apps.judging.models import Judgement, Round
from apps.queries.models import Query
from tests.judging.archives import parquet_of, zipped

CORPUS = [
    {"_id": "d1", "title": "Keys", "text": "Keys are rotated."},
    {"_id": "d2", "title": "", "text": "Doors shut."},
]
QUERIES = [{"_id": "q1", "text": "key rotation"}, {"_id": "q2", "text": "who may open"}]
TEST = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"
TRAIN = "query-id\tcorpus-id\tscore\nq2\td2\t1\n"


def jsonl(records: list[dict]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


BEIR = {
    "corpus.jsonl": jsonl(CORPUS),
    "queries.jsonl": jsonl(QUERIES),
    "qrels/test.tsv": TEST.encode(),
    "qrels/train.tsv": TRAIN.encode(),
}
MTEB = {
    "README.md": b"# A data set",
    "corpus/test-00000-of-00001.parquet": parquet_of(CORPUS),
    "queries/test-00000-of-00001.parquet": parquet_of(QUERIES),
    "data/test-00000-of-00001.parquet": parquet_of(
        [{"query-id": "q1", "corpus-id": "d1", "score": 2}, {"query-id": "q1", "corpus-id": "d2", "score": 0}]
    ),
}


def folder_of(tmp_path, files: dict[str, bytes]) -> str:
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    return str(tmp_path)


def take(project, folder: str, **options) -> None:
    call_command("import_collection", folder, project=project.slug, corpus=options.pop("corpus", "rules"), **options)


def grades() -> list[tuple]:
    return sorted(
        Judgement.objects.values_list("entry__query__outside_id", "entry__version__block__outside_id", "grade")
    )


def test_a_beir_folder_is_imported_with_all_its_splits(project, tmp_path, capsys):
    take(project, folder_of(tmp_path, BEIR))

    assert grades() == [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d2", 1)]
    assert [round_.name for round_ in Round.objects.order_by("pk")] == ["Split test", "Split train"]
    assert Snapshot.objects.get().block_count == 2
    shown = capsys.readouterr().out
    assert "Imported, corpus.jsonl: 2 blocks" in shown
    assert "Imported, rules@1 (rules 1) has these passages" in shown
    assert "Imported, qrels/test.tsv: 2 judgements" in shown


def test_an_mteb_folder_is_imported(project, tmp_path):
    take(project, folder_of(tmp_path, MTEB))

    assert grades() == [("q1", "d1", 2), ("q1", "d2", 0)]
    assert Block.objects.get(outside_id="d1").versions.get().title == "Keys"


def test_a_zip_is_imported_within_the_limits_of_packages(project, tmp_path):
    path = tmp_path / "set.zip"
    path.write_bytes(zipped({f"set/{name}": content for name, content in BEIR.items()}))

    take(project, str(path), split=["test"])

    assert grades() == [("q1", "d1", 2), ("q1", "d2", 0)]


def test_a_mistake_in_the_last_file_undoes_everything(project, tmp_path):
    folder = folder_of(tmp_path, BEIR | {"qrels/train.tsv": b"query-id\tcorpus-id\tscore\nq2\td9\t1\n"})

    with pytest.raises(CommandError, match="d9") as refused:
        take(project, folder)

    assert "qrels/train.tsv" in str(refused.value)
    assert not Corpus.objects.filter(project=project).exists()
    assert not Query.objects.exists()
    assert not Judgement.objects.exists()


def test_a_dry_run_changes_nothing(project, tmp_path, capsys):
    take(project, folder_of(tmp_path, BEIR), dry_run=True)

    assert "Dry run, queries.jsonl: 2 queries" in capsys.readouterr().out
    assert not Snapshot.objects.exists()
    assert not Judgement.objects.exists()


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["corpus.jsonl", "queries.jsonl"], "there are no judgements"),
        (["corpus.jsonl", "qrels/test.tsv"], "there is no queries.jsonl"),
        (["a/corpus.jsonl", "queries.jsonl", "qrels/test.tsv"], "there is no corpus.jsonl"),
        (["corpus.jsonl", "corpus/x.parquet", "queries.jsonl", "qrels/test.tsv"], "are both corpus"),
        (["corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "data/test-00000-of-00001.parquet"], "judgements of test"),
    ],
)
def test_a_folder_that_is_no_collection_says_what_is_missing(paths, message):
    with pytest.raises(ValueError, match=message):
        files_of(paths)
