"""The `_search` endpoint of OpenSearch (2, 3) and Elasticsearch (7 to 9)."""

import json
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from apps.retrieval.core.engines.base import BadParameters, Parameters
from apps.retrieval.core.engines.remote import http_json, templates
from apps.retrieval.core.engines.remote.base import (
    Auth,
    RemoteAnswer,
    RemoteError,
    RemoteQuery,
    Reply,
    Request,
    check_status,
    checked_score,
    parsed,
)
from apps.retrieval.core.engines.remote.own_passages import MayCutPassages

HITS: http_json.Path = ("hits", "hits", http_json.Every.ITEM)
SOURCE = "_source."
PAGES = ("first_pages", "last_pages")
QUERIES = ("match", "multi_match", "body")
_INDEX = re.compile(r"[a-z0-9.][a-z0-9_.\-*,]{0,254}")
_FIELD = re.compile(r"[^\s\"{}]{1,200}")
_ERROR_TYPE = re.compile(r"[a-z][a-z_]{2,80}")


@dataclass(frozen=True)
class OpenSearch(MayCutPassages):
    """`query` is the type of the search: `match` on one field, `multi_match` on several, or `body`, a template with
    `{{query}}`. `ids` is `_id`, or `_source.` and the path of a field.

    With any of `documents`, `texts` and `first_pages` (and `last_pages`), fields written like that of the ids, its hits
    are passages of its own; `ids` may then be empty. A hit may lack its pages.
    """

    url: str
    index: str
    query: str = "match"
    fields: tuple[str, ...] = ("text",)
    body: str = ""
    ids: str = "_id"
    version: str = ""
    documents: str = ""
    texts: str = ""
    first_pages: str = ""
    last_pages: str = ""
    auth: Auth = field(default_factory=Auth)

    name: ClassVar[str] = "opensearch"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Raises BadParameters."""
        if "?" in self.url or "{" in self.url:
            raise BadParameters("Give the address of the cluster, such as https://search.example.org:9200.")
        templates.split_address(self.url)
        if not _INDEX.fullmatch(self.index) or self.index in {".", ".."}:
            raise BadParameters(f"“{self.index[:80]}” is not a valid name of an index or alias.")
        if self.query not in QUERIES:
            raise BadParameters(f"{self.query!r} is not a query type; choose one of {', '.join(QUERIES)}.")
        if self.query == "body":
            self._check_body()
        elif not self.fields or not all(_FIELD.fullmatch(name) for name in self.fields):
            raise BadParameters("Name the fields to search, such as text or title^2.")
        elif self.query == "match" and len(self.fields) > 1:
            raise BadParameters("A match query searches one field. Choose multi_match for several.")
        self.own.check(self.ids)
        if self.ids != "_id" and not (self.returns_passages and not self.ids) and not _is_field(self.ids):
            raise BadParameters("Ids are read from _id, or from a field written _source.name.")
        for label, path in self.own._asdict().items():
            if path and not _is_field(path):
                raise BadParameters(f"The {label.replace('_', ' ')} are read from a field written _source.name.")

    def _check_body(self) -> None:
        template = templates.parse_body(self.body)
        if not isinstance(template, dict):
            raise BadParameters("The body of a search must be a JSON object.")
        if "query" not in templates.places_in(template):
            raise BadParameters("{{query}} is missing, so every query would get the same answer.")

    @property
    def _paths(self) -> dict[str, str]:
        """The fields that are read, by what is there."""
        given = {"ids": self.ids, **self.own._asdict()}
        return {label: path for label, path in given.items() if path}

    @property
    def address(self) -> str:
        return templates.split_address(self.url)[0]

    def identity(self) -> Parameters:
        return {
            "engine": self.name,
            "revision": self.revision,
            "url": self.url.strip().rstrip("/"),
            "index": self.index,
            "query": self.query,
            "fields": [] if self.query == "body" else list(self.fields),
            "body": self.body if self.query == "body" else "",
            "ids": self.ids,
            "version": self.version,
            **{name: path for name, path in self.own._asdict().items() if path},
            "auth": self.auth.values(),
        }

    def request(self, query: RemoteQuery, k: int) -> Request:
        _, rest = templates.split_address(self.url.strip().rstrip("/"))
        body = json.dumps(self._body(query, k), ensure_ascii=False)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return Request("POST", f"{rest}/{self.index}/_search", headers, body.encode())

    def _body(self, query: RemoteQuery, k: int) -> dict[str, Any]:
        names = [".".join(map(str, _field(path))) for path in self._paths.values() if path != "_id"]
        source = list(dict.fromkeys(names)) or False
        if self.query == "body":
            values: dict[str, str | int] = {"query": query.text, "k": k, "query_id": query.query_id}
            custom = templates.filled(templates.parse_body(self.body), values)
            return {"size": k, "_source": source, **custom}
        if self.query == "match":
            clause: dict[str, Any] = {"match": {self.fields[0]: {"query": query.text}}}
        else:
            clause = {"multi_match": {"query": query.text, "fields": list(self.fields)}}
        return {"query": clause, "size": k, "_source": source}

    def read(self, reply: Reply) -> RemoteAnswer:
        if not 200 <= reply.status < 300:
            check_status(reply, error_type(reply))
        answer = parsed(reply)
        if isinstance(answer, dict) and answer.get("error"):
            kind = error_type(reply)
            raise RemoteError(f"The search engine answered with an error{f', {kind}' if kind else ''}.")
        try:
            items = http_json.column(HITS, answer)
            columns = {label: self._column(label, path, answer) for label, path in self._paths.items()}
        except http_json.NoSuchPlace as missing:
            raise RemoteError(str(missing)) from None
        scores = [item.get("_score") for item in items]
        is_scored = None not in scores  # a search with a custom sort order has no scores
        rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
        hits = [
            self.hit(row, checked_score(score, number) if is_scored else None, number)
            for number, (row, score) in enumerate(zip(rows, scores, strict=True), 1)
        ]
        return RemoteAnswer(hits, _incomplete(answer))

    def _column(self, label: str, path: str, answer: Any) -> list[Any]:
        """The values of a field. Of a document without pages the source has no such field."""
        steps: http_json.Path = ("_id",) if path == "_id" else ("_source", *_field(path))
        return http_json.column((*HITS, *steps), answer, is_optional=label in PAGES)


def _field(path: str) -> http_json.Path:
    """The steps below `_source`. Raises BadParameters."""
    return http_json.parse_path(path.removeprefix(SOURCE))


def _is_field(path: str) -> bool:
    return path.startswith(SOURCE) and all(isinstance(step, str) for step in _field(path))


def _incomplete(answer: dict[str, Any]) -> str:
    """Why results may be missing: a timeout or failed shards; "" when none are."""
    if answer.get("timed_out") is True:
        return "time ran out"
    shards = answer.get("_shards")
    failed = shards.get("failed") if isinstance(shards, dict) else 0
    if isinstance(failed, int) and failed > 0:
        return "shards failed"
    return ""


def error_type(reply: Reply) -> str:
    """The type of an error, and that of its root cause when it differs. Only types are read: they are fixed words of
    the server software, while other parts of a reply may contain anything.
    """
    try:
        error = parsed(reply).get("error")
        roots = error.get("root_cause") or [{}]
        types = [str(error.get("type", "")), str(roots[0].get("type", ""))]
    except (RemoteError, AttributeError, LookupError, TypeError):
        return ""
    return ": ".join(dict.fromkeys(name for name in types if _ERROR_TYPE.fullmatch(name)))
