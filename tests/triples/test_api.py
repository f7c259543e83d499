"""Writing triples over the API, as the bench does, and retiring them."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.factories import lead_of, make_member
from tests.queries.factories import make_source
from tests.review.factories import make_accepted, make_disputed, make_draft, make_triple, reload
from tests.triples.factories import make_candidate, make_team

pytestmark = pytest.mark.django_db


@pytest.fixture
def author(project):
    return make_member(project, Role.ANNOTATOR, name="Author")


@pytest.fixture
def ask(client, project):
    """Asks somebody's endpoint of triples by its name, with a body or without one."""

    def ask(person, name, body=None, *ids):
        client.force_login(person)
        address = reverse(f"triples-api:{name}", args=[project.slug, *ids])
        return client.get(address) if body is None else client.post(address, body, content_type="application/json")

    return ask


def passage_of(project):
    """A passage of the newest snapshot: its id, and its first four words."""
    version = make_draft(project).revision.expected_blocks.first().version
    return version.block.outside_id, " ".join(version.text.split()[:4])


def test_a_draft_is_started_once_for_a_key_read_and_saved(project, author, ask):
    block, quote = passage_of(project)
    body = {
        "question": "How long?",
        "answer": "Four hours.",
        "blocks": [{"block_id": block, "quotes": [quote]}],
        "idempotency_key": "one",
    }

    started = ask(author, "drafts", body)
    again = ask(author, "drafts", body)
    pk, version = started.json()["triple_id"], started.json()["edit_version"]
    saved = ask(author, "draft", body | {"answer": "Five hours.", "edit_version": version}, pk)
    outdated = ask(author, "draft", body | {"answer": "Six hours.", "edit_version": version}, pk)

    assert (started.status_code, again.status_code) == (201, 201)
    assert again.json() == started.json()
    (shown,) = started.json()["blocks"]
    assert (shown["block_id"], [" ".join(one["text"].split()) for one in shown["evidence"]]) == (block, [quote])
    assert (saved.status_code, saved.json()["answer"]) == (200, "Five hours.")
    assert (outdated.status_code, outdated.json()["code"]) == (409, "edit_conflict")
    assert ask(author, "draft", None, pk).json()["answer"] == "Five hours."


def test_what_a_save_leaves_out_stays_and_a_warning_is_answered_by_the_key_that_is_shown(project, author, ask):
    block, quote = passage_of(project)
    said = {"question": "How long may a session last at most?", "answer": quote, "idempotency_key": "one"}
    ask(author, "drafts", said)
    whole = said | {
        "blocks": [{"block_id": block, "quotes": [quote]}], "domain": "access", "difficulty": "easy",
        "note": "See 3.6.", "needs_all_blocks": True, "source": make_source(project).slug, "idempotency_key": "two",
    }  # fmt: skip
    started = ask(author, "drafts", whole).json()
    before = Triple.objects.values().get(pk=started["triple_id"])

    keys = [check["key"] for check in started["checks"] if check["code"] == "duplicate"]
    reasons = dict.fromkeys(keys, "It asks of another one.")
    body = {"edit_version": started["edit_version"], "answer": f"{quote}.", "reasons": reasons}
    saved = ask(author, "draft", body, started["triple_id"]).json()

    same = ("question", "blocks", "note", "needs_all_blocks")
    assert {name: saved[name] for name in same} == {name: started[name] for name in same}
    assert saved["answer"] == f"{quote}."
    after = Triple.objects.values().get(pk=started["triple_id"])
    kept = ("source_id", "domain", "difficulty")
    assert [after[name] for name in kept] == [before[name] for name in kept]
    assert after["source_id"]
    assert keys == [f"duplicate:{reload(Triple.objects.get(pk=started['triple_id'] - 1)).label}"]
    assert reload(Triple.objects.get(pk=started["triple_id"])).revision.warnings[0]["key"] == keys[0]


def test_a_draft_is_its_authors(project, author, ask):
    pk = ask(author, "drafts", {"question": "Mine?", "idempotency_key": "one"}).json()["triple_id"]
    other = make_member(project, Role.ANNOTATOR, name="Another")

    assert ask(other, "draft", None, pk).status_code == 404
    assert ask(other, "draft", {"edit_version": 0}, pk).status_code == 404
    assert ask(lead_of(project), "draft", None, pk).json()["code"] == "not_editable"
    assert ask(other, "withdraw", {}, pk).status_code == 404


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"blocks": [{"block_id": "nowhere"}]}, "blocks"),
        ({"blocks": [{"block_id": "access", "quotes": ["nobody wrote this"]}]}, "blocks"),
        ({"source": "nobody"}, "source"),
        ({"query": "Q999"}, "query"),
        ({"corpus": "nothing"}, "corpus"),
    ],
)
def test_what_is_not_there_is_named(author, ask, more, field):
    answer = ask(author, "drafts", {"question": "Why?", "idempotency_key": "one", **more})

    assert answer.status_code == 400
    assert field in answer.json()["errors"]
    if "quotes" in str(more):
        assert answer.json()["errors"]["blocks"] == ["Line 1 is not in the text of the passage."]
    assert not Triple.objects.exists()


def test_a_draft_is_withdrawn(author, ask):
    pk = ask(author, "drafts", {"question": "Mine?", "idempotency_key": "one"}).json()["triple_id"]

    withdrawn = ask(author, "withdraw", {}, pk)
    again = ask(author, "withdraw", {}, pk)

    assert (withdrawn.status_code, withdrawn.json()["state"]) == (200, "withdrawn")
    assert (again.status_code, again.json()["code"]) == (409, "not_withdrawable")


def test_candidates_are_listed_adopted_and_rejected(project, author, ask):
    one, two = make_candidate(project), make_candidate(project)

    listed = ask(author, "candidates").json()["triples"]
    adopted = ask(author, "adopt", {}, one.pk)
    rejected = ask(author, "reject", {"reason": "It is no question."}, two.pk)

    assert [row["id"] for row in listed] == [one.pk, two.pk]
    assert (adopted.status_code, adopted.json()["state"]) == (200, "draft")
    assert rejected.status_code == 204
    assert ask(author, "candidates").json() == {"triples": [], "next": None}
    assert Triple.objects.get(pk=one.pk).author == author
    assert ask(author, "reject", {"reason": "Late."}, one.pk).json()["code"] == "not_found"


def test_a_lead_retires_what_is_accepted_and_nobody_else(project, author, ask):
    triple = make_accepted(project)
    body = {"reason": "out_of_scope"}

    assert ask(author, "retire", body, triple.pk).status_code == 403
    assert ask(lead_of(project), "retire", {"reason": "bored"}, triple.pk).status_code == 400
    retired = ask(lead_of(project), "retire", body, triple.pk)
    assert (retired.status_code, retired.json()["state"]) == (200, "retired")
    assert ask(lead_of(project), "retire", body, triple.pk).json()["code"] == "not_retirable"


# Several at once: all of them, or none -----------------------------------------------------------------------------


@pytest.fixture
def retire(ask):
    def retire(person, *triples, **more):
        body = {"triples": [getattr(triple, "pk", triple) for triple in triples], "reason": "block_gone"} | more
        return ask(person, "retire-many", body)

    return retire


def test_stale_and_accepted_triples_are_retired_for_one_reason(project, retire):
    triples = [make_triple(project, State.ACCEPTED, stale=True), make_triple(project, State.ACCEPTED)]

    answer = retire(lead_of(project), *triples)

    assert (answer.status_code, answer.json()) == (200, {"retired": 2})
    assert [reload(triple).retire_reason for triple in triples] == ["block_gone"] * 2
    assert Event.objects.filter(project=project, action="triple.retire").count() == 2


def test_with_one_that_is_not_accepted_none_is_retired(project, retire):
    accepted, disputed = make_triple(project, State.ACCEPTED), make_disputed(project)

    answer = retire(lead_of(project), accepted, disputed)

    assert (answer.status_code, answer.json()["code"]) == (409, "not_retirable")
    assert disputed.label in answer.json()["detail"]
    assert reload(accepted).state == State.ACCEPTED


def test_with_one_of_another_project_none_is_retired(project, retire):
    accepted, other = make_triple(project, State.ACCEPTED), make_triple(make_team(), State.ACCEPTED)

    assert retire(lead_of(project), accepted, other).status_code == 400
    assert {reload(triple).state for triple in (accepted, other)} == {State.ACCEPTED}


@pytest.mark.parametrize(
    ("triples", "more"), [([], {}), (["T-0001"], {}), ([-1], {}), ([1], {"reason": "dull"}), ([2**80], {})]
)
def test_a_wrong_body_is_refused(project, retire, triples, more):
    assert retire(lead_of(project), *triples, **more).status_code == 400


def test_only_a_lead_retires(project, retire):
    triple = make_triple(project, State.ACCEPTED)

    assert retire(make_member(project, Role.ANNOTATOR), triple).status_code == 403
    assert reload(triple).state == State.ACCEPTED
