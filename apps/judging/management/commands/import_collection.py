import shutil
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import Project, User
from apps.common.files.tabular import open_source
from apps.corpus.core.documents import UnreadFile
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.edges.commands import BAD_INPUT, ProjectCommand
from apps.corpus.edges.imports import NEW, CorpusImport
from apps.corpus.enums import ImportMode
from apps.corpus.execution.document_reading import AUTO
from apps.corpus.execution.freezing import freeze_snapshot
from apps.corpus.execution.search_index import index_part, parts_of
from apps.corpus.formats.packages import open_package
from apps.corpus.models import Corpus, Snapshot
from apps.corpus.selectors.corpora import corpora_in
from apps.corpus.selectors.import_kinds import kind_named
from apps.judging.formats.collections import CollectionFiles, files_of


class Command(ProjectCommand):
    help = (
        "Import a collection: a folder or zip as BEIR or MTEB have it, with corpus, queries and qrels. All of it or"
        " nothing; the corpus is frozen between."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", help="the folder, or a zip of it")
        super().add_arguments(parser)
        parser.add_argument("--corpus", required=True, help="slug of the corpus, or the name of a new one")
        parser.add_argument("--split", action="append", help="split whose judgements count (default: all; repeatable)")
        parser.add_argument("--grades", default="", help="grade map, such as 1=3,0=0")
        parser.add_argument("--skip-unknown", action="store_true", help="leave out judgements of unknown ids")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options)
        actor = self.actor(project, options)
        with _files_in(Path(options["folder"])) as files:
            try:
                found = files_of(files)
            except ValueError as reason:
                raise CommandError(f"{options['folder']} is no collection: {reason}.", returncode=BAD_INPUT) from None
            splits = options["split"] or list(found.qrels)
            if unknown := [split for split in splits if split not in found.qrels]:
                message = f"There are no judgements of the split {unknown[0]}. There are: {', '.join(found.qrels)}."
                raise CommandError(message, returncode=BAD_INPUT)
            with transaction.atomic():
                lines = _import(project, files, found, splits, options, actor, timezone.now())
                transaction.set_rollback(options["dry_run"])
        head = "Dry run" if options["dry_run"] else "Imported"
        for line in lines:
            self.stdout.write(f"{head}, {line}")


@contextmanager
def _files_in(path: Path) -> Iterator[dict[str, Path]]:
    """The files of a folder by their paths, or those of a zip, unpacked within the limits of packages."""
    if path.is_dir():
        below = (each for each in sorted(path.rglob("*")) if each.is_file() and not each.is_symlink())
        yield {each.relative_to(path).as_posix(): each for each in below}
        return
    if not path.is_file():
        raise CommandError(f"There is no folder or file {path}.", returncode=BAD_INPUT)
    with TemporaryDirectory(prefix="karat-") as folder, open_package(path, path.name) as package:
        files: dict[str, Path] = {}
        for number, file in enumerate(package.files()):
            if isinstance(file, UnreadFile):
                raise CommandError(f"{path.name}: {file.path} is not read: {file.reason}.", returncode=BAD_INPUT)
            files[file.path] = Path(folder) / str(number)
            with files[file.path].open("wb") as out:
                shutil.copyfileobj(file.stream, out)
        yield files


def _import(
    project: Project,
    files: Mapping[str, Path],
    found: CollectionFiles,
    splits: list[str],
    options: Mapping[str, Any],
    actor: User,
    at: datetime,
) -> list[str]:
    """Import the files one after another by the kinds that pages use. Raises InputErrors; a line for each part."""

    def apply(kind: str, path: str, chosen: dict[str, Any]) -> ImportPlan:
        with open_source(files[path], name=path) as source:
            plan = kind_named(kind).apply(project, source, chosen, actor=actor, at=at)
        lines.append(f"{path}: {plan.sentence(kind_named(kind).one, kind_named(kind).many)}")
        return plan

    lines: list[str] = []
    corpus = corpora_in(project).filter(slug=options["corpus"]).first()
    as_corpus = {"corpus": options["corpus"], "name": ""} if corpus else {"corpus": NEW, "name": options["corpus"]}
    is_lines = not found.corpus.endswith(".parquet")
    plan = apply(
        "corpus",
        found.corpus,
        {"format": "beir" if is_lines else AUTO, "ids": "file", "mode": ImportMode.REPLACE, "recipe": "", **as_corpus},
    )
    apply("queries", found.queries, {"format": _form(found.queries, "beir"), "ids": "file", "source": ""})
    filled = CorpusImport().corpus(project, as_corpus)
    assert filled is not None  # it was made or filled just now
    snapshot = _snapshot(filled, plan, actor, at)
    lines.append(f"frozen as {snapshot.reference} ({snapshot.name})")
    for split in splits:
        judged = {"snapshot": str(snapshot.pk), "columns": "", "grades": options["grades"], "name": f"Split {split}"}
        form = _form(found.qrels[split], "jsonl" if ".jsonl" in found.qrels[split] else "qrels")
        apply("judgements", found.qrels[split], {"format": form, "skip_unknown": options["skip_unknown"], **judged})
    return lines


def _form(path: str, usual: str) -> str:
    return "parquet" if path.endswith(".parquet") else usual


def _snapshot(corpus: Corpus, plan: ImportPlan, actor: User, at: datetime) -> Snapshot:
    """The newest snapshot where the corpus is as it was, else a new one."""
    latest = corpus.snapshots.order_by("-number").first()
    if latest is not None and plan.changes_nothing:
        return latest
    for part in parts_of(corpus):
        index_part(part)
    return freeze_snapshot(corpus_id=corpus.pk, actor=actor, at=at, name="")
