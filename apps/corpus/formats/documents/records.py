"""Texts in any encoding, and records with named fields: which field is the id, the text, the title.

The rule, which the reference page states: fields are what a person says, else found by their names. Records with an
id are passages with that id. Records without one are documents, which the recipe cuts; they are named by their address,
else their title, else their text. All other fields become metadata.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from apps.common.files.faults import ErrorList, fault
from apps.common.files.filekinds import encoding_of, name_of
from apps.corpus.core.documents import Document, TableColumns
from apps.corpus.core.import_plans import SKIP, ColumnRole, plain_heading
from apps.corpus.formats.documents import Found, SourceFile, Unreadable
from apps.corpus.formats.documents.html_markdown import markdown_of, soup_of
from apps.corpus.formats.documents.recognition import HEAD_BYTES, NOT_TEXT, content_of
from apps.corpus.formats.rows import BlockRow

MOST_BYTES = 20_000_000
"""Of one text file. A longer one is data, not something that people read."""
LINE_LETTERS = 5_000_000
CERTAIN = frozenset({"utf-8", "utf-16"})


class DecodedText(NamedTuple):
    """A text and, when its encoding had to be guessed, a note of it."""

    text: str
    note: str = ""


def text_of(file: SourceFile, declared: str = "") -> DecodedText:
    """The whole text of a file: by its byte order mark, else UTF-8, else as it is declared, else a guess.

    Raises Unreadable for what is empty, too large or no text.
    """
    if file.size > MOST_BYTES:
        raise Unreadable(f"text of more than {MOST_BYTES // 1_000_000} MB")
    raw = file.stream.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise Unreadable(f"text of more than {MOST_BYTES // 1_000_000} MB")
    decoded = _decoded(raw, declared)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise Unreadable(content_of(raw[:HEAD_BYTES]) or NOT_TEXT)
    if not text.strip():
        raise Unreadable("empty file")
    if len(text) > LINE_LETTERS and max(map(len, text.split("\n"))) > LINE_LETTERS:
        raise Unreadable(f"line of more than {LINE_LETTERS // 1_000_000} million letters")
    return DecodedText(text, decoded.note)


def _decoded(raw: bytes, declared: str) -> DecodedText:
    encoding = encoding_of([raw])
    is_certain = encoding in CERTAIN
    try:
        text = raw.decode(encoding if is_certain or not declared else declared).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError):
        raise Unreadable("text of unknown encoding") from None
    return DecodedText(text, "" if is_certain or declared else f"read as {name_of(encoding)}, which is a guess")


Record = tuple[int, Mapping[str, Any]]
"""Line or number of the record, and its fields."""
NAMES = {
    "id": (
        "block_id", "_id", "id", "doc_id", "docid", "docno", "passage_id", "pid", "identifier", "key", "uuid", "sku",
    ),
    "document": ("document_id", "document", "parent_id"),
    "title": (
        "title", "doc_title", "document_title", "passage_title", "name", "heading", "headline", "subject", "question",
    ),
    "section": ("section", "section_path", "breadcrumb", "breadcrumbs"),
    "text": (
        "text", "contents", "content", "body", "passage", "segment", "article", "description", "abstract", "answer",
        "html", "body_html", "markdown",
    ),
    "address": ("url", "uri", "link", "href", "address", "permalink", "source_url", "webpage"),
}  # fmt: skip
"""The names by which the field of each role is found, the first that is there."""
ROLE_WORDS = {
    "id": "Id", "document": "Document", "title": "Title", "section": "Section", "text": "Text", "address": "Address",
    SKIP: "Metadata",
}  # fmt: skip
SAID = tuple(ROLE_WORDS)
"""What a person can say that a column is."""
HEADINGS = ColumnRole("field", "Field", tuple(map(plain_heading, chain(*NAMES.values()))))
"""All names by which fields are found."""
SAMPLE = 50
SHOWN_ROWS = 3
SHOWN_CELL = 160
LEAST_LETTERS = 20
"""The average length from which a field without a known name may be the text."""
RIVAL = 3
"""Of such fields, one with more than this part of the longest one's length may be meant as well."""
MOST_ID = 200
NO_TEXT = "table without a column of text"
_HTML = re.compile(r"\s*<(p|div|h[1-6]|ul|ol|table|html|body|section|article|span|!doctype)\b", re.IGNORECASE)


class Roles(NamedTuple):
    """The names of the fields of a file by what they are; "" for what it does not have."""

    id: str
    document: str
    title: str
    section: str
    text: str
    address: str


def read_records(
    source: SourceFile, kind: str, names: Sequence[str], records: Iterable[Record], errors: ErrorList
) -> Iterator[Found]:
    """What each field was taken for, then the passages or documents of a file.

    `names` are its fields; where there are none, those of the first records. Where it is not sure which of them is the
    text, nothing follows.

    Records that are wrong are added to `errors`. Raises Unreadable when no field is the text.
    """
    records = iter(records)
    sample = list(islice(records, SAMPLE))
    names = names or list(dict.fromkeys(name for _, record in sample for name in record))
    roles, rivals = roles_of(names, sample, source.columns)
    rows = [[_shown(record.get(name)) for name in names] for _, record in sample[:SHOWN_ROWS]]
    yield TableColumns(source.path, names, roles._asdict(), rows, rivals)
    if rivals:
        return
    found = chain(sample, records)
    yield from _passages(source, roles, found, errors) if roles.id else _documents(source, kind, roles, found)


def roles_of(names: Sequence[str], sample: Sequence[Record], said: Mapping[str, str]) -> tuple[Roles, list[str]]:
    """Which field is what, as it was `said` or else by its name, and other fields that may be the text as well.

    Without a known name, the text is the field that is longest on average. Raises Unreadable when there is none.
    """
    chosen = {role: name for name, role in said.items() if name in names}
    known = {_plain(name): name for name in reversed(names) if name not in said}

    def named(role: str) -> str:
        return chosen.get(role) or next((known[name] for name in NAMES[role] if name in known), "")

    found = {role: named(role) for role in NAMES}
    if found["text"]:
        return Roles(**found), []
    left = [name for name in names if name not in found.values() and name not in said]
    lengths = {name: sum(len(_text(record.get(name))) for _, record in sample) / max(1, len(sample)) for name in left}
    longest, *rest = sorted(
        (name for name in left if lengths[name] >= LEAST_LETTERS), key=lambda name: -lengths[name]
    ) or [""]
    if not longest:
        raise Unreadable(NO_TEXT)
    return Roles(**{**found, "text": longest}), [name for name in rest if lengths[name] * RIVAL > lengths[longest]]


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _shown(value: Any) -> str:
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= SHOWN_CELL else f"{text[:SHOWN_CELL].rstrip()}…"


def _passages(source: SourceFile, roles: Roles, records: Iterable[Record], errors: ErrorList) -> Iterator[BlockRow]:
    used = set(roles) - {roles.address}
    for line, record in records:
        name = outside_id(record.get(roles.id))
        if not name or not isinstance(record.get(roles.text) or "", str):
            field, message = (roles.text, "must be text") if name else (roles.id, "is empty")
            errors.add(fault(source.path, line, field, record.get(field), message))
            continue
        yield BlockRow(
            line=line,
            block_id=name,
            document_id=outside_id(record.get(roles.document)) or name,
            title=_words(record.get(roles.title)),
            text=record.get(roles.text) or "",
            section_path=_path(record.get(roles.section)),
            metadata=_others(record, used),
        )


def _path(value: Any) -> tuple[str, ...]:
    """The headings above a passage: a list of them, or one text that ` > ` divides."""
    parts = value if isinstance(value, list) else _text(value).split(" > ")
    return tuple(words for part in parts if (words := _words(part)))


def outside_id(value: Any) -> str:
    """A value as an id: blanks are written as addresses write them. "" for what is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    text = "".join(_escaped(letter) for letter in text)
    return text if len(text) <= MOST_ID else f"{text[: MOST_ID - 9]}~{_digest(text)}"


def _escaped(letter: str) -> str:
    if letter.isspace() or not letter.isprintable():
        return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "surrogatepass"))
    return letter


def _documents(source: SourceFile, kind: str, roles: Roles, records: Iterable[Record]) -> Iterator[Document]:
    used, taken = set(roles) - {roles.address, roles.section}, Counter[str]()
    for _, record in records:
        text = _in_markdown(_text(record.get(roles.text)))
        if not text.strip():
            continue
        title = _words(record.get(roles.title))
        name = re.sub(r"^https?://", "", _words(record.get(roles.address))) or title or _digest(text)
        yield Document(
            path=f"{source.path}/{_untaken(name, text, taken)}",
            kind=kind,
            title=title,
            text=text,
            metadata=_others(record, used),
        )


def _untaken(name: str, text: str, taken: Counter[str]) -> str:
    """The name; when it is taken with a digest of the text, when that is taken too with a number."""
    taken[name] += 1
    if taken[name] == 1:
        return name
    longer = f"{name}~{_digest(text)}"
    taken[longer] += 1
    return longer if taken[longer] == 1 else f"{longer}~{taken[longer]}"


def _in_markdown(text: str) -> str:
    return markdown_of(soup_of(text)) if _HTML.match(text) else text


def _words(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _others(record: Mapping[str, Any], used: set[str]) -> dict[str, Any]:
    """The fields that are left, without empty ones. `metadata.x` is x, an object called `metadata` its own roles."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        if name in used or value in ("", None):
            continue
        if name == "metadata" and isinstance(value, dict):
            found |= value
        else:
            found[name.removeprefix("metadata.")] = value
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
