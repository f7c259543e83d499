"""From a file of searches to offered queries: what is understood, what is left out, and what is drawn."""

import json

import pytest

from apps.accounts.models import Project
from apps.corpus.actions import imports
from apps.corpus.enums import ImportState
from apps.queries.models import Query
from apps.querylogs.enums import OfferState
from apps.querylogs.models import OfferedQuery, QueryLog
from tests.factories import AT, lead_of, make_project
from tests.queries.factories import make_permission, make_query, make_source
from tests.querylogs.factories import as_csv, draw, make_log, searches, upload

pytestmark = pytest.mark.django_db


def log_of(content: bytes, name: str = "searches.csv", **options) -> dict:
    item = upload(make_project(), content, name=name, **options)
    return item.plan["log"] | {"columns": {one["heading"]: one["role"] for one in item.plan["table"]["columns"]}}


def asked(query: str, people: int, *, times: int = 1, hits: str = "3", start: int = 0) -> list[list[str]]:
    return [
        [query, f"u{start + person}", f"2026-08-04T09:{person:02}:{time:02}", hits, "", ""]
        for person in range(people)
        for time in range(times)
    ]


def test_columns_are_known_by_heading_and_value_and_what_is_not_asked_for_is_not_read():
    found = log_of(as_csv(searches(300)))

    assert found["columns"] == {
        "q": "text", "uid": "person", "ts": "time", "hits": "results", "clicked": "object", "ip": "",
    }  # fmt: skip
    assert (found["searches"], found["left_out"]["total"]) == (300, 0)


UBI = [
    {"query_id": f"a{n}", "client_id": f"c{n % 7}", "user_query": "key rotation",
     "timestamp": f"2026-08-04T09:00:0{n % 10}", "query_response_object_ids": ["b1", "b2"] if n else []}
    for n in range(14)
] + [
    {"query_id": f"a{n}", "client_id": f"c{n % 7}", "action_name": "click", "timestamp": "2026-08-04T09:01:00",
     "event_attributes": {"object": {"object_id": "b2"}, "position": {"ordinal": 1}}}
    for n in range(6)
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "searches", "queries"),
    [
        ("lines.txt", "key rotation\nKey  rotation\nopen the archive?\n" * 4, 12, 2),
        ("counts.txt", "  412 key rotation\n   97 open the archive\n", 509, 2),
        ("counts.csv", "query;count\nkey rotation;12\nopen the archive;3\n", 15, 2),
        ("headless.tsv", "u1\tkey rotation\nu2\tkey rotation\nu3\topen the archive\n", 3, 2),
        ("ubi.jsonl", "\n".join(map(json.dumps, UBI)), 14, 1),
        ("list.json", json.dumps(UBI), 14, 1),
        (
            "server.log.csv",
            "time,user,search\n[04/Aug/2026:09:00:01 +0000],a,key rotation\n[04/Aug/2026:09:00:02 +0000],b,open it\n",
            2,
            2,
        ),
    ],
)
def test_logs_of_every_form_are_counted(name, content, searches, queries):
    found = log_of(content.encode(), name)

    assert (found["searches"], found["queries"], found["left_out"]["total"]) == (searches, queries, 0)


def test_clicks_of_events_belong_to_the_query_of_their_search():
    log = draw(upload(make_project(), "\n".join(map(json.dumps, UBI)).encode(), name="ubi.jsonl"))

    offered = log.offered.get()
    assert (offered.searches, offered.people, offered.clicks, offered.nothing) == (14, 7, 6, 1)


def test_empty_searches_pasted_texts_and_robots_are_left_out_and_counted():
    rows = [*asked("key rotation", 6), ["", "u1", "", "", "", ""], ["word " * 60, "u2", "", "", "", ""]]
    rows += asked("ping", 1, times=59, start=99) * 9

    found = log_of(as_csv(rows))

    assert found["left_out"] == {
        "empty": 1, "pasted": 1, "by_robots": 531, "robots": 1, "beginnings": 0, "unread": 0, "total": 533,
    }  # fmt: skip
    assert found["queries"] == 1


def test_only_queries_of_enough_people_are_offered_and_spellings_count_as_one():
    rows = asked("key rotation", 3) + asked("Key rotation?", 2, start=3) + asked("secret plan", 4, times=9)

    log = draw(upload(make_project(), as_csv(rows)))

    offered = log.offered.get()
    assert (offered.text, offered.people, offered.searches, offered.spellings) == ("key rotation", 5, 5, 2)
    assert str(offered.first_week) == "2026-08-03"


def test_a_query_is_masked_before_it_is_counted():
    rows = [[f"reset password of user{n}@example.com", f"u{n}", "", "3", "", ""] for n in range(5)]

    log = draw(upload(make_project(), as_csv(rows)))

    offered = log.offered.get()
    assert (offered.text, offered.masks) == ("reset password of [e-mail]", ["e-mail"])


def test_what_people_did_afterwards_makes_the_stratum():
    rows = asked("nothing here", 6, hits="0") + asked("fine", 6)
    for person in range(6):
        rows += [
            ["bad words", f"v{person}", f"2026-08-04T10:{person:02}:00", "9", "", ""],
            ["better words", f"v{person}", f"2026-08-04T10:{person:02}:50", "9", "", ""],
        ]

    log = draw(upload(make_project(), as_csv(rows)))

    assert dict(log.offered.values_list("text", "outcome")) == {
        "nothing here": "nothing", "fine": "found", "bad words": "again", "better words": "found",
    }  # fmt: skip


@pytest.mark.parametrize("plan", ["balanced", "traffic"])
def test_the_draw_is_that_of_the_page_and_the_same_again(plan):
    first, second = (make_log(make_project(), plan=plan) for _ in range(2))

    def rows(log: QueryLog) -> list[tuple]:
        return list(log.offered.order_by("position").values_list("text", "chance", "band", "outcome"))

    assert rows(first) == rows(second)
    strata = {(one["band"], one["outcome"]): one for one in first.figures["strata"]}
    for key, stratum in strata.items():
        inside = first.offered.filter(band=key[0], outcome=key[1])
        assert inside.count() == stratum["places"]
    assert first.offered.count() == 20


def test_the_file_is_gone_once_drawn_and_a_source_was_made():
    item = upload(make_project(), as_csv(searches(600)))
    place = item.upload.place
    assert place.exists()

    log = draw(item)

    item.upload.refresh_from_db()
    assert item.upload.state == "discarded"
    assert (log.source.name, log.source.kind) == ("Search log, August", "query_log")
    assert not Query.objects.filter(project=log.project).exists()


def refused(project: Project, content: bytes, **options) -> str:
    item = upload(project, content, **options)
    after = imports.confirm_import(import_id=item.pk, actor=lead_of(project), at=AT)
    assert after.state == ImportState.FAULTY
    assert not OfferedQuery.objects.exists()
    message: str = after.plan["errors"][0]["message"]
    return message


def test_fewer_than_five_people_need_a_source_with_a_permission():
    project = make_project()
    content = as_csv(asked("key rotation", 2))

    assert "permission on record" in refused(project, content, people=1)
    source = make_source(project)
    assert "permission on record" in refused(project, content, people=1, source=source.slug)

    make_permission(source)
    log = draw(upload(project, content, people=1, source=source.slug))
    assert log.offered.get().people == 2


def test_a_log_without_people_cannot_keep_five_apart():
    content = as_csv([["key rotation"]] * 9, ["q"])

    assert "No column says who searched" in refused(make_project(), content)


def test_a_log_without_a_query_that_enough_people_asked_is_refused():
    assert "asked by 5 people" in refused(make_project(), as_csv(asked("key rotation", 4)))


def test_without_a_column_of_queries_the_page_asks_for_it():
    item = upload(make_project(), as_csv([["1", "2"], ["3", "4"]], ["a", "b"]))

    assert item.state == ImportState.FAULTY
    assert item.questions == ["Choose the column of the queries."]
    assert item.plan["log"] == {}


def test_a_log_says_how_much_of_its_traffic_is_like_the_queries_that_are_there():
    project = make_project()
    content = as_csv(asked("how to rotate the keys", 6, times=3) + asked("open the archive", 6))

    first = draw(upload(project, content))
    make_query(project, text="rotate the keys, how to")
    second = draw(upload(project, content))

    assert (first.figures["alike"], second.figures["alike"]) == (None, 0.75)


def test_the_same_query_is_never_offered_twice_and_all_wait_in_the_order_of_chance():
    log = make_log(make_project())

    texts = list(log.offered.values_list("text", flat=True))
    assert len(set(texts)) == len(texts)
    assert set(log.offered.values_list("state", flat=True)) == {OfferState.WAITING}
    assert list(log.offered.order_by("position").values_list("position", flat=True)) == list(range(1, 21))
