"""Thousands of damaged files: what is taken from one is what a plain reader finds in it, or it is said or refused.

Each file is a small one of some dialect, damaged by chance but the same each time. The plain reader knows the dialect
and where its columns are, divides the file as Python's own modules do, and knows no names, rules or repairs.
"""

import csv
import html
import io
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from apps.common.errors import InputError, InputErrors
from apps.common.files.anytable import in_utf8
from apps.common.files.faults import ErrorList, all_of
from apps.common.files.tabular import TableFile
from apps.common.text.words import plain_words
from apps.judging.execution.judgement_import import read_draft
from apps.judging.execution.table_import import read_table
from apps.judging.formats.judgements import columns_of
from apps.judging.formats.recognition import TOOLS, recognise
from apps.metrics.files.labels.columns import LabelLayout
from apps.metrics.files.labels.labelling import labelling_of, read_labels, remarks_on
from apps.metrics.files.reading import load_qrels, load_run
from apps.queries.execution.table_import import read_query_table
from apps.queries.formats import TABLE, doubt_of, read_queries
from apps.queries.formats import recognise as recognise_queries
from apps.queries.selectors import names_in
from apps.retrieval.core import ranking
from apps.retrieval.execution.run_reading import draft_of_file
from apps.triples.execution.table_import import read_triple_table
from apps.triples.formats.reading import recognise as recognise_entries
from tests.corpus.factories import make_corpus, make_snapshot
from tests.factories import make_project
from tests.queries.factories import make_query
from tests.test_dialects import PASSAGES, QUERIES

pytestmark = pytest.mark.django_db

Row = tuple[str, ...]


class Dialect(NamedTuple):
    """How rows are written, and how the plain reader divides the file into such rows; None where it cannot."""

    name: str
    write: Callable[[Sequence[Row]], str]
    read: Callable[[str], list[Row] | None]


def lines_of(text: str) -> list[str]:
    text = text.replace("\r\n", "\n")
    return [line for line in (text if "\n" in text else text.replace("\r", "\n")).split("\n") if line.strip()]


def columns(form: str, takes: Sequence[int]) -> Dialect:
    """Lines of columns divided by blanks, of which some are taken."""
    width = len(form.split())

    def read(text: str) -> list[Row]:
        found = (
            re.split(r"[ \t\v\f]+", line.strip(" \t\v\f\r")) for line in lines_of(text) if not line.startswith("#")
        )
        return [
            tuple(cells[place] for place in takes) if len(cells) == width else ("?",) * len(takes) for cells in found
        ]

    return Dialect(form, lambda rows: "".join(form.format(*row) + "\n" for row in rows), read)


def table(
    headings: str,
    mark: str = ",",
    cells: Callable[[Row, int], Sequence[str]] = lambda row, n: row,
    takes: Sequence[int] = (0, 1, 2),
    quoting: int = csv.QUOTE_MINIMAL,
) -> Dialect:
    """Separated columns below their headings, or without any."""
    heading = headings.split("|") if headings else []

    def write(rows: Sequence[Row]) -> str:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=mark, lineterminator="\n", quoting=quoting)
        writer.writerows([heading] if heading else [])
        writer.writerows(cells(row, number) for number, row in enumerate(rows))
        return out.getvalue()

    def read(text: str) -> list[Row] | None:
        try:
            found = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
        except csv.Error:
            return None
        filled = [row for row in found if any(map(str.strip, row)) and not row[0].startswith(("# ", "sep="))]
        named = [len({*map(str.strip, row)} & {*heading} - {""}) for row in filled]
        rows = [row for place, row in enumerate(filled) if named[place] < (2 if place else 1)]
        return [tuple(row[place].strip() if place < len(row) else "" for place in takes) for row in rows]

    return Dialect(f"{headings} {mark}", write, read)


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def objects(fields: Sequence[str], *, is_lines: bool, kind: type = str) -> Dialect:
    """JSON objects in a list or a line each; the last field is of this kind."""

    def write(rows: Sequence[Row]) -> str:
        found = [dict(zip(fields, (*row[:-1], kind(row[-1])), strict=True)) for row in rows]
        return "".join(json.dumps(one) + "\n" for one in found) if is_lines else json.dumps(found, indent=1)

    def cells(one: Any) -> Row:
        if not isinstance(one, dict):
            return ("?",) * len(fields)
        values = list(one.values()) if len(one) == len(fields) else [one.get(field) for field in fields]
        return tuple(_text(one.get(field, value)) for field, value in zip(fields, values, strict=True))

    def read(text: str) -> list[Row] | None:
        found = list(map(_loaded, lines_of(text))) if is_lines else _loaded(text)
        return list(map(cells, found)) if isinstance(found, list) else None

    return Dialect(f"{','.join(fields)} {'JSONL' if is_lines else 'JSON'}", write, read)


def _loaded(text: str) -> Any:
    with suppress(ValueError):
        return json.loads(text)


def by_query() -> Dialect:
    def write(rows: Sequence[Row]) -> str:
        found: dict[str, dict[str, float]] = {}
        for query, passage, value in rows:
            found.setdefault(query, {})[passage] = float(value)
        return json.dumps(found)

    def read(text: str) -> list[Row] | None:
        found = []
        for line in [text] if _loaded(text) else lines_of(text):
            try:
                pairs = json.loads(line, object_pairs_hook=lambda pairs: pairs)
                found += [(query, passage, _text(value)) for query, of in pairs for passage, value in of]
            except (ValueError, TypeError):
                return None
        return found

    return Dialect("by query", write, read)


TOPIC = "<top><num>{}</num><title>{}</title></top>\n"


def topics(text: str) -> list[Row]:
    found = re.findall(r"<num>([^<]*)(?:</num\s*>)?\s*<title>([^<]*)(?:</\w+\s*>)?\s*</top>", text)
    return [(one, html.unescape(words)) for one, words in found]


ODD = [
    "", " ", "0", "1", "2", "3", "1.5", "1,5", "33", "-1", "+2", "1e0", "1_0", "٣", "²", "NaN", "nan", "None", "null",
    "N/A", "-", "TRUE", "true", "inf", "1,000", "2.0", "2,0", "02", "3 ", "0x1", "½", "Q11", "Q12", "q11", "Q011",
    "D101", "d101", "D0101", "Q 11", "D101;", '"D101"', "'D101", "=1+1", "#N/A", "D101\u00a0", "\u200bQ11", "Q11\ufeff",
    "D101\u00ad", "Ｑ11", "x" * 300, "query", "grade", "a\\tb", "{}", "[1]", "<b>3</b>", "2026-01-02",
]  # fmt: skip
SPLINTERS = [
    *"\0\r\n\t,;| \"'{}[]<>:#-.0123Qq=\\\v\f\x1c\x85\u2028\u00a0\u200b\ufeff\u00ad²",
    "\r\n", "\n\n", '""', "1e999", "//", "/*", "\x1a", "NaN", "null",
]  # fmt: skip
ABOVE = ["\ufeff", "sep=;\n", "# made in May\n", "\n\n", "My ratings\n", "\x1a", " ", "a,b\n"]
BELOW = ["\x1a", "\0", "Total,,7\n", "(3 rows)\n", "\n\n\n", "# end\n", ",,\n", "---\n"]
ENDINGS = ["\r\n", "\r", "\n\n", " \n", ",\n", ";\n", "\t\n"]
TOKEN = re.compile(r"[\w.\-]+")


def damaged(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice([0, 1, 1, 1, 1, 2, 2, 3])):
        text = chance.choice([_lines, _lines, _ends, _token, _token, _token, _letter, _letter])(text, chance)
    return text


def _lines(text: str, chance: random.Random) -> str:
    """A line removed, twice there, joined to the next one, or cut; or the file cut."""
    lines = text.split("\n")
    place = chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[place]
        case 1:
            lines.insert(chance.randrange(len(lines)), lines[place])
        case 2:
            lines[place : place + 2] = ["".join(lines[place : place + 2])]
        case 3:
            lines[place] = lines[place][: chance.randrange(len(lines[place]) + 1)]
        case _:
            return text[: chance.randrange(len(text) + 1)]
    return "\n".join(lines)


def _ends(text: str, chance: random.Random) -> str:
    """Something above it or below it, or other ends of all lines."""
    others = (chance.choice(ABOVE) + text, text + chance.choice(BELOW), text.replace("\n", chance.choice(ENDINGS)))
    return chance.choice(others)


def _token(text: str, chance: random.Random) -> str:
    """Another word or number in place of one."""
    tokens = list(TOKEN.finditer(text))
    if not tokens:
        return text
    one = chance.choice(tokens)
    new = chance.choice(ODD) if chance.random() < 0.7 else chance.choice(tokens)[0]
    return text[: one.start()] + new + text[one.end() :]


def _letter(text: str, chance: random.Random) -> str:
    """A letter more, or another one."""
    place = chance.randrange(len(text) + 1)
    return text[:place] + chance.choice(SPLINTERS) + text[place + chance.randrange(2) :]


_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)


def number(written: str) -> float | None:
    written = written.strip().strip("[]").replace(",", ".").replace("٣", "3")  # a list of one value is that value
    return float(written) if _NUMBER.fullmatch(written) else None


class Taken(NamedTuple):
    """What a reader would import, as rows like those of the plain reader, and all that it says of the file."""

    rows: Sequence[tuple[Any, ...]]
    said: Sequence[str] = ()


class Place(NamedTuple):
    project: Any
    snapshot: Any
    folder: Path

    @property
    def queries(self) -> dict[int, str]:
        return dict(self.project.queries.values_list("pk", "outside_id"))

    def source(self, data: bytes) -> TableFile:
        return in_utf8(TableFile("f", io.BytesIO(data)))

    def file(self, data: bytes) -> Path:
        (self.folder / "f").write_bytes(data)
        return self.folder / "f"


def said_of(view: Any) -> list[str]:
    """What the page of a table says. Raises InputError where it asks something first."""
    if view.refusals or view.readings:
        raise InputError("f", None, "", "", "; ".join(view.refusals))
    return [f"{message.state} {message.title}" for message in view.messages]


def take_judgements(place: Place, data: bytes) -> Taken:
    project, snapshot, source = place.project, place.snapshot, place.source(data)
    form, queries = recognise(source), place.queries
    if form in {"table", *TOOLS}:
        found = read_table(source, project=project, snapshot=snapshot, options={}, format=form)
        draft, said = found.draft, said_of(found.view)
        queries |= {-place: words for place, (_, words) in enumerate(found.new_queries, 1)}
    else:
        draft = read_draft(source, project=project, snapshot=snapshot, format=form, columns=columns_of(form, ""))
        if draft.errors:
            raise all_of(draft.errors)
        said = [str(warning) for warning in draft.errors.warnings]
    versions = dict(snapshot.entries.values_list("version_id", "block__outside_id"))
    return Taken([(queries[row.query_id], versions[row.version_id], row.grade) for row in draft.rows], said)


def take_queries(place: Place, data: bytes) -> Taken:
    source, errors = place.source(data), ErrorList()
    form = recognise_queries(source)
    if doubt_of(source, form):
        raise InputError("f", None, "", "", "asked")
    if form == TABLE:
        found = read_query_table(source, project=place.project, options={})
        said = said_of(found.view)
        if found.doubled:
            raise InputErrors(list(found.doubled))
        rows = found.rows
    else:
        rows = list(read_queries(source, errors, format=form, names=names_in(place.project), is_guessed=True))
        if errors:
            raise all_of(errors)
        said = [str(warning) for warning in errors.warnings]
    return Taken([(row.query_id, row.text) for row in rows], said)


def take_entries(place: Place, data: bytes) -> Taken:
    source = place.source(data)
    if recognise_entries(source) != TABLE:
        raise InputError("f", None, "", "", "not compared here")
    found = read_triple_table(source, project=place.project, snapshot=place.snapshot, options={})
    said = said_of(found.view)
    rows = [(one.entry.question, one.entry.blocks[0].block_id, one.entry.expected_answer) for one in found.rows]
    return Taken(rows, said)


def take_qrels(place: Place, data: bytes) -> Taken:
    judged = load_qrels(place.file(data))
    rows = zip(judged.query.tolist(), judged.block.tolist(), judged.grade.tolist(), strict=True)
    return Taken(
        [(judged.queries[query], judged.ids[block].decode(), grade) for query, block, grade in rows], judged.remarks
    )


def take_run(place: Place, data: bytes) -> Taken:
    (place.folder / "qrels").write_text("".join(f"{query} 0 D101 1\n" for query in QUERIES))
    judged = load_qrels(place.folder / "qrels")
    found = load_run(place.file(data), judged)
    rows = zip(*(column.tolist() for column in found.ranked[:3]), strict=True)
    said = [*found.unjudged, *found.fits, *(["reordered"] if found.reordered else [])]
    return Taken([(judged.queries[query], found.ids[block].decode(), score) for query, block, score in rows], said)


def take_run_of_system(place: Place, data: bytes) -> Taken:
    draft = draft_of_file(place.file(data), project=place.project, snapshot=place.snapshot)
    if draft.errors:
        raise all_of(draft.errors)
    blocks = dict(place.snapshot.entries.values_list("position", "block__outside_id"))
    rows = []
    for one in draft.rankings:
        found = zip(*(column.tolist() for column in ranking.unpack(one.packed)), strict=True)
        rows += [(one.outside_id, blocks[position], score) for position, score in found]
    return Taken(rows, ["reordered"] if draft.reordered else [])


def take_labels(place: Place, data: bytes) -> Taken:
    errors, layout = ErrorList(), LabelLayout()
    _, labels = read_labels(place.file(data), layout, errors)
    found = labelling_of("f", labels, errors, layout)
    if errors or found is None:
        raise all_of(errors)
    rows = [
        (found.items[item], found.annotators[who], found.categories[place])
        for item, row in enumerate(found.rated.tolist())
        for who, place in enumerate(row)
        if place >= 0
    ]
    return Taken(rows, remarks_on(found))


def _query(written: str) -> str:
    words = {plain_words(text): one for one, text in QUERIES.items()}
    return written if written in QUERIES else words.get(plain_words(written), written)


class Kind(NamedTuple):
    """One door: its dialects, the value that a row has there, how it is read, and what a row means."""

    dialects: Sequence[Dialect]
    value: Callable[[random.Random, int], str]
    take: Callable[[Place, bytes], Taken]
    meant: Callable[[Row], tuple[Any, Any]]
    """The name of what a row is about, and its value, None for none."""


def graded(row: Row) -> tuple[Any, Any]:
    return (_query(row[0].strip()), row[1].strip()), number(row[2])


def scored(row: Row) -> tuple[Any, Any]:
    value = number(row[2])
    return graded(row)[0], -value if row[3:] and value is not None else value


def asked(row: Row) -> tuple[Any, Any]:
    return row[0].strip(), " ".join(row[1].split()) or None


GRADES = [
    columns("{} 0 {} {}", (0, 2, 3)),
    columns("{}\t0\t{}\t{}", (0, 2, 3)),
    table("query-id|corpus-id|score", "\t"),
    table("query_id|doc_id|grade"),
    table("query_id|block_id|grade"),
    table("Query ID|Doc ID|Bewertung", ";", lambda row, n: [*row[:2], row[2].replace(".", ",")]),
    table("|qid|docno|label|comment", ",", lambda row, n: [str(n), *row, "fine, so"], (1, 2, 3)),
    table("label|docid|qid", "|", lambda row, n: row[::-1], (2, 1, 0), csv.QUOTE_ALL),
    table("query|url|grade", ",", lambda row, n: [QUERIES[row[0]], *row[1:]]),
    objects(["qid", "docid", "judgment"], is_lines=False, kind=float),
    objects(["query_id", "doc_id", "grade"], is_lines=True),
    objects(["query_id", "block_id", "grade"], is_lines=True, kind=float),
    by_query(),
]
RUNS = [
    columns("{} Q0 {} 1 {} x", (0, 2, 4)),
    columns("{}\tQ0\t{}\t1\t{}\tx", (0, 2, 4)),
    table("query|passage|score"),
    table("query|passage|score", ";", lambda row, n: [*row[:2], row[2].replace(".", ",")]),
    table("|qid|docno|score|query", ",", lambda row, n: [f"{n}", *row, "x"], (1, 2, 3)),
    objects(["qid", "docno", "score"], is_lines=False, kind=float),
    objects(["query_id", "doc_id", "score"], is_lines=True, kind=float),
    by_query(),
]
ASKED = [
    table("", "\t", takes=(0, 1)),
    table("", ";", takes=(0, 1)),
    table("qid|query", ",", takes=(0, 1)),
    table("query_id|text", ",", takes=(0, 1)),
    table("|Query Text|id|n", "\t", lambda row, n: [f"{n}", row[1], row[0], "4"], (2, 1)),
    objects(["question_id", "question"], is_lines=False),
    objects(["query_id", "text"], is_lines=True),
    objects(["_id", "text"], is_lines=True),
    objects(["qid", "query"], is_lines=True),
    Dialect("topics", lambda rows: "".join(TOPIC.format(one, html.escape(text)) for one, text in rows), topics),
]
LABELS = [
    table("item|annotator|label"),
    table("item|annotator|label", ";", lambda row, n: [*row[:2], row[2].replace(".", ",")]),
    table("label|item_id|rater", "\t", lambda row, n: [row[2], *row[:2]], (1, 2, 0)),
]
ENTRIES = [
    table("Question|Passage|Answer"),
    table("question|doc_id|expected_answer|n", "\t", lambda row, n: [*row, "4"]),
    objects(["question", "passage", "answer"], is_lines=True),
    objects(["question", "page", "reference"], is_lines=False),
]
WORDS = [
    "are wombats awake",
    "which sonar is best",
    "otter food, raw",
    "why do cats purr",
    "on & on",
    "price in crowns",
]
KINDS = {
    "judgements": Kind(GRADES, lambda chance, n: f"{chance.randrange(4)}", take_judgements, graded),
    "qrels": Kind(GRADES[:5], lambda chance, n: f"{chance.randrange(4)}", take_qrels, graded),
    "runs": Kind(RUNS, lambda chance, n: f"{20.5 - n}", take_run, scored),
    "runs of systems": Kind(RUNS, lambda chance, n: f"{20.5 - n}", take_run_of_system, scored),
    "queries": Kind(ASKED, lambda chance, n: WORDS[n % len(WORDS)], take_queries, asked),
    "labels": Kind(
        LABELS,
        lambda chance, n: f"{chance.randrange(4)}.0",
        take_labels,
        lambda row: ((row[0], row[1]), number(row[2])),
    ),
    "Q&As": Kind(
        ENTRIES,
        lambda chance, n: f"answer {n}",
        take_entries,
        lambda row: ((row[0].strip(), row[1].strip()), row[2].strip()),
    ),
}


def written(kind: str, seed: int) -> tuple[Dialect, bytes]:
    """A damaged file."""
    chance = random.Random(f"{kind} {seed}")
    dialect = chance.choice(KINDS[kind].dialects)
    firsts = list(QUERIES) if kind != "Q&As" else WORDS
    pairs = chance.sample([(one, other) for one in firsts for other in PASSAGES], chance.randrange(2, 9))
    value = KINDS[kind].value
    if kind == "queries":
        rows = [(f"K{number}", value(chance, number)) for number in range(chance.randrange(2, 7))]
    else:
        point = chance.choice(["", ".0"]) if kind in {"judgements", "qrels"} else ""
        rows = [(*pair, f"{value(chance, place)}{point}") for place, pair in enumerate(pairs)]
    text = damaged(dialect.write(rows), chance)
    return dialect, text.encode(chance.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"]), errors="surrogatepass")


def fault_of(kind: str, dialect: Dialect, data: bytes, place: Place) -> str:
    """What is wrong with what the door takes of the file; "" for nothing."""
    try:
        taken = KINDS[kind].take(place, data)
    except (InputError, InputErrors):
        return ""
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace").removeprefix(
        "\ufeff"
    )
    rows = dialect.read(text)
    if rows is None:
        is_said = not taken.rows or any(one.startswith("warn") for one in taken.said)
        return "" if is_said else f"taken of what cannot be read: {taken}"
    meant: dict[Any, list[Any]] = {}
    for name, value in map(KINDS[kind].meant, rows):
        meant.setdefault(name, []).append(value)
    names = set()
    for row in taken.rows:
        name, value = KINDS[kind].meant((*map(str, row),))
        names.add(name)
        of = meant.get(name, [])
        if kind == "queries" and re.fullmatch("Q0[0-9]+", name) and (taken.said or len(lines_of(text)) == 1):
            of = [value for values in meant.values() for value in values] + [
                text.strip()
            ]  # it got an id, and that is said
        is_word = of == [None] and any("scale" in one for one in taken.said)
        if any("--no-heading" in one for one in taken.said):
            return ""  # all may be misread, which is what it says
        if value not in of and not is_word:
            return f"taken {name} {value}, meant {of}: {taken.said}"
    lost = [name for name, values in meant.items() if name not in names and values != [None] and any(name)]
    return f"lost in silence: {lost}" if lost and not taken.said else ""


@pytest.fixture
def place(tmp_path) -> Place:
    project = make_project()
    for outside_id, text in QUERIES.items():
        make_query(project, outside_id=outside_id, text=text)
    return Place(project, make_snapshot(corpus=make_corpus(project, PASSAGES)), tmp_path)


def faults_in(kind: str, seeds: Iterable[int], place: Place) -> Iterator[str]:
    for seed in seeds:
        dialect, data = written(kind, seed)
        try:
            fault = fault_of(kind, dialect, data, place)
        except Exception as error:
            error.add_note(f"{dialect.name}, seed {seed}: {data!r}")
            raise
        if fault:
            yield f"{dialect.name}, seed {seed}: {fault}\n{data!r}"


FEW, MANY = 50, 1_430


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_gives_no_wrong_value_in_silence(place, kind):
    assert list(faults_in(kind, range(FEW), place)) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_none_of_ten_thousand_damaged_files_gives_a_wrong_value_in_silence(place, kind):
    assert list(faults_in(kind, range(FEW, FEW + MANY), place)) == []
