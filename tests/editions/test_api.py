"""A new edition over the API: what it changes, what is decided about its changes, and taking it."""

import pytest
from django.urls import reverse

from apps.accounts.actions.projects import set_roles
from apps.common.errors import InputError, InputErrors
from apps.corpus.models import Snapshot
from apps.editions.actions import apply
from apps.editions.enums import ChangeKind
from apps.editions.models import Decision
from tests.editions.stories import AUTUMN, CHANGED, LATER, QUERIES, SPRING, make_first_edition, make_story
from tests.factories import lead_of
from tests.judging.editions import graded
from tests.judging.factories import judge_all
from tests.module_rows import rows_of_module
from tests.retrieval.factories import make_run
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@rows_of_module
def story():
    return make_story(marked=True)


@pytest.fixture
def ask(client, story):
    """Asks an endpoint of editions, as the lead unless somebody else is named."""

    def ask(name, pk, body=None, *, person=None, **query):
        client.force_login(person or lead_of(story.project))
        address = reverse(f"editions-api:{name}", args=[story.project.slug, pk])
        return (
            client.get(address, query) if body is None else client.post(address, body, content_type="application/json")
        )

    return ask


def test_an_import_is_read_before_anything_is_stored(ask, story):
    found = ask("import", story.begin_import().pk).json()

    assert {row["kind"]: (row["passages"], row["grades"]) for row in found["kinds"]} == {
        "same": (14, 42),
        "metadata": (1, 3),
        "renamed": (1, 3),
        "changed": (3, 9),
        "gone": (1, 3),
        "new": (2, 0),
    }
    assert (found["before"], found["snapshot"], found["taken"], found["to_run"]) == (story.spring.pk, None, None, None)
    assert (found["to_decide"], found["decided"]) == (3, 0)
    assert found["work"] == {"along": 51, "carried": 6, "again": 6, "new": 1, "gone": 3}
    assert found["round"]["people"] == [story.judge.name]
    assert (found["round"]["former"], found["round"]["refusal"]) == (story.first.pk, None)
    assert found["round"]["time"] == "14 min to 21 min"
    assert Snapshot.objects.count() == 1


def test_it_says_what_it_comes_to_when_all_that_is_open_is_carried_or_judged_again(ask, story):
    item = story.begin_import()

    work = [ask("import", item.pk, rest=rest).json()["work"] for rest in ("carry", "again")]

    assert [(each["along"], each["again"]) for each in work] == [(57, 0), (48, 9)]
    assert ask("import", item.pk, rest="perhaps").status_code == 400


def test_each_changed_passage_asks_for_a_decision_with_both_texts_and_its_evidence(ask, story):
    first = ask("import-changes", story.begin_import().pk, limit=2).json()

    rows = {row["block_id"]: row for row in first["results"]}
    assert (first["count"], sorted(rows)) == (3, ["b15", "b16"])
    kept, lost = rows["b15"], rows["b16"]
    assert (kept["text_before"], kept["text"]) == (SPRING["b15"], AUTUMN["b15"])
    assert (kept["evidence"], kept["kept"], kept["start"], kept["decided"]) == ([[0, 30]], [[0, 30]], "carry", None)
    assert (lost["kept"], lost["start"], lost["why"]) == ([], "again", "marked evidence changed")
    assert (kept["grades"], kept["triples"]) == (3, 0)


@pytest.mark.parametrize(
    ("kind", "count", "names"),
    [("renamed", 1, [("r18", "b18")]), ("gone", 1, [("b20", "")]), ("new", 2, [("b21", ""), ("b22", "")])],
)
def test_the_passages_of_a_kind_are_listed(ask, story, kind, count, names):
    found = ask("import-passages", story.begin_import().pk, kind=kind).json()

    assert found["count"] == count
    assert [(row["block_id"], row["former_block_id"]) for row in found["results"]] == names


def test_passages_that_stay_come_in_pages_and_a_kind_has_to_be_named(ask, story):
    item = story.begin_import()

    first = ask("import-passages", item.pk, kind="same", limit=10).json()
    rest = ask("import-passages", item.pk, kind="same", limit=10, after=first["next"]).json()

    assert ([len(page["results"]) for page in (first, rest)], rest["next"]) == ([10, 4], None)
    assert {row["grades"] for row in first["results"]} == {3}
    assert [ask("import-passages", item.pk, **of).status_code for of in ({}, {"kind": "odd"})] == [400, 400]


def test_what_was_decided_counts_and_a_later_decision_replaces_it(ask, story):
    item = story.begin_import()

    decided = ask("import-decisions", item.pk, {"decisions": {"b16": "carry", "b17": "carry"}}).json()
    changed = ask("import-decisions", item.pk, {"decisions": {"b17": "again"}}).json()

    assert (decided["decided"], decided["work"]["along"]) == (2, 57)
    assert (changed["decided"], changed["work"]["along"]) == (2, 54)
    assert sorted(Decision.objects.values_list("version__block__outside_id", "choice")) == [
        ("b16", "carry"),
        ("b17", "again"),
    ]
    assert {row["block_id"]: row["decided"] for row in ask("import-changes", item.pk).json()["results"]} == {
        "b15": None,
        "b16": "carry",
        "b17": "again",
    }


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"decisions": {"b16": "carry", "b20": "carry"}}, "b20 is no changed passage here."),
        ({"decisions": {"b16": "perhaps"}}, "perhaps"),
        ({"decisions": {}}, "empty"),
        ({}, "required"),
    ],
)
def test_a_decision_about_nothing_is_refused_and_none_is_kept(ask, story, body, said):
    answer = ask("import-decisions", story.begin_import().pk, body)

    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["decisions"])
    assert said in answer.content.decode()
    assert not Decision.objects.exists()


def test_an_import_is_taken_as_decided(ask, story):
    item = story.begin_import()
    mark = ask("import", item.pk).json()["mark"]
    ask("import-decisions", item.pk, {"decisions": {"b16": "carry"}, "mark": mark})

    taken = ask("import-take", item.pk, {"mark": mark})
    again = ask("import-take", item.pk, {"mark": mark})

    made = taken.json()
    assert (taken.status_code, made["job"], made["drafts"]) == (201, None, [])
    snapshot = Snapshot.objects.get(pk=made["snapshot"])
    assert {name for _, name in graded(snapshot)} >= {"b15", "b16", "r18"}
    assert (again.status_code, again.json()["code"]) == (409, "edition_refused")
    read = ask("snapshot", snapshot.pk).json()
    assert {key: read["taken"][key] for key in ("along", "carried_round", "pool", "round")} == {
        "along": 54,
        **{key: made[key] for key in ("carried_round", "pool", "round")},
    }
    assert read["taken"]["by"] == lead_of(story.project).name


def test_a_snapshot_is_read_decided_on_and_taken_without_a_round(ask, story):
    snapshot = story.freeze_autumn()

    read = ask("snapshot", snapshot.pk).json()
    decided = ask("snapshot-decisions", snapshot.pk, {"decisions": dict.fromkeys(CHANGED, "carry")})
    taken = ask("snapshot-take", snapshot.pk, {"with_round": False})
    late = ask("snapshot-decisions", snapshot.pk, {"decisions": {"b15": "again"}})

    assert (read["snapshot"], read["to_decide"], read["taken"]) == (snapshot.pk, 3, None)
    assert [row["block_id"] for row in ask("snapshot-passages", snapshot.pk, kind="gone").json()["results"]] == ["b20"]
    assert decided.json()["work"] == {"along": 57, "carried": 12, "again": 0, "new": 1, "gone": 3}
    assert (taken.status_code, taken.json()["round"]) == (201, None)
    assert taken.json()["pool"] is not None
    assert (late.status_code, late.json()["code"]) == (409, "edition_refused")


def test_nothing_is_done_when_the_changes_are_not_those_that_were_read(ask, story):
    item = story.begin_import()

    answers = [
        ask("import-decisions", item.pk, {"decisions": {"b15": "carry"}, "mark": "of another day"}),
        ask("import-take", item.pk, {"mark": "of another day"}),
    ]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(409, "edition_changed")] * 2
    assert (Snapshot.objects.count(), Decision.objects.count()) == (1, 0)


def test_a_large_edition_is_taken_by_a_job(ask, story, monkeypatch):
    monkeypatch.setattr(apply, "AT_ONCE_ROWS", 2)
    item = story.begin_import()

    answer = ask("import-take", item.pk, {"rest": "carry"})
    run_jobs()

    assert answer.status_code == 202
    assert answer.json()["job"] is not None
    assert {answer.json()[key] for key in ("snapshot", "pool", "round")} == {None}
    assert ask("snapshot", Snapshot.objects.latest("pk").pk).json()["taken"]["along"] == 57


def test_without_people_no_round_can_be_made_and_it_says_so(ask, story):
    item = story.begin_import()
    set_roles(project=story.project, user=story.judge, roles=[], actor=lead_of(story.project), at=LATER)

    read = ask("import", item.pk).json()
    refused = ask("import-take", item.pk, {})

    assert read["round"]["people"] == []
    assert read["round"]["refusal"].startswith("Nobody has judged on this corpus yet")
    assert (refused.status_code, refused.json()["code"]) == (409, "no_round")
    assert Snapshot.objects.count() == 1


def test_a_file_that_has_mistakes_by_now_takes_nothing_and_says_where_they_are(ask, story, monkeypatch):
    def faulty(**inputs):
        raise InputErrors([InputError("autumn.jsonl", 1, "block_id", "b15", "It is taken by now.")])

    monkeypatch.setattr(apply, "take_import", faulty)
    item = story.begin_import()

    answer = ask("import-take", item.pk, {})

    item.refresh_from_db()
    assert (answer.status_code, answer.json()["code"], item.state) == (409, "import_faulty", "faulty")


@pytest.mark.parametrize("body", [{"rest": "perhaps"}, {"with_round": "perhaps"}, {"mark": "m" * 65}])
def test_an_order_that_is_none_is_refused_by_field(ask, story, body):
    answer = ask("import-take", story.begin_import().pk, body)

    assert (answer.status_code, list(answer.json()["errors"])) == (400, list(body))
    assert Snapshot.objects.count() == 1


def test_a_first_snapshot_has_no_edition(ask, story):
    names = ("snapshot", "snapshot-changes", "snapshot-passages")
    answers = [ask(name, story.spring.pk, kind="new") for name in names]
    answers.append(ask("snapshot-decisions", story.spring.pk, {"decisions": {"b15": "carry"}}))
    answers.append(ask("snapshot-take", story.spring.pk, {}))

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(409, "edition_refused")] * 5


def test_systems_are_run_again_on_the_new_edition(ask, story):
    system = make_run(story.project, story.spring).system
    snapshot = story.freeze_autumn()

    waiting = ask("snapshot", snapshot.pk).json()["to_run"]
    queued = ask("run-again", snapshot.pk, {})
    again = ask("run-again", snapshot.pk, {})

    assert waiting == {"here": [{"id": system.pk, "name": system.name}], "elsewhere": []}
    assert (queued.status_code, [each["system"] for each in queued.json()["runs"]]) == (202, [system.name])
    assert queued.json()["runs"][0]["job"] is not None
    assert (again.status_code, again.json()["code"]) == (409, "nothing_to_run")


def test_no_answer_tells_which_grade_was_given(client):
    low, high = (told_when_graded(client, grade) for grade in (0, 3))

    assert low["kinds"][0]["grades"] == 42
    assert low == high


def told_when_graded(client, grade):
    """What is answered before an edition is taken, without ids, when every grade is this one."""
    story = make_first_edition(SPRING, QUERIES, annotators=1, overlap=0.0)
    judge_all(story.first, story.judge, lambda seat: grade)
    client.force_login(lead_of(story.project))
    here = [story.project.slug, story.begin_import().pk]

    def read(name, **query):
        return client.get(reverse(f"editions-api:{name}", args=here), query).json()

    whole = read("import")
    told = {key: whole[key] for key in ("kinds", "work", "to_decide")}
    told["changes"] = read("import-changes")["results"]
    return told | {kind: read("import-passages", kind=kind)["results"] for kind in ChangeKind.values}
