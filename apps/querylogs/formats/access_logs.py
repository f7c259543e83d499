"""Logs that servers write of themselves, a line for each request, as records of cells.

Access logs of nginx and Apache, slow logs of Elasticsearch and OpenSearch, request logs of Solr. A line that is no
search is left out and counted by its reason. Who asked leaves this module as a code only.
"""

import hashlib
import json
import re
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from apps.common.files.tabular import TableFile, read_lines
from apps.querylogs.core.columns import PERSON, RESULTS, TEXT, TIME, time_of

TRIED_LINES, MOST_PARAMETERS, MOST_DEPTH = 1_000, 200, 40
VISITOR, AT, HITS, WORDS = "address and browser", "time of the request", "results", "words"
QUERY_NAMES = (
    "q", "query", "search", "s", "text", "term", "keyword", "keywords", "search_query", "searchterm", "question", "wd",
    "suche", "suchbegriff",
)  # fmt: skip
"""Parameters in which search pages send the words."""
OTHER_LINE, NO_PARAMETERS, NO_WORDS = "line of another form", "request without a search", "request without words"
ROBOT, REFUSED = "program that says it is one", "request that ended with an error"
UNREADABLE, NOT_SURE = "words in an unknown encoding", "several texts in one search, or another language of queries"
PART, AGAIN = "part of a search on several machines", "the same search on another shard"
Record = Mapping[str, str]
Counted = Counter[str]


class LineLog(NamedTuple):
    """How a file of lines is read: what it is, by which one knows it, the records of its lines, and known columns.

    `read` counts in its second argument what it leaves out. `is_by_parameter`: the words are in one of several columns.
    """

    how: str
    read: Callable[[Iterable[str], Counted], Iterator[Record]]
    known: Mapping[str, str]
    is_by_parameter: bool = False


def line_log(source: TableFile) -> LineLog | None:
    """How to read the log of a server; None for any other file. The source is at its beginning, before and after."""
    head = source.head(256 * 1024).decode("utf-8", "replace").splitlines()[:TRIED_LINES]
    lines = [line for line in head if line.strip()]
    for log, pattern, least in (
        (ACCESS, _ACCESS, 0.5),
        (SLOW, _SLOW, 0.5),
        (SOLR, _SOLR, 0.02),  # beside what Solr says of itself
    ):
        if lines and sum(bool(pattern.search(line)) for line in lines) >= max(1, least * len(lines)):
            return log
    return None


_TEXT = r'"((?:[^"\\]|\\.)*)"'
_ACCESS = re.compile(
    r"^(?:\S+:\d+ )?(?P<address>\S+) \S+ (?P<user>.+?) \[(?P<time>\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]"
    rf" {_TEXT.replace('(', '(?P<request>', 1)} (?P<status>\d{{3}}) (?:\d+|-)(?: {_TEXT}"
    rf" {_TEXT.replace('(', '(?P<agent>', 1)})?"
)
_ROBOT = re.compile(r"bot\b|crawl|spider|slurp|monitor|curl/|wget/|python-|go-http|java/", re.IGNORECASE)
_VERSION = re.compile(r" HTTP/[\d.]+\Z")
_ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))")


def _of_access(lines: Iterable[str], left_out: Counted) -> Iterator[Record]:
    """The parameters of each request, with its time and a code of who sent it."""
    key = secrets.token_bytes(32)
    for line in lines:
        found = _ACCESS.match(line)
        method, _, target = (found["request"] if found else "").partition(" ")
        if found is None:
            left_out[OTHER_LINE] += 1
        elif found["agent"] and _ROBOT.search(found["agent"]):
            left_out[ROBOT] += 1
        elif method not in {"GET", "POST"} or "?" not in (target := _VERSION.sub("", target)):
            left_out[NO_PARAMETERS] += 1
        elif found["status"] >= "400":
            left_out[REFUSED] += 1
        elif (values := parameters(target.partition("?")[2])) is None:
            left_out[UNREADABLE] += 1
        else:
            who = found["user"] if found["user"] != "-" else f"{found['address']} {found['agent']}"
            code = hashlib.blake2b(who.encode(), key=key, digest_size=8).hexdigest()
            yield values | {VISITOR: code, AT: found["time"]}


def parameters(query: str) -> dict[str, str] | None:
    """The parameters of an address, decoded, the first of each name; None where the words have bytes beside UTF-8.

    Servers write a byte that they do not print as \\xC3, and a sign that is theirs after a backslash.
    """
    written = _ESCAPED.sub(lambda found: f"%{found[1]}" if found[1] else found[2], query).partition("#")[0]
    pairs = parse_qsl(written, keep_blank_values=True, encoding="utf-8", errors="surrogateescape")[:MOST_PARAMETERS]
    if any(_is_broken(value) for name, value in pairs if name.casefold() in QUERY_NAMES):
        return None
    return dict(pair for pair in reversed(pairs) if not any(map(_is_broken, pair)))


def _is_broken(text: str) -> bool:
    return not text.isascii() and any(0xDC80 <= ord(letter) <= 0xDCFF for letter in text)


_SLOW = re.compile(r'index[._]search[._]slowlog|"(?:elasticsearch\.)?slowlog(?:\.source)?":|\]\[\d+\] took\[')
_SLOW_LINE = re.compile(r"^\[(?P<time>[^\]]+)\](?P<logger>.*?)\]\s*(?P<shard>\[[^\]]+\]\[\d+\]) took\[")
_FACT = re.compile(r"(total_hits|total_shards|id)\[([^\]]*)\]")
_SOURCE, _SOURCE_ENDS = re.compile(r"source\[(?=\{)"), json.JSONDecoder()
MATCHES = frozenset(
    {
        "match", "match_phrase", "match_phrase_prefix", "match_bool_prefix", "multi_match", "query_string",
        "simple_query_string", "combined_fields", "semantic", "neural",
    }
)  # fmt: skip
_OF_LUCENE = re.compile(r"(?:^|[\s(+-])[\w.]+:\S|^\{!")
SHARDS_KEPT, SHARDS_WITHIN = 10_000, 2


def _of_slow(lines: Iterable[str], left_out: Counted) -> Iterator[Record]:
    """The words of each search, its time and its results: once, however many shards have logged it."""
    seen = OrderedDict[tuple[str, str], tuple[int, set[str]]]()
    for line in lines:
        found = _slow_of_json(line) if line.startswith("{") else _slow_of_line(line)
        if found is None:
            left_out[OTHER_LINE] += 1
            continue
        key, at = (json.dumps(found.source, sort_keys=True), found.opaque), time_of(found.time) or 0
        texts = set(_texts_in(found.source))
        before, shards = seen.pop(key, (0, set[str]()))
        is_same = found.shard not in shards and at - before <= SHARDS_WITHIN
        seen[key] = (at, {found.shard} | (shards if is_same else set()))
        if len(seen) > SHARDS_KEPT:
            seen.popitem(last=False)
        if shards and is_same:
            left_out[AGAIN] += 1
        elif len(texts) != 1 or None in texts:
            left_out[NOT_SURE if texts else NO_WORDS] += 1
        else:
            yield {WORDS: texts.pop() or "", AT: found.time, HITS: found.hits}


class _Slow(NamedTuple):
    """A line of a slow log. `shard` names the index, the shard, and whether it searched or fetched."""

    source: Any
    time: str
    hits: str
    shard: str
    opaque: str


def _slow(source: Any, time: Any, logger: Any, shard: Any, facts: Mapping[str, Any]) -> _Slow:
    """Nothing found by one of several shards is not nothing found."""
    hits = str(facts.get("total_hits", ""))
    is_whole = str(facts.get("total_shards", "")) == "1" or not hits.startswith("0")
    where = f"{'fetch' if 'fetch' in str(logger) else ''} {shard}"
    return _Slow(source, str(time or ""), hits if is_whole else "", where, str(facts.get("id") or ""))


def _slow_of_line(line: str) -> _Slow | None:
    begins, source = _SLOW_LINE.match(line), _SOURCE.search(line)
    if not begins or not source:
        return None
    try:
        value, end = _SOURCE_ENDS.raw_decode(line, source.end())
    except (ValueError, RecursionError):
        return None
    facts = dict(_FACT.findall(line[: source.start()] + line[end:]))
    return _slow(value, begins["time"], begins["logger"], begins["shard"], facts)


def _slow_of_json(line: str) -> _Slow | None:
    try:
        record = json.loads(line)
        inner = {**record, **record.get("elasticsearch", {}).get("slowlog", {})}
        said = {name.removeprefix("elasticsearch.slowlog."): value for name, value in inner.items()}
        source = json.loads(said["source"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    logger = said.get("log.logger") or said.get("component") or said.get("type")
    return _slow(source, said.get("@timestamp") or said.get("timestamp"), logger, said.get("message"), said)


def _texts_in(value: Any, depth: int = 0) -> Iterator[str | None]:
    """The texts that the clauses of a search are matched with; None for one in another language of queries."""
    for inner in value if isinstance(value, list) and depth < MOST_DEPTH else ():
        yield from _texts_in(inner, depth + 1)
    for name, inner in value.items() if isinstance(value, dict) and depth < MOST_DEPTH else ():
        if name not in MATCHES or not isinstance(inner, dict):
            yield from _texts_in(inner, depth + 1)
            continue
        one = inner if "query" in inner else next(iter(inner.values()), "")
        text = one.get("query", one.get("query_text", "")) if isinstance(one, dict) else one
        if isinstance(text, str) and text.split():
            yield None if name == "query_string" and _OF_LUCENE.search(text) else " ".join(text.split())


_SOLR = re.compile(r"path=(?P<path>\S+) params=\{(?P<params>.*)\}(?: hits=(?P<hits>\d+))? status=(?P<status>-?\d+)")
_SOLR_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


def _of_solr(lines: Iterable[str], left_out: Counted) -> Iterator[Record]:
    """The words of each search, its time and its results."""
    for line in lines:
        found = _SOLR.search(line)
        values = parameters(found["params"]) if found else {}
        text = " ".join((values or {}).get("q", "").split())
        if found is None:
            left_out[OTHER_LINE] += 1
        elif values is None:
            left_out[UNREADABLE] += 1
        elif values.get("isShard") == "true" or values.get("distrib") == "false":
            left_out[PART] += 1
        elif found["status"] != "0":
            left_out[REFUSED] += 1
        elif text in {"", "*", "*:*"}:
            left_out[NO_WORDS] += 1
        elif _OF_LUCENE.search(text):
            left_out[NOT_SURE] += 1
        else:
            time = _SOLR_TIME.search(line)
            yield {WORDS: text, AT: time[0] if time else "", HITS: found["hits"] or ""}


_OF_ENGINES = {WORDS: TEXT, AT: TIME, HITS: RESULTS}
ACCESS = LineLog(
    "an access log, by the request in each line",
    _of_access,
    {VISITOR: PERSON, AT: TIME},
    is_by_parameter=True,
)
SLOW = LineLog("a slow log of Elasticsearch or OpenSearch, by its name and its source", _of_slow, _OF_ENGINES)
SOLR = LineLog("a log of Solr, by a path and its params", _of_solr, _OF_ENGINES)


def lines_of(source: TableFile) -> Iterator[str]:
    return (line for _, line in read_lines(source) if line.strip())
