"""The bench: several expected blocks, saving in the background, and what a draft starts from."""

from copy import deepcopy
from datetime import timedelta

import pytest

from apps.audit.models import Event
from apps.jobs.models import Notification
from apps.triples.actions.triples import copy_wording
from apps.triples.models import Triple
from tests.factories import AT
from tests.queries.factories import make_query, make_source
from tests.races import each_at_once
from tests.review.factories import make_in_review, reload
from tests.triples.bench_fields import access, fields, row, rows, url
from tests.triples.factories import TEXTS, make_draft, make_snapshot, make_team, version_of

# What it begins with -------------------------------------------------------------------------------------------------


def test_a_new_bench_has_source_and_domain_of_the_last_one_and_a_query_its_own(client, project, author):
    source = make_source(project, name="Interviews")
    assert "filled in" not in client.get(url("bench", project)).content.decode()
    make_draft(project, author=author, source_id=source.pk, domain="keys", note="Kept to itself.")
    make_draft(project, domain="of somebody else")
    query = make_query(project, domain="access")

    page = client.get(url("bench", project)).content.decode()
    of_query = client.get(url("bench", project), {"query": query.pk}).content.decode()

    assert f'<option value="{source.pk}" selected>' in page
    assert 'value="keys"' in page
    assert "source and domain as in T-0001" in page
    assert "Kept to itself." not in page
    assert 'value="access"' in of_query
    assert f'<option value="{source.pk}" selected>' not in of_query


# Several expected blocks ---------------------------------------------------------------------------------------------


def expected_of(triple):
    """(outside id, marks) of each stored expected block, in their order."""
    blocks = triple.current.expected_blocks.order_by("order").select_related("version__block")
    return [(one.version.block.outside_id, one.spans) for one in blocks]


def two_rows(project):
    snapshot = project.corpora.get().snapshots.get()
    return rows(row(access(project)), row(version_of(snapshot, "backups"), spans="[[0, 5], [12, 21]]"))


@pytest.mark.parametrize(("needs", "stored"), [("all", True), ("any", False), ("", False)])
def test_several_blocks_are_saved_in_their_order_with_what_is_needed(client, project, author, needs, stored):
    client.post(url("save-new", project), fields(project, **two_rows(project), needs=needs))

    triple = Triple.objects.get()
    assert expected_of(triple) == [("access", [[0, 36]]), ("backups", [[0, 5], [12, 21]])]
    assert triple.current.needs_all_blocks is stored


def test_one_block_alone_is_never_all_of_several(client, project, author):
    client.post(url("save-new", project), fields(project, needs="all"))

    assert not Triple.objects.get().current.needs_all_blocks


def test_the_bench_shows_every_expected_block_again(client, project, author):
    client.post(url("save-new", project), fields(project, **two_rows(project), needs="all", note="Ask the owner."))
    triple = Triple.objects.get()

    page = client.get(url("edit", project, triple.pk)).content.decode()

    assert "2, in their order" in page
    assert "2 spans, 4 words" in page
    assert '<input type="radio" name="needs" value="all" id="id_needs_1" checked>' in page
    assert "Ask the owner." in page


@pytest.mark.parametrize(
    ("do", "after"),
    [
        ("remove:access", ["backups"]),
        ("down:access", ["backups", "access"]),
        ("up:backups", ["backups", "access"]),
        ("up:access", ["access", "backups"]),
        ("add:rotation", ["access", "backups", "rotation"]),
        ("add:access", ["access", "backups"]),
        ("nonsense", ["access", "backups"]),
    ],
)
def test_without_a_script_the_buttons_save_the_blocks_as_they_change(client, project, author, do, after):
    verb, _, key = do.partition(":")
    block = version_of(project.corpora.get().snapshots.get(), key).block_id if key else "x"
    client.post(url("save-new", project), fields(project, **two_rows(project), do=f"{verb}:{block}"))

    assert [key for key, _ in expected_of(Triple.objects.get())] == after


def test_without_a_script_evidence_of_each_block_is_pasted_as_text(client, project, author):
    snapshot = project.corpora.get().snapshots.get()
    pasted = rows(
        row(access(project), spans="[]", evidence="It closes by itself"),
        row(version_of(snapshot, "rotation"), spans="[]", evidence="twelve months"),
    )

    client.post(url("save-new", project), fields(project, **pasted))

    lines = [
        block.version.text[start:end]
        for block in Triple.objects.get().current.expected_blocks.order_by("order")
        for start, end in block.spans
    ]
    assert lines == ["It closes by itself", "twelve months"]


def test_one_foreign_block_among_several_is_refused_and_nothing_is_saved(client, project, author):
    foreign = version_of(make_team().corpora.get().snapshots.get(), "access")

    page = client.post(url("save-new", project), fields(project, **rows(row(access(project)), row(foreign))))

    assert page.status_code == 400
    assert "not in the newest snapshot" in page.content.decode()
    assert foreign.text not in page.content.decode()
    assert not Triple.objects.exists()


def test_a_foreign_version_named_as_pinned_shows_nothing_of_itself(client, project, author):
    foreign = version_of(make_team().corpora.get().snapshots.get(), "rotation")
    block = access(project).block_id

    client.post(url("save-new", project), fields(project, **{f"pinned-{block}": foreign.pk}))

    assert expected_of(Triple.objects.get()) == [("access", [])]


def test_more_blocks_or_marks_than_anybody_needs_are_refused(client, project, author):
    texts = {f"block {number}": f"Text number {number}." for number in range(13)}
    snapshot = make_snapshot(project, texts, corpus=project.corpora.get(), at=AT + timedelta(days=1))
    many = rows(*(row(version_of(snapshot, key), spans="[]") for key in texts))
    marks = row(version_of(snapshot, "block 0"), spans=str([[0, 1]] * 41))

    assert "At most 12 passages" in client.post(url("save-new", project), fields(project, **many)).content.decode()
    answer = client.post(url("save-new", project), fields(project, **marks))
    assert "At most 40 quotes" in answer.content.decode()
    assert not Triple.objects.exists()


def test_marks_move_to_the_text_of_a_newer_snapshot(client, project, author):
    texts = {**TEXTS, "access": "First of all. " + TEXTS["access"]}
    make_snapshot(project, texts, corpus=project.corpora.get(), at=AT + timedelta(days=1))

    client.post(url("save-new", project), fields(project))

    assert expected_of(Triple.objects.get()) == [("access", [[14, 50]])]


def test_a_block_of_an_older_corpus_opens_the_bench_on_that_corpus(client, project, author):
    block = access(project).block_id
    newer = make_snapshot(project, {"other": "Another corpus."}, at=AT + timedelta(days=1))

    page = client.get(url("bench", project), {"block": block}).content.decode()
    saved = client.post(url("save-new", project), fields(project, corpus=project.corpora.order_by("pk")[0].pk))

    assert "A session lasts at most eight hours." in page
    assert f'href="?corpus={newer.corpus_id}"' in page
    assert saved.status_code == 302
    assert client.get(url("block", project, block)).status_code == 200


# Saving in the background --------------------------------------------------------------------------------------------


def test_a_save_in_the_background_saves_as_the_button_does(client, project, author):
    sent = fields(project, **two_rows(project), needs="all", note="Two lines\r\nof note.", domain="access")
    client.post(url("save-new", project), sent)
    answer = client.post(url("autosave-new", project), sent)

    pressed, background = Triple.objects.order_by("number")
    assert answer.json()["label"] == "T-0002"
    assert answer.json()["addresses"]["edit"] == url("edit", project, background.pk)
    assert copy_wording(pressed, pressed.current) == copy_wording(background, background.current)
    assert background.current.note == "Two lines\nof note."


def test_saving_in_the_background_again_and_again_is_one_event_and_no_news(client, project, author):
    triple = make_draft(project, author=author)
    before = Event.objects.count()

    for number in range(3):
        answer = client.post(
            url("autosave", project, triple.pk),
            fields(project, answer=f"Number {number}.", seen_version=reload(triple).edit_version),
        )
        assert answer.json()["version"] == reload(triple).edit_version

    assert Event.objects.count() == before
    assert not Notification.objects.exists()
    assert reload(triple).current.answer == "Number 2."


def test_an_empty_new_bench_is_not_saved_in_the_background(client, project, author):
    answer = client.post(url("autosave-new", project), {"seen_version": "0", "needs": "any"})

    assert answer.status_code == 204
    assert not Triple.objects.exists()


def test_a_save_that_comes_again_has_its_effect_once(client, project, author):
    sent = fields(project, key="a-key")
    first = client.post(url("autosave-new", project), sent).json()
    again = client.post(url("autosave-new", project), sent).json()
    pressed = client.post(url("save-new", project), sent)

    assert Triple.objects.count() == 1
    assert (first["label"], first["version"]) == (again["label"], again["version"])
    assert pressed.status_code == 302


@pytest.mark.django_db(transaction=True)
def test_saves_of_one_new_bench_that_arrive_together_start_one_draft(client, project, author):
    sent = fields(project, key="a-key")
    tabs = [deepcopy(client) for _ in range(4)]

    answers = each_at_once(lambda tab: tab.post(url("autosave-new", project), sent).json(), tabs)

    assert [answer["label"] for answer in answers] == ["T-0001"] * 4
    assert Triple.objects.count() == 1


def test_a_draft_that_was_withdrawn_elsewhere_is_not_saved(client, project, author):
    triple = make_in_review(project, author=author)

    answer = client.post(url("autosave", project, triple.pk), fields(project))

    assert (answer.status_code, answer.json()["problem"]) == (
        409,
        "No revision is open, so the wording cannot be changed.",
    )


# Starting from a query -----------------------------------------------------------------------------------------------


def test_queries_can_be_searched_on_the_bench_by_their_words(client, project, author):
    make_query(project, outside_id="Q17", text="who rotates a root key")

    assert "Q17" in client.get(url("queries", project), {"q": "rotates"}).content.decode()
    assert "Q17" not in client.get(url("queries", project), {"q": ""}).content.decode()
    assert "No query contains these words." in client.get(url("queries", project), {"q": "nobody"}).content.decode()


def test_a_draft_from_a_query_keeps_the_query_and_its_fields(client, project, author):
    query = make_query(project, text="who rotates a root key", domain="keys", difficulty="hard")
    page = client.get(url("bench", project), {"query": query.pk}).content.decode()

    client.post(url("save-new", project), fields(project, query=query.pk, question="", domain="", difficulty=""))

    triple = Triple.objects.get()
    assert "who rotates a root key" in page
    assert (triple.query, triple.domain, triple.difficulty) == (query, "keys", "hard")
    assert query.outside_id in client.get(url("edit", project, triple.pk)).content.decode()
