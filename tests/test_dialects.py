"""Any table of queries, judgements or runs, in any dialect: the same values, or a refusal by name."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from apps.common.errors import InputError, InputErrors
from apps.common.files.anytable import in_utf8
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.judging.execution.judgement_import import read_draft
from apps.judging.execution.table_import import read_table
from apps.judging.formats.judgements import columns_of
from apps.judging.formats.recognition import TOOLS, recognise
from apps.metrics.files.reading import load_qrels, load_run
from apps.queries.execution.table_import import read_query_table
from apps.queries.formats import TABLE, read_queries
from apps.queries.formats import recognise as recognise_queries
from apps.queries.selectors import names_in
from apps.triples.execution.table_import import read_triple_table
from apps.triples.formats import read_entries
from apps.triples.formats.reading import recognise as recognise_entries
from tests.common.workbooks import workbook
from tests.corpus.factories import make_corpus, make_snapshot
from tests.factories import make_project
from tests.judging.archives import parquet_of
from tests.queries.factories import make_query
from tests.walks import often

pytestmark = pytest.mark.django_db

WORDS = [
    "do wombats glow",
    "price of a permit, in crowns",
    "what is sonar?",
    "otter food; raw",
    "feeding cobras",
    "on & off",
]
QUERIES = {f"Q{number}": words for number, words in enumerate(WORDS, start=11)}
PASSAGES = {f"D{number}": f"Passage number {number} says little." for number in range(101, 107)}
SEPARATORS = [",", ";", "\t", "|"]
QUERY_IDS = ["query_id", "qid", "query-id", "Query ID", "topic_id"]
PASSAGE_IDS = ["doc_id", "docid", "docno", "corpus-id", "passage_id", "block_id", "Doc ID"]
GRADES = ["grade", "rating", "relevance", "score", "rel", "judgment", "Label"]
SPELLINGS: list[Callable[[int], str]] = [str, "{}.0".format, "{:.3f}".format, "+{}".format]
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
Pairs = Mapping[tuple[str, str], int]


def separated(rows: Sequence[Sequence[str]], mark: str, quoting: int = csv.QUOTE_MINIMAL, ending: str = "\n") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=mark, quoting=quoting, lineterminator=ending).writerows(rows)
    return out.getvalue()


@st.composite
def tables(draw, columns: Sequence[tuple[Sequence[str], Callable]], rows: Sequence):
    """The rows as separated text, with the columns in any order, under any of their names, beside another column."""
    chosen = [(draw(st.sampled_from(names)), cell) for names, cell in columns]
    chosen += draw(st.sampled_from([[], [("lead time", lambda row: "4.2")], [("", lambda row: str(rows.index(row)))]]))
    chosen = draw(st.permutations(chosen))
    heading = [name for name, _ in chosen]
    body = [[cell(row) for _, cell in chosen] for row in rows]
    mark, quoting = draw(st.sampled_from(SEPARATORS)), draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    return draw(st.sampled_from(["", "\ufeff"])) + separated(
        [heading, *body], mark, quoting, draw(st.sampled_from(["\n", "\r\n"]))
    )


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-8 with its mark": lambda text: text.removeprefix("\ufeff").encode("utf-8-sig"),
    "UTF-16": lambda text: text.removeprefix("\ufeff").encode("utf-16"),
    "gzip": lambda text: gzip.compress(text.encode(), mtime=0),
}
ENCODED = st.sampled_from(sorted(ENCODINGS))


def file_of(text: str, encoding: str) -> TableFile:
    return in_utf8(TableFile("file", io.BytesIO(ENCODINGS[encoding](text))))


PAIRS = st.dictionaries(
    st.tuples(st.sampled_from(sorted(QUERIES)), st.sampled_from(sorted(PASSAGES))), st.integers(0, 3), min_size=2
)


@st.composite
def judgements(draw) -> tuple[Pairs, str]:
    pairs = draw(PAIRS)
    spelt = draw(st.sampled_from(SPELLINGS))
    rows = [(query, passage, spelt(grade)) for (query, passage), grade in pairs.items()]
    by_query: dict[str, dict[str, int]] = {}
    for (query, passage), grade in pairs.items():
        by_query.setdefault(query, {})[passage] = grade
    fields = draw(st.tuples(*map(st.sampled_from, (["qid", "query_id"], ["docid", "doc_id"], ["grade", "judgment"]))))
    objects = [dict(zip(fields, (query, passage, pairs[query, passage]), strict=True)) for query, passage, _ in rows]
    forms = [
        st.just("".join(f"{query} 0 {passage} {grade}\n" for query, passage, grade in rows)),
        tables(
            [(QUERY_IDS, lambda row: row[0]), (PASSAGE_IDS, lambda row: row[1]), (GRADES, lambda row: row[2])], rows
        ),
        tables(
            [(["query"], lambda row: QUERIES[row[0]]), (PASSAGE_IDS, lambda row: row[1]), (GRADES, lambda row: row[2])],
            rows,
        ),
        st.just(json.dumps(objects, indent=draw(st.sampled_from([None, 1])))),
        st.just("".join(f"{json.dumps(one)}\n" for one in objects)),
        st.just(json.dumps(by_query)),
        st.just(
            json.dumps(
                {
                    "requests": [
                        {
                            "id": query,
                            "ratings": [{"_index": "x", "_id": one, "rating": grade} for one, grade in of.items()],
                        }
                        for query, of in by_query.items()
                    ]
                }
            )
        ),
        st.just(
            json.dumps(
                [
                    {
                        "query": QUERIES[query],
                        "ratings": [{"docId": one, "rating": f"{grade}.0"} for one, grade in of.items()],
                    }
                    for query, of in by_query.items()
                ]
            )
        ),
    ]
    return pairs, draw(st.one_of(forms))


@pytest.fixture
def place():
    project = make_project()
    for outside_id, text in QUERIES.items():
        make_query(project, outside_id=outside_id, text=text)
    return project, make_snapshot(corpus=make_corpus(project, PASSAGES))


@given(made=judgements(), encoding=ENCODED)
@settings(max_examples=often(60, 400), suppress_health_check=QUIET)
def test_judgements_of_any_dialect_keep_their_values(place, made, encoding):
    pairs, text = made
    check_judgements(*place, file_of(text, encoding), pairs)


def check_judgements(project, snapshot, source: TableFile, pairs: Pairs) -> None:
    """What is read without a mistake or a question is what was written."""
    keys = dict(project.queries.values_list("outside_id", "pk"))
    versions = dict(snapshot.entries.values_list("block__outside_id", "version_id"))
    try:
        form = recognise(source)
        if form in {"table", *TOOLS}:
            table = read_table(source, project=project, snapshot=snapshot, options={}, format=form)
            assume(not table.view.refusals)
            draft = table.draft
        else:
            draft = read_draft(source, project=project, snapshot=snapshot, format=form, columns=columns_of(form, ""))
    except InputError:
        return
    if not draft.errors:
        found = {(row.query_id, row.version_id): row.grade for row in draft.rows}
        assert found == {(keys[query], versions[passage]): grade for (query, passage), grade in pairs.items()}


@given(pairs=PAIRS, kind=st.sampled_from([str, int, float]), in_words=st.booleans())
@settings(max_examples=often(30, 200), suppress_health_check=QUIET)
def test_workbooks_and_parquet_keep_their_values(place, pairs, kind, in_words):
    rows = [
        {"query" if in_words else "qid": QUERIES[query] if in_words else query, "docno": passage, "label": kind(grade)}
        for (query, passage), grade in pairs.items()
    ]
    for data in (workbook({"Grades": [list(rows[0]), *(list(row.values()) for row in rows)]}), parquet_of(rows)):
        check_judgements(*place, TableFile("file", io.BytesIO(data)), pairs)


@given(made=judgements(), encoding=ENCODED)
@settings(max_examples=often(60, 400), suppress_health_check=QUIET)
def test_the_score_command_reads_judgements_of_any_dialect_or_refuses_them(tmp_path, made, encoding):
    pairs, text = made
    (tmp_path / "judgements").write_bytes(ENCODINGS[encoding](text))
    try:
        judged = load_qrels(tmp_path / "judgements")
    except (InputError, InputErrors):
        return
    rows = zip(judged.query.tolist(), judged.block.tolist(), judged.grade.tolist(), strict=True)
    found = {(judged.queries[query], judged.ids[block].decode()): grade for query, block, grade in rows}
    by_words = {(QUERIES[query], passage): grade for (query, passage), grade in pairs.items()}
    assert found in (pairs, by_words), text


@st.composite
def queries(draw) -> tuple[list[tuple[str, str]], str]:
    ids = draw(st.sampled_from([["7", "12", "345", "9001"], ["K1", "K2", "K3", "K4"], ["t-1", "t-2", "t-3", "t-4"]]))
    texts = draw(
        st.permutations(["do wombats glow at night", "what is sonar used for", "otter food, raw", "why do cats purr"])
    )
    rows = list(zip(ids, texts, strict=True))[: draw(st.integers(2, 4))]
    mark = draw(st.sampled_from(["\t", ",", ";"]))
    tag, number = draw(st.sampled_from([("top", "num"), ("topic", "number"), ("DOC", "DOCNO")]))
    inside = {"top": "title", "topic": "query", "DOC": "text"}[tag]
    forms = [
        st.just(separated(rows, mark)),
        tables(
            [([*QUERY_IDS, "id"], lambda row: row[0]), (["query", "Query Text", "question"], lambda row: row[1])], rows
        ),
        st.just(json.dumps([{"question_id": one, "question": text, "n": 3} for one, text in rows])),
        st.just("".join(f"{json.dumps({'qid': one, 'query': text})}\n" for one, text in rows)),
        st.just(
            "".join(f"<{tag}><{number}>{one}</{number}><{inside}>{text}</{inside}></{tag}>\n" for one, text in rows)
        ),
        st.just(
            "<?xml version='1.0'?>\n<topics>\n"
            + "".join(f"<topic number='{one}'>\n<title>\n{text}\n</title>\n</topic>\n" for one, text in rows)
            + "</topics>"
        ),
        st.just("".join(f"<top>\n<num> Number: {one}\n<title> {text}\n\n</top>\n" for one, text in rows)),
    ]
    return rows, draw(st.one_of(forms))


@given(made=queries(), encoding=ENCODED)
@settings(max_examples=often(60, 400), suppress_health_check=QUIET)
def test_queries_of_any_dialect_keep_their_ids_and_words(place, made, encoding):
    project, _ = place
    rows, text = made
    source = file_of(text, encoding)
    errors = ErrorList()
    try:
        form = recognise_queries(source)
        if form == TABLE:
            table = read_query_table(source, project=project, options={})
            assume(not table.view.refusals)
            found = table.rows
        else:
            found = list(read_queries(source, errors, format=form, names=names_in(project)))
    except InputError:
        return
    if not errors:
        assert [(row.query_id, row.text) for row in found] == rows, text


@st.composite
def runs(draw) -> tuple[dict[str, list[str]], str]:
    ranked = draw(
        st.dictionaries(
            st.sampled_from(sorted(QUERIES)),
            st.lists(st.sampled_from(sorted(PASSAGES)), min_size=1, unique=True),
            min_size=1,
        )
    )
    rows = [(query, passage, rank) for query, of in ranked.items() for rank, passage in enumerate(of, start=1)]

    def score(row) -> float:
        return 20.5 - row[2]

    columns = [(QUERY_IDS, lambda row: row[0]), (["docno", "doc_id", "passage"], lambda row: row[1])]
    frame = [["", "qid", "docid", "docno", "rank", "score", "query"]]
    frame += [
        [str(n), query, str(900 + n), one, str(rank - 1), str(score((0, 0, rank))), QUERIES[query]]
        for n, (query, one, rank) in enumerate(rows)
    ]
    comma = [
        ["query", "passage", "score"],
        *([query, one, f"{20.5 - rank:.2f}".replace(".", ",")] for query, one, rank in rows),
    ]
    objects = [{"qid": query, "docno": one, "score": score((0, 0, rank))} for query, one, rank in rows]
    forms = [
        st.just("".join(f"{query} Q0 {one} {rank} {20.5 - rank} x\n" for query, one, rank in rows)),
        tables([*columns, (["score", "similarity"], lambda row: f"{score(row)}")], rows),
        tables([*columns, (["rank", "position"], lambda row: f"{row[2]}.0")], rows),
        st.just(separated(frame, ",")),
        st.just(separated(comma, draw(st.sampled_from([";", "\t"])))),
        st.just("".join(f"{query}\t{one}\t{rank}\n" for query, one, rank in rows)),
        st.just(json.dumps({query: {one: 20.5 - rank for rank, one in enumerate(of)} for query, of in ranked.items()})),
        st.just(json.dumps(objects)),
        st.just("".join(f"{json.dumps(one)}\n" for one in objects)),
    ]
    return ranked, draw(st.one_of(forms))


@st.composite
def entries(draw) -> tuple[list[tuple[str, str, str]], str]:
    """Questions with an id of a passage and an answer."""
    passages = draw(st.lists(st.sampled_from(sorted(PASSAGES)), min_size=1, max_size=4))
    rows = [(f"{WORDS[place]}?", passage, f"it is {place}") for place, passage in enumerate(passages)]
    questions, blocks = ["question", "Question", "Frage"], ["doc_id", "passage", "page", "block id"]
    answers = ["answer", "expected_answer", "reference", "ground_truth"]
    fields = draw(st.tuples(*map(st.sampled_from, (questions, blocks, answers))))
    objects = [dict(zip(fields, row, strict=True)) for row in rows]
    columns = [(names, itemgetter(place)) for place, names in enumerate((questions, blocks, answers))]
    forms = [
        tables(columns, rows),
        st.just(json.dumps(objects, indent=1)),
        st.just("".join(f"{json.dumps(one)}\n" for one in objects)),
    ]
    return rows, draw(st.one_of(forms))


@given(made=entries(), encoding=ENCODED)
@settings(max_examples=often(40, 300), suppress_health_check=QUIET)
def test_questions_of_any_dialect_keep_their_passages_and_answers(place, made, encoding):
    project, snapshot = place
    rows, text = made
    source = file_of(text, encoding)
    try:
        assume(recognise_entries(source) == TABLE)
        table = read_triple_table(source, project=project, snapshot=snapshot, options={})
    except InputError:
        return
    assume(not table.view.refusals)
    found = [(one.entry.question, one.entry.blocks[0].block_id, one.entry.expected_answer) for one in table.rows]
    assert found == rows, text


@given(made=runs(), encoding=ENCODED)
@settings(max_examples=often(60, 400), suppress_health_check=QUIET)
def test_runs_of_any_dialect_keep_their_order(tmp_path, made, encoding):
    ranked, text = made
    (tmp_path / "qrels").write_text("".join(f"{query} 0 D101 1\n" for query in QUERIES))
    (tmp_path / "run").write_bytes(ENCODINGS[encoding](text))
    try:
        file = load_run(tmp_path / "run", judged := load_qrels(tmp_path / "qrels"))
    except (InputError, InputErrors):
        return
    found: dict[str, list[tuple[float, str]]] = {}
    for query, block, score in zip(*(column.tolist() for column in file.ranked[:3]), strict=True):
        found.setdefault(judged.queries[query], []).append((-score, file.ids[block].decode()))
    assert {query: [one for _, one in sorted(of)] for query, of in found.items()} == ranked, text


def test_most_dialects_are_read_and_not_refused(place):
    """The tests above allow refusals: here the usual dialects are read."""
    project, snapshot = place
    for text in (
        "qid;docno;rel\nQ11;D101;3,0\nQ12;D102;0,0\n",
        '[{"qid": "Q11", "docid": "D101", "judgment": 3}, {"qid": "Q12", "docid": "D102", "judgment": 0}]',
        '{"Q11": {"D101": 3.0}, "Q12": {"D102": 0}}',
        "query,D101,D102\ndo wombats glow,3,\nQ12,,0\n".replace("Q12", '"price of a permit, in crowns"'),
    ):
        source = TableFile("f", io.BytesIO(text.encode()))
        table = read_table(source, project=project, snapshot=snapshot, options={}, format=recognise(source))
        assert [row.grade for row in table.draft.rows] == [3, 0], text
        assert table.view.refusals == []


@st.composite
def mutated(draw) -> bytes:
    """A file of any dialect with some bytes removed, doubled, exchanged, or cut off."""
    _, text = draw(st.one_of(judgements(), queries(), runs()))
    data = bytearray(text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-16", "latin-1"])), errors="replace"))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.integers(0, 12))
        piece = bytes(data[place : place + length])
        data[place : place + length] = draw(
            st.one_of(st.just(b""), st.just(piece * 2), st.binary(max_size=3), st.sampled_from(SPLINTERS))
        )
    return bytes(data)


SPLINTERS = [b"{", b"]", b'"', b"<", b">", b"\n", b"\r", b"\0", b"\t", b",", b"1e999", b"NaN", b"-", b"'", b"\xff\xfe"]


@given(data=mutated())
@settings(max_examples=often(60, 2_000), suppress_health_check=QUIET)
def test_a_damaged_file_is_read_or_refused_in_words(place, tmp_path, data):
    project, snapshot = place

    def source() -> TableFile:
        return TableFile("damaged", io.BytesIO(data))

    def as_judgements() -> None:
        form = recognise(source())
        if form in {"table", *TOOLS}:
            table = read_table(source(), project=project, snapshot=snapshot, options={}, format=form)
            json.dumps(table.view.as_json(), allow_nan=False).encode()
        else:
            read_draft(source(), project=project, snapshot=snapshot, format=form, columns=columns_of(form, ""))

    def as_queries() -> None:
        form = recognise_queries(source())
        if form == TABLE:
            read_query_table(source(), project=project, options={})
        else:
            list(read_queries(source(), ErrorList(), format=form, names=names_in(project)))

    def as_entries() -> None:
        form = recognise_entries(source())
        if form == TABLE:
            read_triple_table(source(), project=project, snapshot=snapshot, options={})
        else:
            list(read_entries(source(), ErrorList(), format=form))

    def as_run() -> None:
        (tmp_path / "qrels").write_text("Q11 0 D101 1\n")
        (tmp_path / "run").write_bytes(data)
        load_run(tmp_path / "run", load_qrels(tmp_path / "qrels"))

    def as_qrels() -> None:
        (tmp_path / "damaged").write_bytes(data)
        load_qrels(tmp_path / "damaged")

    for read in (as_judgements, as_queries, as_entries, as_run, as_qrels):
        with suppress(InputError, InputErrors):
            read()
