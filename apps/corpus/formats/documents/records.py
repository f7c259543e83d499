"""Texts in any encoding, and records with named fields: which field is the id, the text, the title.

The rule, which the reference page states: fields are found by their names. Records with an id are passages with that
id. Records without one are documents, which the recipe cuts; they are named by their address, else their title, else
their text. All other fields become metadata.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from apps.common.files.faults import ErrorList, fault
from apps.common.files.filekinds import encoding_of, name_of
from apps.corpus.core.documents import Document, ReadingNote
from apps.corpus.core.import_plans import ColumnRole, plain_heading
from apps.corpus.formats.documents import SourceFile, Unreadable
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
IDS = ("block_id", "_id", "id", "doc_id", "docid", "docno", "passage_id", "pid", "identifier", "key", "uuid", "sku")
DOCUMENTS = ("document_id", "document", "parent_id")
TEXTS = (
    "text", "contents", "content", "body", "passage", "segment", "article", "description", "abstract", "answer",
    "html", "body_html", "markdown",
)  # fmt: skip
TITLES = ("title", "doc_title", "document_title", "passage_title", "name", "heading", "headline", "subject", "question")
ADDRESSES = ("url", "uri", "link", "href", "address", "permalink", "source_url", "webpage")
HEADINGS = ColumnRole("field", "Field", tuple(map(plain_heading, (*IDS, *DOCUMENTS, *TEXTS, *TITLES, *ADDRESSES))))
"""All names by which fields are found."""
SAMPLE = 50
LEAST_LETTERS = 20
"""The average length from which a field without a known name may be the text."""
MOST_ID = 200
NO_TEXT = "table without a column of text"
_HTML = re.compile(r"\s*<(p|div|h[1-6]|ul|ol|table|html|body|section|article|span|!doctype)\b", re.IGNORECASE)


class Roles(NamedTuple):
    """The names of the fields of a file by what they are; "" for what it does not have."""

    text: str
    id: str = ""
    document: str = ""
    title: str = ""
    address: str = ""

    def __str__(self) -> str:
        """In words, for the notes of an import."""
        parts = [f"text from {self.text}"]
        parts += [f"{what} from {name}" for what, name in (("id", self.id), ("title", self.title)) if name]
        return ", ".join(parts)


def read_records(
    source: SourceFile, kind: str, names: Sequence[str], records: Iterable[Record], errors: ErrorList
) -> Iterator[Document | BlockRow | ReadingNote]:
    """A note of what each field was taken for, then the passages or documents of a file.

    `names` are its fields; where there are none, those of the first records.

    Records that are wrong are added to `errors`. Raises Unreadable when no field is the text.
    """
    records = iter(records)
    sample = list(islice(records, SAMPLE))
    roles = roles_of(names or list(dict.fromkeys(name for _, record in sample for name in record)), sample)
    yield ReadingNote(f"read as records, {roles}")
    found = chain(sample, records)
    yield from _passages(source, roles, found, errors) if roles.id else _documents(source, kind, roles, found)


def roles_of(names: Sequence[str], sample: Sequence[Record]) -> Roles:
    """Which field is what. Without a known name, the text is the field that is longest on average."""
    known = {_plain(name): name for name in reversed(names)}

    def first(wanted: Sequence[str]) -> str:
        return next((known[name] for name in wanted if name in known), "")

    found = {"id": first(IDS), "document": first(DOCUMENTS), "title": first(TITLES), "address": first(ADDRESSES)}
    text = first(TEXTS) or _longest([name for name in names if name not in found.values()], sample)
    if not text:
        raise Unreadable(NO_TEXT)
    return Roles(text, **found)


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


def _longest(names: Sequence[str], sample: Sequence[Record]) -> str:
    lengths = {
        name: sum(len(value) for _, record in sample if isinstance(value := record.get(name), str)) / len(sample)
        for name in names
        if sample
    }
    best = max(lengths, key=lambda name: lengths[name], default="")
    return best if best and lengths[best] >= LEAST_LETTERS else ""


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
            metadata=_others(record, used),
        )


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
    used, taken = set(roles) - {roles.address}, Counter[str]()
    for _, record in records:
        text = _words_of_text(record.get(roles.text))
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


def _words_of_text(value: Any) -> str:
    text = value if isinstance(value, str) else ""
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
