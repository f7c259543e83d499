"""Logs that servers write of themselves: what is a search in them, what is not, and who is counted as one person."""

import io
import json
from collections import Counter
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.files.tabular import TableFile
from apps.querylogs.formats import logs
from apps.querylogs.formats.access_logs import line_log, parameters
from apps.querylogs.formats.logs import open_log
from tests.factories import make_project
from tests.querylogs.factories import as_csv, draw, upload

BROWSER = "Mozilla/5.0 (X11; Linux x86_64) Firefox/143.0"
BY_ENGINE = {"words": "text", "time of the request": "time", "results": "results"}


def request(target: str, *, ip="203.0.113.7", at="09:12:00", status=200, agent=BROWSER, method="GET", user="-") -> str:
    return (
        f'{ip} - {user} [04/Aug/2026:{at} +0000] "{method} {target} HTTP/1.1" {status} 512'
        f' "https://intranet.example/" "{agent}"'
    )


def opened(*lines: str) -> logs.LogTable:
    return open_log(TableFile("a.log", io.BytesIO("\n".join(lines).encode())))


def words_in(*lines: str) -> list[str]:
    table = opened(*lines)
    place = table.headings.index(next(name for name, role in table.known.items() if role == "text"))
    return [cells[place] for cells in table.rows]


def slow_line(source: dict, *, shard=0, shards=1, hits="12 hits", at="09:12:00,123", logger="i.s.s.query") -> str:
    return (
        f"[2026-08-04T{at}][WARN ][{logger}              ] [node-1] [docs][{shard}] took[5.9ms], took_millis[5],"
        f" total_hits[{hits}], stats[], search_type[QUERY_THEN_FETCH], total_shards[{shards}],"
        f" source[{json.dumps(source)}], id[], "
    )


def match(text: str) -> dict:
    return {"size": 10, "query": {"bool": {"must": [{"multi_match": {"query": text, "fields": ["title", "body"]}}]}}}


@pytest.mark.django_db
def test_people_of_an_access_log_are_counted_by_address_and_browser():
    lines = [request("/search?q=key+rotation&page=2", ip=f"203.0.113.{n}", at=f"09:1{n}:00") for n in range(4)]
    lines += [request("/search?q=key%20rotation", agent="Another browser"), request("/style.css?v=3")] * 3
    lines += [request("/search?q=lost+badge", user="anna") for _ in range(2)]

    item = upload(make_project(), "\n".join(lines).encode(), name="access.log", people=1)
    found = item.plan["log"]

    assert item.plan["table"]["how"].startswith("an access log, by the request")
    columns = {one["heading"]: one["role"] for one in item.plan["table"]["columns"]}
    assert list(columns)[:3] == ["q", "address and browser", "time of the request"]
    assert columns == {
        "q": "text", "page": "", "v": "", "address and browser": "person", "time of the request": "time",
    }  # fmt: skip
    assert (found["searches"], found["queries"], found["has_people"]) == (9, 2, True)
    assert found["unused"] == {"request without a search": 3}
    assert "203.0.113" not in json.dumps(item.plan)


@pytest.mark.django_db
def test_five_people_in_an_access_log_make_a_query_that_is_offered():
    lines = [request("/s?query=key+rotation", ip=f"203.0.113.{n}") for n in range(5)]

    log = draw(upload(make_project(), "\n".join(lines).encode(), name="access.log"))

    assert [(one.text, one.people, str(one.first_week)) for one in log.offered.all()] == [
        ("key rotation", 5, "2026-08-03")
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (request("/"), "request without a search"),
        (request("/search?q=key", method="PUT"), "request without a search"),
        (request("/list?page=2"), "request without a search"),
        (request("/search?q=key", status=404), "request that ended with an error"),
        (request("/search?q=key", agent="ExampleBot/1.0 (+https://example.org)"), "program that says it is one"),
        (request("/search?q=caf%E9"), "words in an unknown encoding"),
        ("Restarted.", "line of another form"),
    ],
)
def test_lines_of_an_access_log_that_are_no_search_are_counted_by_reason(line, reason):
    table = opened(*[request("/search?q=open+the+door")] * 3, line)

    assert len(list(table.rows)) == 3
    assert table.left_out == {reason: 1}


def test_where_two_parameters_can_have_the_words_it_is_asked():
    table = opened(*[request("/search?q=key+rotation&text=all")] * 5)

    assert "text" not in table.known.values()
    assert {"q", "text"} <= set(table.headings)


def test_a_parameter_that_few_requests_have_is_no_column():
    lines = [request(f"/search?q=key+{n}" + ("&anna=1" if n == 7 else "")) for n in range(150)]

    assert "anna" not in opened(*lines).headings


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_whatever_was_typed_is_read_from_its_encoding(text):
    assert parameters(f"page=1&q={quote_plus(text)}") == {"page": "1", "q": text}
    assert parameters(f"q={quote(text, safe='')}&x=%FF") == {"q": text}
    as_bytes = "".join(f"\\x{byte:02X}" for byte in text.encode())
    assert parameters(f"q={as_bytes}") == {"q": text}


@given(st.text(max_size=60))
def test_any_line_of_an_access_log_is_read_or_counted(text):
    line = request("/search?q=" + text.encode("utf-8", "replace").decode().replace("\r", ""))
    lines = [request("/search?q=open+the+door")] * 9 + [part for part in line.split("\n") if "\0" not in part]
    table = opened(*lines)

    assert len(list(table.rows)) + sum(table.left_out.values()) == sum(bool(one.strip()) for one in lines)


@pytest.mark.django_db
def test_what_a_search_box_asks_on_each_key_counts_as_the_last_of_it():
    rows = []
    for person in range(6):
        for second, typed in enumerate(("k", "ke", "key", "key rotation")):
            rows.append([typed, f"u{person}", f"2026-08-04T09:{person:02}:{second * 2:02}", "", "", ""])
        rows.append(["key rotation policy", f"u{person}", f"2026-08-04T09:{person:02}:30", "", "", ""])

    item = upload(make_project(), as_csv(rows))

    assert item.plan["log"]["left_out"]["beginnings"] == 18
    assert sorted(draw(item).offered.values_list("text", "searches")) == [
        ("key rotation", 6), ("key rotation policy", 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        {"match": {"title": "key rotation"}},
        {"match": {"title": {"query": "key  rotation", "operator": "and"}}},
        {"query_string": {"query": "key rotation"}},
        {"bool": {"should": [{"match_phrase": {"a": "key rotation"}}, {"match": {"b": "key rotation"}}],
                  "filter": [{"term": {"lang": "en"}}]}},
        {"function_score": {"query": {"simple_query_string": {"query": "key rotation", "fields": ["a"]}}}},
    ],
)  # fmt: skip
def test_the_words_of_a_search_engine_are_those_of_its_clauses(query):
    source = {"from": 0, "query": query}
    told = {"type": "index_search_slowlog", "timestamp": "2026-08-04T09:12:00,123Z", "source": json.dumps(source)}
    ecs = {"@timestamp": "2026-08-04T09:12:00.123Z", "elasticsearch.slowlog.source": json.dumps(source)}
    nested = {"@timestamp": "2026-08-04T09:12:00.123Z", "elasticsearch": {"slowlog": {"source": json.dumps(source)}}}

    for line in (slow_line(source), json.dumps(told), json.dumps(ecs), json.dumps(nested)):
        assert words_in(line) == ["key rotation"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"match_all": {}}, "request without words"),
        ({"term": {"id": "SEC-1"}}, "request without words"),
        ({"bool": {"must": [{"match": {"a": "key"}}, {"match": {"b": "door"}}]}}, "several texts in one search"),
        ({"query_string": {"query": "title:key AND year:2026"}}, "several texts in one search"),
    ],
)
def test_a_search_of_an_engine_whose_words_are_not_sure_is_counted_by_reason(query, reason):
    table = opened(slow_line(match("open the door")), slow_line({"query": query}))

    assert [cells[0] for cells in table.rows] == ["open the door"]
    assert [name.startswith(reason) for name in table.left_out] == [True]


def test_a_search_that_several_shards_log_is_one_and_asked_again_it_is_two():
    lines = [slow_line(match("key rotation"), shard=n, shards=3, hits="0 hits") for n in range(3)]
    lines += [slow_line(match("key rotation"), shard=0, shards=3, logger="i.s.s.fetch")]
    lines += [slow_line(match("key rotation"), shard=n, shards=3, at="09:40:00,000") for n in range(3)]
    table = opened(*lines)

    assert [[cells[table.headings.index(name)] for name in ("words", "results")] for cells in table.rows] == [
        ["key rotation", ""], ["key rotation", "12 hits"],
    ]  # fmt: skip
    assert table.known == BY_ENGINE
    assert table.left_out == {"the same search on another shard": 5}


SOLR_LINE = (
    "2026-08-04 09:12:00.123 INFO  (qtp1-22) [c:docs s:shard1 r:n2 x:docs_1] o.a.s.c.S.Request"
    "  webapp=/solr path=/select params={%s} hits=%s status=0 QTime=5"
)


def test_the_words_of_solr_are_its_q_once_and_decoded():
    lines = [
        SOLR_LINE % ("q=key+rotation%3F&fq=type:doc&wt=json", 12),
        SOLR_LINE % ("q=key+rotation%3F&distrib=false&isShard=true", 7),
        SOLR_LINE % ("q=*:*&rows=0", 900),
        SOLR_LINE % ("q=title:key&rows=10", 3),
        "2026-08-04 09:12:01.000 INFO  (commit) [x:docs_1] o.a.s.u.DirectUpdateHandler2 start commit",
    ]
    table = opened(*lines)

    assert [dict(zip(table.headings, cells, strict=True)) for cells in table.rows] == [
        {"words": "key rotation?", "time of the request": "2026-08-04 09:12:00", "results": "12"}
    ]
    assert table.known == BY_ENGINE
    assert sum(table.left_out.values()) == 4


@pytest.mark.parametrize(
    "content", [b"q,uid\nkey,u1\n", b'{"q": "key rotation"}\n', b"key rotation\nopen [the] door\n", b"\x89PNG\r\n", b""]
)
def test_other_files_are_no_log_of_a_server(content):
    source = TableFile("a.log", io.BytesIO(content))

    assert line_log(source) is None
    assert source.raw().read() == content


def test_a_log_that_is_too_long_says_how_to_split_it(monkeypatch):
    monkeypatch.setattr(logs, "MOST_ROWS", 3)
    source = TableFile("a.csv", io.BytesIO(as_csv([["key", f"u{n}"] for n in range(4)], ["q", "uid"])))

    with pytest.raises(Exception, match="Split it by time, such as by month"):
        Counter(tuple(cells) for cells in open_log(source).rows)
