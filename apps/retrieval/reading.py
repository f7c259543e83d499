"""Reading run files against a project's queries and a snapshot's blocks."""

from collections.abc import Iterable
from pathlib import Path

from apps.accounts.models import Project
from apps.common.trec import lines_in, name_of
from apps.corpus.models import Snapshot
from apps.queries.models import Query
from apps.retrieval import imports, selectors


def draft_of_file(path: Path, *, project: Project, snapshot: Snapshot, name: str = "") -> imports.Draft:
    """The run in a file, plain or gzip, as a draft. `name` is what errors call the file. Raises OSError."""
    with path.open("rb") as stream:
        called = name or name_of(path)
        return imports.read_run(lines_in(stream, called), called, **known_ids(project, snapshot))


def draft_of_text(text: str, *, project: Project, snapshot: Snapshot, name: str) -> imports.Draft:
    lines = text.encode().split(b"\n")
    return imports.read_run(lines, name, **known_ids(project, snapshot))


def draft_of_rows(
    rows: Iterable[tuple[str, str, float]], *, tag: str, project: Project, snapshot: Snapshot, name: str
) -> imports.Draft:
    """A draft from (query, block, score) rows; errors count them from 1."""
    return imports.read_rows(rows, tag, name, **known_ids(project, snapshot))


def known_ids(project: Project, snapshot: Snapshot) -> dict[str, dict[str, int]]:
    """Every query's key and every block's position, by outside id. Retired queries still have their runs."""
    queries = Query.objects.filter(project=project).values_list("outside_id", "pk")
    return {"queries": dict(queries), "blocks": selectors.position_of_blocks(snapshot)}
