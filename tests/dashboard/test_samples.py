"""The files that the import pages offer to download: each can be imported as it is, those of the demo are its own.

`.venv/bin/python -m tests.dashboard.test_samples` writes those of the demo anew.
"""

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.corpus.actions import corpora, imports
from apps.corpus.enums import ImportState
from apps.corpus.models import Corpus, Import
from apps.corpus.selectors.import_kinds import kind_named
from apps.dashboard.execution.demo import material
from tests.conftest import REPO
from tests.factories import AT, lead_of, make_project

SAMPLES = REPO / "static" / "samples"
KINDS = ("corpus", "queries", "judgements", "triples", "collection")
CORPUS = {"format": "auto", "ids": "file", "corpus": "+", "name": "Handbook", "mode": "replace"}


def demo_files() -> dict[str, str]:
    passages = [
        {name: value for name, value in section._asdict().items() if value} for section in material.first_version()
    ]
    queries = io.StringIO()
    writer = csv.writer(queries, lineterminator="\n")
    writer.writerow(["query_id", "text", "intent", "domain", "difficulty"])
    grades = []
    for query in material.queries():
        writer.writerow([query.get(name, "") for name in ("id", "text", "intent", "domain", "difficulty")])
        grades += [f"{query['id']} 0 {block} {grade}\n" for block, grade in query["grades"].items()]
    return {
        "demo-passages.jsonl": "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in passages),
        "demo-queries.csv": queries.getvalue(),
        "demo-judgements.txt": "".join(grades),
    }


def imported(project, kind: str, filename: str, **options) -> Import:
    lead = lead_of(project)
    file = SimpleUploadedFile(filename, (SAMPLES / filename).read_bytes())
    item = imports.start_import(project=project, kind=kind, file=file, options=options, actor=lead, at=AT)
    assert item.state == ImportState.READY, item.plan["errors"]
    return imports.confirm_import(import_id=item.pk, actor=lead, at=AT)


def test_every_sample_is_offered_by_one_kind():
    offered = sorted(sample.name for kind in KINDS for sample in kind_named(kind).samples)

    assert offered == sorted(path.name for path in SAMPLES.iterdir())


@pytest.mark.parametrize("name", ["demo-passages.jsonl", "demo-queries.csv", "demo-judgements.txt"])
def test_the_samples_of_the_demo_are_its_own_sources(name):
    assert (SAMPLES / name).read_text(encoding="utf-8") == demo_files()[name]


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "rows"), [("hut-handbook.zip", 5), ("passages.csv", 6), ("passages.jsonl", 6)])
def test_the_corpus_samples_are_recognised(name, rows):
    item = imported(make_project(), "corpus", name, **CORPUS)

    assert item.result["rows"] >= rows
    assert item.result["files"][0]["kind"] in {"markdown", "csv", "jsonl"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("passages", "queries", "judgements", "format", "graded"),
    [
        ("passages.jsonl", "queries.csv", "judgements.csv", "csv", 6),
        ("demo-passages.jsonl", "demo-queries.csv", "demo-judgements.txt", "qrels", 163),
    ],
)
def test_passages_queries_and_judgements_fit_together(passages, queries, judgements, format, graded, project):
    imported(project, "corpus", passages, **(CORPUS | {"format": "jsonl"}))
    corpus = Corpus.objects.get()
    snapshot = corpora.freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(project), at=AT)
    imported(project, "queries", queries, format="csv", ids="file", source="")

    item = imported(
        project, "judgements", judgements, format=format, snapshot=str(snapshot.pk), columns="", grades="", name=""
    )

    assert item.result["rows"] == graded
    if format == "csv":
        triples = imported(project, "triples", "questions-and-answers.jsonl", format="jsonl", corpus="", machine="")
        assert triples.result["rows"] == 2


@pytest.mark.django_db
def test_the_collection_brings_the_same_at_once():
    into = {"corpus": "+", "name": "Hut", "mode": "replace", "splits": "", "grades": "", "skip_unknown": False}

    item = imported(make_project(), "collection", "hut-collection.zip", **into)

    assert [part["rows"] for part in item.result["parts"]] == [6, 4, 6]


@pytest.mark.django_db
def test_queries_one_a_line_are_read():
    item = imported(make_project(), "queries", "queries.txt", format="lines", ids="file", source="")

    assert item.result["rows"] == 4


if __name__ == "__main__":
    for name, text in demo_files().items():
        (SAMPLES / name).write_text(text, encoding="utf-8")
