"""Bulk steps over the API: the same preview as on the page, the same words, and the state of the job."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.triples.enums import State
from tests.factories import lead_of, make_member
from tests.review.factories import make_accepted, make_in_review, reload
from tests.running_jobs import run_jobs
from tests.triples.factories import make_draft, make_team

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_team(reviewers=3)


@pytest.fixture
def ask(client, project):
    client.force_login(lead_of(project))

    def ask(name, *args, **body):
        url = reverse(f"review-api:{name}", args=[project.slug, *args])
        return client.post(url, body, content_type="application/json")

    return ask


def test_a_set_is_previewed_done_followed_and_undone(client, project, ask):
    accepted, draft = make_accepted(project), make_draft(project)
    body = {"kind": "retire", "triples": [accepted.pk, draft.pk], "reason": "out_of_scope"}

    shown = ask("bulk-preview", **body).json()

    assert (shown["selected"], shown["can"]) == (2, [accepted.label])
    assert shown["sentence"] == "2 Q&As: 1 is retired; 1 stays as it is."
    assert shown["cannot"] == [
        {"reason": "It is draft; only an accepted Q&A can be retired.", "number": 1, "triples": [draft.label]}
    ]
    assert reload(accepted).state == State.ACCEPTED
    begun = ask("bulk", digest=shown["digest"], **body)
    assert begun.status_code == 201
    run_jobs()
    at = reverse("review-api:bulk-step", args=[project.slug, begun.json()["id"]])
    state = client.get(at).json()
    assert (state["done"], state["undoable"], state["left_out"], state["job"]["state"]) == (1, 1, [], "done")
    assert reload(accepted).state == State.RETIRED

    assert ask("bulk-undo", begun.json()["id"]).status_code == 200
    run_jobs()
    state = client.get(at).json()
    assert (state["undone"], state["undo_job"]["state"]) == (1, "done")
    assert reload(accepted).state == State.ACCEPTED
    assert ask("bulk-undo", begun.json()["id"]).json()["code"] == "not_undoable"


def test_a_filter_of_the_board_selects_all_that_match(project, ask):
    triples = [make_in_review(project) for _ in range(3)]
    make_accepted(project)
    body = {"kind": "assign", "filter": {"state": "in_review"}, "replace": "unanswered", "reason": "Holiday."}

    shown = ask("bulk-preview", **body).json()

    assert (shown["selected"], len(shown["can"])) == (3, 0)
    assert len(shown["cannot"][0]["triples"]) == 3
    heir = make_member(project, Role.REVIEWER, name="Heir")
    shown = ask("bulk-preview", to=[heir.pk], **body).json()
    assert shown["cannot"][0]["reason"].startswith("None of the chosen people")
    make_member(project, Role.REVIEWER, name="Second")
    assert ask("bulk-preview", to=[], **body).json()["missing"] == "Choose who reviews them."
    shown = ask("bulk-preview", **body).json()
    assert shown["can"] == [triple.label for triple in triples]
    assert sum(share["number"] for share in shown["reviews"]) == 6
    assert ask("bulk", digest="0" * 64, **body).json()["code"] == "selection_changed"


def test_source_and_domain_are_left_alone_unless_they_are_sent(project, ask):
    triple = make_draft(project, domain="access")
    body = {"kind": "describe", "triples": [triple.pk]}

    assert ask("bulk-preview", **body).json()["missing"] == "Choose a source or a domain."
    assert ask("bulk-preview", source=None, **body).json()["cannot"][0]["reason"] == "It has them already."
    shown = ask("bulk-preview", domain="", **body).json()
    assert shown["can"] == [triple.label]
    ask("bulk", digest=shown["digest"], domain="", **body)
    run_jobs()
    assert reload(triple).domain == ""


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "melt", "filter": {}}, "kind"),
        ({"kind": "retire"}, "triples"),
        ({"kind": "retire", "triples": [1], "filter": {}}, "triples"),
        ({"kind": "retire", "filter": {"state": "melted"}}, "state"),
        ({"kind": "retire", "filter": {}, "reason": "melted"}, "retire"),
        ({"kind": "describe", "filter": {}, "source": 10**9}, "source"),
        ({"kind": "assign", "filter": {}, "to": [10**9]}, "to"),
        ({"kind": "submit", "filter": {}, "answers": {"melted": "x"}}, "answers"),
        ({"kind": "submit", "filter": {}, "colour": "x"}, "colour"),
    ],
)
def test_a_wrong_body_is_told_which_field(ask, body, field):
    answer = ask("bulk-preview", **body)

    assert answer.status_code == 400
    assert field in str(answer.json())
