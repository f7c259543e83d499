"""Corpora for tests, made by the real actions."""

import io
import itertools
import json
import zipfile
from datetime import datetime
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from apps.accounts.models import Project
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.actions import corpora
from apps.corpus.actions.imports import start_import
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.enums import ImportMode
from apps.corpus.formats import read_blocks
from apps.corpus.models import Corpus, Import, Snapshot
from tests.factories import AT, lead_of, make_project

_numbers = itertools.count(1)
TEXTS = {
    "b1": "Keys are rotated every 90 days.",
    "b2": "Backups are kept for one year.",
    "b3": "Visitors sign in at the front desk.",
}


def make_corpus(project: Project | None = None, texts: dict[str, str] | None = None) -> Corpus:
    """A corpus of one document; `texts` maps block ids to texts."""
    project = project or make_project()
    corpus = corpora.create_corpus(project=project, name=f"Handbook {next(_numbers)}", actor=lead_of(project), at=AT)
    if texts != {}:
        import_texts(corpus, TEXTS if texts is None else texts)
    return corpus


def import_texts(
    corpus: Corpus, texts: dict[str, str], *, mode: str = ImportMode.REPLACE, at: datetime = AT
) -> ImportPlan:
    lines = [
        json.dumps({"block_id": block_id, "document_id": "d1", "title": f"Title {block_id}", "text": text})
        for block_id, text in texts.items()
    ]
    return import_text(corpus, "\n".join(lines), mode=mode, at=at)


def import_text(
    corpus: Corpus,
    text: str,
    *,
    format: str = "jsonl",
    mode: str = ImportMode.REPLACE,
    at: datetime = AT,
) -> ImportPlan:
    errors = ErrorList()
    source = TableFile("blocks.jsonl", io.BytesIO(text.encode()))
    return corpora.import_blocks(
        corpus_id=corpus.pk,
        rows=read_blocks(source, errors, format=format),
        source=source,
        errors=errors,
        mode=mode,
        actor=lead_of(corpus.project),
        at=at,
    )


def make_snapshot(
    project: Project | None = None, texts: dict[str, str] | None = None, *, corpus: Corpus | None = None
) -> Snapshot:
    corpus = corpus or make_corpus(project, texts)
    return corpora.freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(corpus.project), at=AT)


def zipped(files: dict[str, str | bytes]) -> bytes:
    """A zip of these files by path."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return out.getvalue()


def make_document_import(
    content: bytes, filename: str = "docs.zip", *, project: Project | None = None, **options: Any
) -> Import:
    """An upload of documents, read; into a new corpus Handbook unless `corpus` is given."""
    project = project or make_project()
    chosen = {"format": "auto", "ids": "file", "corpus": "+", "name": "Handbook", "mode": "replace"} | options
    return start_import(
        project=project,
        kind="corpus",
        file=SimpleUploadedFile(filename, content),
        options={"recipe": "headings", "base_url": ""} | chosen,
        actor=lead_of(project),
        at=AT,
    )
