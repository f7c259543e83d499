"""A change over the API never empties what its body leaves out."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator

from apps.accounts.models import Project, User
from apps.corpus.models import Snapshot
from apps.queries.models import Query
from apps.triples.models import Triple
from tests.world import ROLE_HOLDERS, Things, World

pytestmark = [pytest.mark.django_db, pytest.mark.once]

Body = dict[str, Any]


def passage_of(project: Project) -> Body:
    entry = Snapshot.objects.filter(corpus__project=project).latest("pk").entries.earliest("position")
    words = entry.version.text.split()
    return {"block_id": entry.block.outside_id, "quotes": [" ".join(words[:3])]}


def fixed(query: Query) -> Body:
    """The words of a query that was asked: nobody may change them."""
    return {"text": query.text, "intent": query.intent, "description": query.description}


NAMES = {
    "queries_edit": "queries-api:edit",
    "queries_edit_source": "queries-api:source-edit",
    "systems_pace": "systems-api:pace",
    "runs_annotate": "retrieval-api:run",
    "ledger_write": "evaluation-api:ledger",
    "triples_draft_save": "triples-api:draft",
    "settings_change": "settings-api:settings",
    "versions_change": "goldsets-api:change",
}
NO_CHANGES = (
    "editions_import_take editions_snapshot_take evaluations_rest_request pools_grow loaded_indexes_create_system "
    "versions_freeze slices_draw public_texts_record"
)
CHANGES: dict[str, Callable[[Project], Body]] = {
    "queries-api:edit": lambda project: {
        **fixed(Query.objects.filter(project=project).earliest("pk")),
        "difficulty": "hard",
        "domain": "keys",
        "expertise": "layperson",
        "answer_format": "number",
        "asked_on": "2026-03-01",
        "group": "vault",
        "label": "Keys",
        "query_type": "how",
        "source": project.sources.latest("pk").slug,
        "tags": ["night"],
        "facets": [{"id": "1", "words": "Who rotates them"}],
    },
    "queries-api:source-edit": lambda project: {"name": "Interviews", "kind": "interview", "target_share": 0.125},
    "systems-api:pace": lambda project: {
        "at_once": 2,
        "per_second": 3.0,
        "tries": 4,
        "first_wait": 2.0,
        "connect": 5.0,
        "read": 6.0,
        "whole": 7.0,
        "stop_after": 8,
    },
    "retrieval-api:run": lambda project: {"note": "Of Monday.", "commit": "a1b2c3"},
    "evaluation-api:ledger": lambda project: {
        "tried": "Longer passages",
        "commit": "a1b2c3",
        "configuration": "k1 = 0.7",
        "verdict": "Kept",
        "cost": "1.2500",
        "figures": {"clicks": 0.5},
    },
    "triples-api:draft": lambda project: {
        "question": "Who opens the vault?",
        "answer": "The porter.",
        "blocks": [passage_of(project)],
        "needs_all_blocks": False,
        "source": project.sources.earliest("pk").slug,
        "domain": "keys",
        "difficulty": "hard",
        "note": "Of the vault.",
        "reasons": {"longer": "It is short."},
    },
    "settings-api:settings": lambda project: {
        "name": "Other",
        "escalation_days": 9,
        "internal_words": "Tarn",
        "regression_bar": 0.3,
    },
    "goldsets-api:change": lambda project: {
        "snapshot": Snapshot.objects.filter(corpus__project=project).latest("pk").digest,
        "rounds": [Things(project).round.pk],
        "test_share": 0.25,
        "seed": 77,
        "group_by": ["document"],
        "split_by": "time",
        "note": "For the spring.",
    },
}
"""A body with every field that may be left out; of the settings some, since they are one rule for all."""
SOME = {"settings_change", "ledger_write"}  # of the ledger without prices, which are another way to say the cost
STAMPS = {"edit_version", "written_at", "written_by", "checks"}


@cache
def optional() -> dict[str, set[str]]:
    """The fields of each body that may be left out whole, but for the version that was read, by its operation."""
    schema = SchemaGenerator().get_schema(public=True)
    found = {}
    for methods in schema["paths"].values():
        post = methods.get("post", {})
        for body in list(post.get("requestBody", {}).get("content", {}).values())[:1]:
            named = body["schema"].get("$ref", "").rpartition("/")[2]
            fields = schema["components"]["schemas"][named] if named else body["schema"]
            if set(fields.get("required", [])) <= {"edit_version"} and fields.get("properties"):
                found[post["operationId"]] = fields["properties"].keys() - {"edit_version"}
    return found


def test_every_body_that_may_be_left_out_is_that_of_a_change_here_or_changes_nothing_that_is():
    bodies = {one for one in optional() if "_import_" not in one or one in NO_CHANGES}

    assert bodies == NAMES.keys() | set(NO_CHANGES.split())


def place_of(world: World, client: Client, name: str) -> str:
    """The address, with somebody signed in who may change what it names."""
    client.force_login(User.objects.get(email=ROLE_HOLDERS["lead"]))
    if name == "goldsets-api:change":
        gold_set = Things(world.project).version.gold_set
        body = CHANGES[name](world.project)
        drafts = reverse("goldsets-api:drafts", args=[world.project.slug, gold_set.slug])
        made = client.post(drafts, {**body, "test_share": 0.5}, content_type="application/json")
        assert made.status_code == 201, made.content
        return reverse(name, args=[world.project.slug, gold_set.slug, gold_set.versions.latest("number").number])
    if name == "triples-api:draft":
        draft = Triple.objects.get(pk=world.kwargs(name)["pk"])
        client.force_login(draft.author)
    return world.url(name)


@pytest.mark.parametrize("operation", sorted(NAMES))
def test_what_a_body_leaves_out_stays_as_it_is(world, client, operation):
    name = NAMES[operation]
    url, whole = place_of(world, client, name), CHANGES[name](world.project)
    assert operation in SOME or whole.keys() == optional()[operation]

    answer = sent(client, url, name, whole)
    after = [sent(client, url, name, {key: value}) for key, value in whole.items()]

    assert [{key for key in answer if one[key] != answer[key]} - STAMPS for one in after] == [set()] * len(after)


def sent(client: Client, url: str, name: str, body: Body) -> Body:
    if name == "triples-api:draft":
        body = {**body, "edit_version": client.get(url).json()["edit_version"]}
    answer = client.post(url, body, content_type="application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()
