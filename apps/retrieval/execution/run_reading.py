"""Reading run files against a project's queries and a snapshot's blocks, storing what was read, and adding runs.

The reading of an uploaded file is stored beside it, packed and with a digest, until the run is imported or the file
discarded: the preview and the import share one reading.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, BinaryIO, TypedDict

from django.conf import settings
from django.utils.text import slugify

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import canonical_json, digest_of
from apps.common.errors import InputError
from apps.common.files.anytable import in_utf8
from apps.common.files.faults import ErrorList, as_row
from apps.common.files.linefiles import Extent, is_within, lines_in, name_of
from apps.common.files.private import whole_file
from apps.common.files.tabular import TableFile
from apps.common.text.words import plain_words
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.uploads import FOLDER
from apps.jobs.models import Upload
from apps.metrics.files.result_tables import are_results
from apps.metrics.files.run_tables import HEADING_BYTES, columns_of
from apps.queries.models import Query
from apps.retrieval.enums import Returns
from apps.retrieval.formats import (
    MOST_ERRORS,
    MOST_ERRORS_STORED,
    QueryRanking,
    RunDraft,
    draft_from_lines,
    draft_from_objects,
    draft_from_results,
    draft_from_rows,
    draft_from_table,
)
from apps.retrieval.models import Run, System
from apps.retrieval.rules import RunRefused, SystemRefused, check_lengths, role_refusal
from apps.retrieval.selectors.question_sets import other_names
from apps.retrieval.selectors.snapshots import facts_of, position_of_blocks

NUMBERED = re.compile(r"@[0-9]+\Z")
"""The number at the end of a tag that tells a run from earlier ones."""
FORMAT = 6
PIECE = 1024 * 1024
PLAIN = (
    "tags",
    "rows",
    "unknown_queries",
    "unknown_blocks",
    "ties",
    "reordered",
    "is_spoilt",
    "by_text",
    "returns",
    "usage",
)
"""The fields of a draft that go into JSON as they are."""
AT_ONCE_BYTES = 1_000_000
AT_ONCE_LINES = 50_000
AT_ONCE_BLOCKS = 100_000
REPORT_EVERY = 10_000
READING = ".reading"
READINGS_STORED_DAYS = 7


def add_run(
    system: System,
    snapshot: Snapshot,
    depth: int,
    tag: str = "",
    *,
    note: str = "",
    commit: str = "",
    as_role: str = "",
    origin: str = "",
    returns: str = Returns.BLOCKS,
    usage: Mapping[str, int | float] | None = None,
    abstains_below: float | None = None,
    actor: User,
    at: datetime,
) -> Run:
    """Create a run without rankings. An empty tag is replaced by a free one. Raises RunRefused and TooLong."""
    check_lengths(tag=tag.strip(), commit=commit.strip(), as_role=as_role.strip())
    if reason := role_refusal(as_role):
        raise RunRefused(reason, code="bad_role")
    tag = _free_tag(system, snapshot, tag.strip())
    run = Run.objects.create(
        project_id=system.project_id,
        system=system,
        snapshot=snapshot,
        tag=tag,
        depth=depth,
        note=note.strip(),
        commit=commit.strip(),
        as_role=as_role.strip(),
        origin=origin,
        returns=returns,
        usage=usage or None,
        abstains_below=abstains_below,
        created_by=actor,
        created_at=at,
    )
    after = {"tag": tag, "system": system.name, "snapshot": snapshot.digest, "depth": depth, "state": run.state}
    after |= {"as_role": run.as_role} if run.as_role else {}
    record(project=run.project, actor=actor, action="run.requested", obj=run, after=after, at=at)
    return run


def check_tag(project_id: int, tag: str) -> None:
    """Raises RunRefused for a tag that no new run can have."""
    if any(letter.isspace() for letter in tag):
        raise RunRefused(f"The tag “{tag}” contains a space. Use one word, as run files do.", code="bad_tag")
    if (free := next_tag(project_id, tag)) != tag:
        sentence = f"There is already a run called {tag}. Choose another tag, such as {free}."
        raise RunRefused(sentence, code="tag_taken")


def next_tag(project_id: int, tag: str) -> str:
    """`tag`, or when a run has it, the first free one of `tag@2`, `tag@3` and so on."""
    stem = NUMBERED.sub("", tag)
    taken = set(Run.objects.filter(project_id=project_id, tag__startswith=stem).values_list("tag", flat=True))
    numbered = (f"{stem}@{number}" for number in count(2))
    return next(one for one in chain([tag], numbered) if one not in taken)


def _free_tag(system: System, snapshot: Snapshot, wanted: str) -> str:
    """`wanted`, or RunRefused. Without it, a tag made of system and snapshot, with a number when it is taken."""
    runs = Run.objects.filter(project_id=system.project_id)
    if wanted:
        check_tag(system.project_id, wanted)
        return wanted
    stem = f"{slugify(system.name)[:100] or 'run'}@{snapshot.number}"
    taken = set(runs.filter(tag__startswith=stem).values_list("tag", flat=True))
    numbered = (f"{stem}.{number}" for number in count(2))
    return next(tag for tag in chain([stem], numbered) if tag not in taken)


def add_system(
    project: Project,
    name: str,
    kind: str,
    config: dict[str, Any],
    actor: User,
    at: datetime,
    settings: dict[str, Any] | None = None,
) -> System:
    """Create a system. `settings` are stored in the configuration but are not part of its identity.

    Raises SystemRefused for a missing or taken name and for the configuration of an existing system.
    """
    if not name:
        raise SystemRefused("A system needs a name.", code="name_missing")
    check_lengths(name=name)
    if System.objects.filter(project=project, name=name).exists():
        raise SystemRefused(f"There is already a system called {name}.", code="name_taken")
    digest = digest_of({"kind": kind, "config": config})
    if twin := System.objects.filter(project=project, digest=digest).first():
        raise SystemRefused(f"{twin.name} already has exactly this configuration.", code="system_exists")
    system = System.objects.create(
        project=project,
        name=name,
        kind=kind,
        config={**config, **(settings or {})},
        digest=digest,
        created_by=actor,
        created_at=at,
    )
    after = {"name": name, "kind": kind, "digest": digest}
    record(project=project, actor=actor, action="system.created", obj=system, after=after, at=at)
    return system


DIGEST_BYTES = hashlib.sha256().digest_size


def store(path: Path, draft: RunDraft, basis: Mapping[str, str]) -> None:
    """Write a draft, whole or not at all. `basis`: digests of the file that was read and of what it was matched with.

    The file is one line of JSON, the rankings in its order, packed or as JSON, and the SHA-256 of all.
    """
    with whole_file(path) as out:
        _write(out, draft, basis)


def load(path: Path, basis: Mapping[str, str]) -> RunDraft | None:
    """The stored draft, with its first mistakes; None when there is none on this basis, or the file is damaged."""
    try:
        with path.open("rb") as file:
            if not _is_whole(file):
                return None
            head = json.loads(file.readline())
            if (head.get("format"), head["basis"]) != (FORMAT, dict(basis)):
                return None
            return _draft(head, file)
    except FileNotFoundError:
        return None


def _write(out: BinaryIO, draft: RunDraft, basis: Mapping[str, str]) -> None:
    head = {
        "format": FORMAT,
        "basis": dict(basis),
        **{name: getattr(draft, name) for name in PLAIN},
        "errors": [as_row(error) for error in list(draft.errors)[:MOST_ERRORS_STORED]],
        "errors_total": draft.errors.total,
        "rankings": [(one.query, one.outside_id, len(_content(one))) for one in draft.rankings],
    }
    digest = hashlib.sha256()
    line = json.dumps(head).encode() + b"\n"
    for part in (line, *map(_content, draft.rankings)):
        digest.update(part)
        out.write(part)
    out.write(digest.digest())


def _content(one: QueryRanking) -> bytes:
    return one.packed if one.passages is None else canonical_json(one.passages)


def _ranking(query: int, name: str, content: bytes, returns: str) -> QueryRanking:
    if returns == Returns.PASSAGES:
        return QueryRanking(query, name, passages=json.loads(content))
    return QueryRanking(query, name, content)


def _draft(head: dict[str, Any], file: BinaryIO) -> RunDraft:
    errors = ErrorList(MOST_ERRORS)
    errors.listed = [InputError(**row) for row in head["errors"]]
    errors.total = head["errors_total"]
    rankings = [_ranking(query, name, file.read(size), head["returns"]) for query, name, size in head["rankings"]]
    return RunDraft(rankings=rankings, errors=errors, **{name: head[name] for name in PLAIN})


def _is_whole(file: BinaryIO) -> bool:
    """Whether the file ends in the digest of all bytes before it; afterwards it is at its beginning again."""
    left = os.fstat(file.fileno()).st_size - DIGEST_BYTES
    digest = hashlib.sha256()
    while left > 0 and (piece := file.read(min(left, PIECE))):
        digest.update(piece)
        left -= len(piece)
    is_whole = left == 0 and file.read() == digest.digest()
    file.seek(0)
    return is_whole


Progress = Callable[[int], object]


def is_read_at_once(path: Path, snapshot: Snapshot) -> bool:
    """Whether a run file is small enough to read in the request: by its content, not its size, and by the snapshot."""
    return has_few_blocks(snapshot) and is_within(path, Extent(AT_ONCE_BYTES, AT_ONCE_LINES))


def is_body_read_at_once(size: int, trec: str, snapshot: Snapshot) -> bool:
    """The same for a run sent as the body of a request, of `size` bytes."""
    return has_few_blocks(snapshot) and size <= AT_ONCE_BYTES and trec.count("\n") <= AT_ONCE_LINES


def has_few_blocks(snapshot: Snapshot) -> bool:
    """A snapshot of many blocks takes time by itself."""
    return snapshot.block_count <= AT_ONCE_BLOCKS


def reading_of(upload: Upload, progress: Progress = lambda rows: None) -> RunDraft:
    """The run in an uploaded or pushed file, read and matched.

    The file is read once, and again only when the queries it was matched with have changed or the stored reading is
    lost. `progress` is called now and then with the number of rows read so far.
    """
    snapshot = snapshot_in(upload.project, upload.options["snapshot"])
    basis = {"file": upload.sha256, "snapshot": snapshot.digest}
    draft = load(reading_path(upload), basis)
    if draft is None or not is_matched(draft, upload.project):
        draft = _read(upload, snapshot, progress)
        store(reading_path(upload), draft, basis)
    progress(draft.rows)
    return draft


def reading_path(upload: Upload) -> Path:
    """The path of the stored reading of an uploaded file."""
    return upload.place.with_suffix(READING)


def is_matched(draft: RunDraft, project: Project) -> bool:
    """Whether reading the file now would find the same queries. The blocks of a snapshot never change."""
    queries = _known_queries(project)
    is_same = all(queries.get(one.outside_id) == one.query for one in draft.rankings)
    if not is_same or not queries.keys().isdisjoint([*draft.unknown_queries, *draft.by_text]):
        return False
    texts = _known_texts(project) if draft.by_text or draft.unknown_queries else {}
    is_same = all(texts.get(plain_words(written)) == outside_id for written, outside_id in draft.by_text.items())
    return is_same and texts.keys().isdisjoint(map(plain_words, draft.unknown_queries))


def tidy_readings(at: datetime) -> None:
    """Remove readings nobody confirmed for days, and scratch files of killed writers. The files can be read again."""
    oldest = at.timestamp() - READINGS_STORED_DAYS * 86_400
    for path in (Path(settings.MEDIA_ROOT) / FOLDER).glob(f"*/*{READING}*"):
        with suppress(FileNotFoundError):  # imported or discarded just now
            if path.stat().st_mtime < oldest:
                path.unlink()


def _read(upload: Upload, snapshot: Snapshot, progress: Progress) -> RunDraft:
    if (form := upload.options.get("form")) in ("rows", "results"):
        sent = _reported(json.loads(upload.file_here().read_bytes()), progress)
        return draft_of_objects(form, sent, tag=upload.options["tag"], project=upload.project, snapshot=snapshot)
    return draft_of_file(
        upload.file_here(), project=upload.project, snapshot=snapshot, name=upload.filename, progress=progress
    )


def draft_of_file(
    path: Path, *, project: Project, snapshot: Snapshot, name: str = "", progress: Progress = lambda rows: None
) -> RunDraft:
    """The run in a file, plain or gzip: TREC's six columns, a table with a heading, or results as JSON lines.

    Errors name the file `name`, or its own. Raises OSError.
    """
    shown = name or name_of(path)
    with path.open("rb") as stream:
        source = in_utf8(TableFile(shown, stream, path=path))
        start = _start(source)
        if start and are_results(source, start):
            known = known_queries(project)
            return draft_from_results(source, _now_and_then(progress), **known, facts_of=partial(facts_of, snapshot))
        if table := columns_of(start):
            return draft_from_table(source, table, _now_and_then(progress), **known_ids(project, snapshot))
    with path.open("rb") as stream:
        return draft_from_lines(_reported(lines_in(stream, shown), progress), shown, **known_ids(project, snapshot))


def draft_of_text(text: str, *, project: Project, snapshot: Snapshot) -> RunDraft:
    """The run in a text of TREC's six columns. Errors name it `trec` and count its lines from 1."""
    lines = text.removeprefix("\ufeff").encode().split(b"\n")
    return draft_from_lines(lines, "trec", **known_ids(project, snapshot))


def draft_of_objects(form: str, objects: Iterable[Any], *, tag: str, project: Project, snapshot: Snapshot) -> RunDraft:
    """The run in objects: with query_id, block_id and score for the form `rows`, and as lines of `results` have them.

    Errors name them by the form and count them from 1.
    """
    if form == "results":
        return draft_from_objects(objects, tag, form, **known_queries(project), facts_of=partial(facts_of, snapshot))
    return draft_from_rows(objects, tag, form, **known_ids(project, snapshot))


class KnownQueries(TypedDict):
    queries: dict[str, int]
    texts: dict[str, str]


class KnownIds(KnownQueries):
    blocks: dict[str, int]


def known_ids(project: Project, snapshot: Snapshot) -> KnownIds:
    """Every query's key and every block's position, by outside id, and the ids of queries by their texts.

    Retired queries still have their runs.
    """
    return KnownIds(**known_queries(project), blocks=position_of_blocks(snapshot))


def known_queries(project: Project) -> KnownQueries:
    return KnownQueries(queries=_known_queries(project), texts=_known_texts(project))


def _known_queries(project: Project) -> dict[str, int]:
    return dict(Query.everything.filter(project=project).values_list("outside_id", "pk"))


def _known_texts(project: Project) -> dict[str, str]:
    """The id of each query by its text, as `plain_words` has it; without texts that several queries share.

    Also by its other names, as the label of a Q&A names the query that asks it.
    """
    known: dict[str, str] = {}
    shared = set()
    for outside_id, text in Query.everything.filter(project=project).values_list("outside_id", "text").iterator():
        words = plain_words(text)
        if known.setdefault(words, outside_id) != outside_id:
            shared.add(words)
    other = {plain_words(name): outside_id for name, outside_id in other_names(project).items()}
    return other | {words: outside_id for words, outside_id in known.items() if words not in shared}


def _start(source: TableFile) -> bytes:
    """The first bytes; b"" of a file that is damaged, which the reader of lines then says."""
    try:
        return source.head(HEADING_BYTES)
    except InputError:
        return b""


def _now_and_then(progress: Progress) -> Progress:
    return lambda rows: progress(rows) if rows % REPORT_EVERY == 0 else None


def _reported(rows: Iterable[Any], progress: Progress) -> Iterator[Any]:
    for number, row in enumerate(rows, 1):
        if number % REPORT_EVERY == 0:
            progress(number)
        yield row
