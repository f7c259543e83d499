"""A search function in a test: it is asked every query of a release, and its answers are held against gates.

The file of the release is from a server, stored by its digest, or from a folder of exported versions.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from apps.cli.client.client import Client, KaratError
from apps.cli.evaluate.answers import SystemAnswer, answer_of
from apps.cli.evaluate.comment import comment_facts
from apps.cli.evaluate.existing import from_file
from apps.cli.evaluate.program import hit_of
from apps.cli.evaluate.released import ReleasedQuery, ReleaseFiles, ReleaseSplit, asked_of, reference_in
from apps.cli.evaluate.scoring import DecidedRule, Wanted, evaluate, from_answers
from apps.cli.score.triples import hit_rule
from apps.gates.core.comment import as_plain_text, comment_of
from apps.gates.core.decisions import worst_state
from apps.gates.core.rule import PASSED, TIERS, UNKNOWN, WARN, rules_in
from apps.gates.formats import read_rules
from apps.goldsets.formats.verification import NotAnExport
from apps.goldsets.formats.zipping import MANIFEST
from apps.metrics.expected.measures import DEFAULT_HIT_MEASURES
from apps.metrics.expected.rules import TEXT
from apps.metrics.measures.registry import DEFAULT_MEASURES, parse_measures
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, DEFAULT_SEED
from apps.metrics.vocabulary import Vocabulary
from apps.retrieval.core.engines.remote.base import RemoteError, RemoteHit, RemoteReport
from apps.retrieval.core.engines.remote.own_passages import told_in
from apps.retrieval.core.engines.remote.search import ranked

IN_PROJECT = re.compile(r"(?P<server>.*?)/p/(?P<project>[^/]+)(?:/.*)?\Z")
REFERENCE = re.compile(r"(?P<gold_set>[^/@\s]+)[/@]v(?P<number>[0-9]+)\Z")
DIGEST = re.compile(r"[0-9a-f]{16,128}\Z")


def is_address(place: str) -> bool:
    return place.startswith(("http://", "https://"))


def reference_of(version: str) -> str:
    """`doors@v2` and `doors/v2` as doors/v2. Raises KaratError."""
    match = REFERENCE.match(version.strip())
    if match is None:
        raise KaratError(f"{version!r} is no name of a version. Write GOLDSET@vN, such as doors@v2.")
    return f"{match['gold_set']}/v{match['number']}"


def server_and_project(address: str, project: str) -> tuple[str, str]:
    """The address of the server, and the project: as given, else as in the address of its pages. Raises KaratError."""
    match = IN_PROJECT.match(urlsplit(address)._replace(query="", fragment="").geturl())
    if match is not None:
        return match["server"], project or unquote(match["project"])
    if not project:
        raise KaratError(
            f"{address} names no project. Give the address of its pages, such as {address.rstrip('/')}/p/handbook."
        )
    return address.rstrip("/"), project


def pulled(client: Client, version: str, folder: Path) -> Path:
    """The zip of a version in the folder, downloaded where it is not there yet. Several processes may ask at once.

    Raises KaratError, and OSError where the folder cannot be written.
    """
    digest = str(client.version(version).get("digest") or "")
    if not DIGEST.match(digest):
        raise KaratError(f"{version} has no digest yet: it is not frozen.")
    target = folder / f"{digest}.zip"
    with locked(folder / f"{digest}.lock"):
        if not target.exists():
            client.pull(version, target, form="jsonl")
    return target


def found_in(place: Path, version: str) -> Path:
    """An exported version: the place itself, or what is in it under that name. Raises NotAnExport."""
    if is_export(place):
        name = _name_of(place)
        if version and name and name != version:
            raise NotAnExport(f"{place} is {name}, not {version}.")
        return place
    if not place.is_dir():
        raise NotAnExport(f"{place} is neither a folder nor the zip of an exported version.")
    names = {path: _name_of(path) for path in sorted(place.iterdir()) if is_export(path)}
    for path, name in names.items():
        if name == version:
            return path
    known = f"It has: {', '.join(sorted(filter(None, names.values())))}." if names else "It has no exported version."
    raise NotAnExport(f"{place} has no {version or 'version that is named'}. {known}")


def is_export(path: Path) -> bool:
    return path.suffix == ".zip" if path.is_file() else (path / MANIFEST).is_file()


def _name_of(path: Path) -> str:
    with suppress(ValueError, KeyError, OSError, AttributeError):
        return reference_in(json.loads(ReleaseFiles(path).text(MANIFEST)))
    return ""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Held by one process at a time; a process that dies lets go of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as handle:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


Search = Callable[[str], Iterable[Any]]
STRINGS = ' A string is an id; a passage of your own is {"text": …}.'
NO_ROWS = "it returned {kind}, not a list of ids, of (id, score), or of dicts"


class Conditions(NamedTuple):
    """What a test asks for, under the names of the options of `karat eval`."""

    gates: Path
    tier: str = "full"
    slice: str = ""
    hit: str = ""
    depth: int = 100
    baseline: Path | None = None


class Checked(NamedTuple):
    """`state` is that of the gates where what is not known yet warns or stops nothing; `is_open`: some gate is not
    known yet. `text` says so in a terminal, `comment` in a pull request.
    """

    state: str
    is_open: bool
    text: str
    comment: str


class CannotCheck(Exception):
    """A test asks for something that there is not, or its search returned no list of results; a sentence says which."""


def check(release: ReleaseSplit, search: Search, wanted: Conditions, *, name: str, open_warns: bool) -> Checked:
    """Ask every query, and hold the answers against the gates. What `search` raises is raised.

    Raises CannotCheck, NotAnExport, MeasureError, InputError and InputErrors.
    """
    if wanted.tier not in TIERS:
        raise CannotCheck(f"There is no tier {wanted.tier}. There are {', '.join(TIERS)}.")
    rules = rules_in(read_rules(wanted.gates), wanted.tier)
    release = asked_of(release, rules, part=wanted.slice, tier=wanted.tier, seed=DEFAULT_SEED)
    blocks = Vocabulary()
    judged = release.judged(blocks) if release.queries else None
    answers = [_answer(query, search, wanted.depth) for query in release.asked]
    answered = from_answers(name, answers, release, judged, blocks)
    path = wanted.baseline
    hit = hit_rule(wanted.hit) if wanted.hit else None
    text = hit if hit and hit.kind == TEXT else None
    measures = parse_measures(DEFAULT_MEASURES), parse_measures(DEFAULT_HIT_MEASURES)
    scored = evaluate(
        release,
        judged,
        answered,
        wanted=Wanted(*measures, None if text else hit, text=text),
        rules=rules,
        baseline=from_file(str(path), release, judged, blocks, fits_ids=False) if path else None,
        seed=DEFAULT_SEED,
        confidence=DEFAULT_CONFIDENCE,
    )
    facts = comment_facts(release, judged, answered, scored)
    is_open = any(one.verdict.state == UNKNOWN for one in scored.gates)
    state = worst_state(_counted(one, open_warns=open_warns) for one in scored.gates)
    return Checked(state, is_open, as_plain_text(facts), comment_of(facts))


def _counted(gate: DecidedRule, *, open_warns: bool) -> str:
    """The state of a gate where what is not known yet may only warn."""
    if gate.verdict.state == UNKNOWN and (open_warns or gate.rule.not_known == WARN):
        return PASSED
    return gate.verdict.state


def _answer(query: ReleasedQuery, search: Search, depth: int) -> SystemAnswer:
    began = time.perf_counter()
    found = search(query.text)
    if found is None or isinstance(found, str | bytes | dict) or not isinstance(found, Iterable):
        raise CannotCheck(f"{query.query_id}: {NO_ROWS.format(kind=type(found).__name__)}.")
    rows = list(found)
    seconds = time.perf_counter() - began
    try:
        hits = [hit_of(_plain(row), number) for number, row in enumerate(rows, 1)]
    except RemoteError as fault:
        hint = STRINGS if any(isinstance(row, str) for row in rows) else ""
        raise CannotCheck(f"{query.query_id}: {fault.sentence}{hint}") from None
    return _ranked(query, hits, depth, seconds)


def _plain(row: Any) -> Any:
    """A row as JSON has it: pairs and pages as lists, numbers of NumPy as numbers."""
    if isinstance(row, dict):
        return {key: _plain(value) for key, value in row.items()}
    if isinstance(row, tuple | list):
        return [_plain(value) for value in row]
    return row.item() if hasattr(row, "item") else row


def _ranked(query: ReleasedQuery, hits: list[RemoteHit], depth: int, seconds: float) -> SystemAnswer:
    """Best first, as answers of any other system are ordered: passages of the system's own as they stand."""
    if own := told_in(hits):
        return answer_of(query.query_id, own[:depth], seconds)
    names = sorted({hit.id for hit in hits}, key=str.encode)
    numbers = {name: number for number, name in enumerate(names)}
    positions, scores = ranked(query.query_id, hits, numbers, depth, RemoteReport())
    pairs = tuple((names[place], score) for place, score in zip(positions.tolist(), scores.tolist(), strict=True))
    return SystemAnswer(query.query_id, pairs, seconds)
