from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.corpus.models import Import
from apps.queries.actions import queries as queries_actions
from apps.queries.models import Permission, Query, Source
from tests.factories import AT, lead_of, make_member, make_project
from tests.queries.factories import make_permission, make_query, make_source

pytestmark = pytest.mark.django_db


def signed_in(client, project, *roles):
    client.force_login(make_member(project, *roles) if roles else lead_of(project))
    return client


def page(client, name: str, *args, **params):
    return client.get(reverse(f"queries:{name}", args=args), params)


def test_an_empty_project_says_what_to_do(client):
    project = make_project()

    answer = page(signed_in(client, project), "list", project.slug)

    assert "No queries yet" in answer.text
    assert reverse("corpus:import-new", args=[project.slug, "queries"]) in answer.text
    assert "No queries and no Q&amp;As yet" in page(client, "balance", project.slug).text


@pytest.mark.parametrize(("name", "statements"), [("list", 8), ("sources", 7)])
@pytest.mark.parametrize("count", [1, 3])
def test_a_list_takes_as_many_statements_for_one_and_three(client, name, statements, count, django_assert_num_queries):
    project = make_project()
    for _ in range(count):
        source = make_permission(make_source(project)).source
        make_query(project, source=source)
    signed_in(client, project)

    with django_assert_num_queries(statements):
        page(client, name, project.slug)


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({}, {"Q1", "Q2"}),
        ({"find": "backups"}, {"Q2"}),
        ({"find": "q1"}, {"Q1"}),
        ({"domain": "security"}, {"Q1"}),
        ({"difficulty": "hard"}, {"Q2"}),
        ({"state": "retired"}, {"Q3"}),
        ({"state": "used"}, {"Q2"}),
        ({"state": "all"}, {"Q1", "Q2", "Q3"}),
        ({"domain": "nonsense"}, {"Q1", "Q2"}),
        ({"source__project__slug": "x"}, {"Q1", "Q2"}),
    ],
)
def test_the_list_is_narrowed_by_what_it_offers_and_nothing_else(client, params, found):
    project = make_project()
    make_query(project, outside_id="Q1", text="keys", domain="security")
    used = make_query(project, outside_id="Q2", text="backups", difficulty="hard")
    retired = make_query(project, outside_id="Q3", text="visitors")
    queries_actions.lock_queries([used.pk], at=AT)
    queries_actions.retire_query(query_id=retired.pk, reason="old", actor=lead_of(project), at=AT)

    answer = page(signed_in(client, project, Role.VIEWER), "list", project.slug, **params)

    assert {query.outside_id for query in answer.context["page"]} == found


def test_a_lead_adds_a_query(client):
    project = make_project()
    source = make_source(project)
    form = {"outside_id": "Q7", "text": "how long", "source": source.pk, "tags": "a, b, a"}

    answer = signed_in(client, project).post(reverse("queries:new", args=[project.slug]), form)

    query = Query.objects.get()
    assert answer.status_code == 302
    assert (query.outside_id, query.text, query.source, query.tags) == ("Q7", "how long", source, ["a", "b"])


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"outside_id": "Q 7", "text": "x"}, "An id cannot contain spaces."),
        ({"outside_id": "Q1", "text": "x"}, "This project already has a query Q1."),
        ({"outside_id": "Q7", "text": " "}, "This field is required."),
    ],
)
def test_an_invalid_query_is_reported_at_its_field(client, form, said):
    project = make_project()
    make_query(project, outside_id="Q1")

    answer = signed_in(client, project).post(reverse("queries:new", args=[project.slug]), form)

    assert answer.status_code == 400
    assert said in answer.text
    assert Query.objects.count() == 1


def test_a_source_of_another_project_cannot_be_chosen(client):
    project = make_project()
    foreign = make_source()

    answer = signed_in(client, project).post(
        reverse("queries:new", args=[project.slug]), {"outside_id": "Q1", "text": "x", "source": foreign.pk}
    )

    assert answer.status_code == 400
    assert Query.objects.count() == 0

    make_query(project)
    answer = press(client, project, "all", step="preview", source=foreign.slug)
    assert answer.status_code == 400
    assert "Select a valid choice" in answer.text


def test_editing_a_used_query_keeps_its_text(client):
    query = make_query(text="words")
    project = query.project
    queries_actions.lock_queries([query.pk], at=AT)
    edit = reverse("queries:edit", args=[project.slug, query.pk])

    shown = signed_in(client, project).get(edit)
    client.post(edit, {"text": "other", "domain": "security"})

    query.refresh_from_db()
    assert "Cannot be changed: this query was used in a run." in shown.text
    assert (query.text, query.domain) == ("words", "security")


def press(client, project, which, queries=(), *, params=None, **values):
    address = reverse("queries:change", args=[project.slug]) + (f"?{urlencode(params)}" if params else "")
    return client.post(address, {"which": which, "query": [query.pk for query in queries], **values}, follow=True)


def change(client, project, which, queries=(), *, params=None, **values):
    """Preview the change, then press the button below the preview."""
    seen = press(client, project, which, queries, params=params, step="preview", **values).context["seen"]
    return press(client, project, which, queries, params=params, step="apply", seen=seen, **values)


def test_selected_queries_are_changed_after_a_preview(client):
    project = make_project()
    source = make_source(project, name="Interviews")
    first, second, _ = (make_query(project, domain="doors", tags=["old", "kept"]) for _ in range(3))
    values = {"source": source.slug, "domain": "-", "difficulty": "hard", "add_tags": "new", "remove_tags": "old"}
    signed_in(client, project)

    form = press(client, project, "ticked", [first, second])
    seen = press(client, project, "ticked", [first, second], step="preview", **values)
    assert "Change 2 queries" in form.text
    assert "2 queries change" in seen.text
    assert seen.context["rows"] == [
        ("Source", None, source, 2),
        ("Difficulty", "", "hard", 2),
        ("Domain", "doors", "", 2),
        ("Tags", "old, kept", "kept, new", 2),
    ]
    assert not Query.objects.filter(source=source).exists()
    answer = change(client, project, "ticked", [first, second], params={"state": "live"}, **values)

    assert "2 queries were changed. The audit has each change." in answer.text
    assert answer.redirect_chain[0][0].endswith("?state=live")
    found = Query.objects.order_by("pk").values_list("source", "difficulty", "domain", "tags")
    assert list(found) == [(source.pk, "hard", "", ["kept", "new"])] * 2 + [(None, "", "doors", ["old", "kept"])]
    assert Event.objects.filter(action="query.edited").count() == 2


def test_all_that_match_the_filter_are_changed_also_those_of_later_pages(client, monkeypatch):
    monkeypatch.setattr("apps.queries.pages.views.PAGE_SIZE", 1)
    project = make_project()
    for number in range(3):
        make_query(project, text=f"how are backups kept {number}")
    other = make_query(project, text="until when is my bed held")
    signed_in(client, project)
    assert "Change all 3 matches" in page(client, "list", project.slug, find="backups").text

    change(client, project, "all", params={"find": "backups"}, query_type="how-to")

    assert list(Query.objects.exclude(query_type="how-to")) == [other]


def test_only_the_change_that_was_previewed_is_made(client):
    project = make_project()
    query = make_query(project)
    signed_in(client, project)
    seen = press(client, project, "all", step="preview", domain="doors").context["seen"]
    make_query(project)

    answer = press(client, project, "all", step="apply", seen=seen, domain="doors")

    assert "no longer those of the preview" in answer.text
    assert "2 queries change" in answer.text
    assert "no longer those" in press(client, project, "ticked", [query], step="apply", seen=seen, domain="x").text
    assert not Query.objects.exclude(domain="").exists()


def test_the_preview_counts_what_stays_as_it_is(client):
    project = make_project()
    make_query(project, domain="doors")
    make_query(project)
    retired = make_query(project)
    queries_actions.retire_query(query_id=retired.pk, reason="Doubled", actor=lead_of(project), at=AT)
    signed_in(client, project)

    seen = press(client, project, "all", params={"state": "all"}, step="preview", domain="doors")

    assert "1 query has these values already." in seen.text
    assert "1 retired query stays as it is." in seen.text
    assert "Change 1 query</button>" in seen.text


def test_an_empty_selection_or_change_gives_a_message(client, monkeypatch):
    project = make_project()
    make_query(project)
    make_query(project)
    signed_in(client, project)

    assert "Select queries first" in press(client, project, "ticked").text
    assert "Fill in at least one field" in press(client, project, "all", step="preview").text
    monkeypatch.setattr("apps.queries.rules.MOST_AT_ONCE", 1)
    assert "Filter the list first" in press(client, project, "all", step="apply", domain="doors").text


@pytest.mark.parametrize("count", [1, 12])
def test_a_preview_takes_as_many_statements_for_one_and_twelve(client, count, django_assert_num_queries):
    project = make_project()
    for _ in range(count):
        make_query(project, tags=["a"])
    signed_in(client, project)

    with django_assert_num_queries(9):
        press(client, project, "all", step="preview", domain="doors", add_tags="b")


def test_retiring_shows_the_reason(client):
    query = make_query()
    slug = query.project.slug
    signed_in(client, query.project)

    client.post(reverse("queries:retire", args=[slug, query.pk]), {"reason": "out of scope"})

    assert "out of scope" in page(client, "query", slug, query.pk).text


def test_only_leads_change_anything(client):
    query = make_query()
    permission = make_permission(make_source(query.project))
    slug = query.project.slug
    signed_in(client, query.project, Role.ANNOTATOR, Role.REVIEWER, Role.VIEWER)

    for name, args in [
        ("new", []),
        ("edit", [query.pk]),
        ("retire", [query.pk]),
        ("source-new", []),
        ("source-edit", [permission.source_id]),
        ("grant", [permission.source_id]),
        ("revoke", [permission.pk]),
    ]:
        assert client.post(reverse(f"queries:{name}", args=[slug, *args])).status_code == 403

    listed = page(client, "list", slug).text
    assert "Change selected" not in listed
    assert 'type="checkbox"' not in listed
    assert "Retire" not in page(client, "query", slug, query.pk).text
    assert "Add a source" not in page(client, "sources", slug).text


def test_a_source_with_its_permission(client):
    project = make_project()
    slug = project.slug
    signed_in(client, project)

    client.post(reverse("queries:source-new", args=[slug]), {"name": "Log", "kind": "query_log", "target": "40"})
    source = Source.objects.get()
    before = page(client, "source", slug, source.pk)
    client.post(
        reverse("queries:grant", args=[slug, source.pk]),
        {"owner": "Data office", "scope": "public", "expires_on": "2099-12-31"},
    )
    after = page(client, "source", slug, source.pk)

    permission = Permission.objects.get()
    assert source.target_share == 0.4
    assert 'In commands: <span class="id">log</span>' in before.text
    for warning in ("No valid permission.", "A version with queries or Q&amp;As of this source cannot be frozen."):
        assert warning in before.text
        assert warning not in after.text
    assert f"{permission.expires_at:%Y-%m-%d %H:%M}" == "2099-12-31 23:59"


def test_the_board_sets_the_mix_against_the_targets(client):
    project = make_project()
    log = make_source(project, name="Log", target_share=0.5)
    make_source(project, name="Interviews", target_share=0.5)
    for _ in range(4):
        make_query(project, source=log, difficulty="easy", domain="security")

    answer = page(signed_in(client, project), "balance", project.slug)

    assert "Below the target: Interviews by 2." in answer.text
    assert [share.value for share in answer.context["board"].strata[2].shares] == ["security"]


def test_queries_are_imported_through_the_page(client):
    project = make_project()
    signed_in(client, project)
    file = SimpleUploadedFile("q.qry", b".I 001\n.W\nfirst\n.I 004\n.W\nsecond\n")
    form = {"file": file, "format": "smart", "ids": "position", "source": ""}

    client.post(reverse("corpus:import-new", args=[project.slug, "queries"]), form)
    client.post(reverse("corpus:import-confirm", args=[project.slug, Import.objects.get().pk]))

    assert list(Query.objects.order_by("pk").values_list("outside_id", "text")) == [("1", "first"), ("2", "second")]


def test_no_page_promises_what_happens_to_a_public_release(client):
    source = make_source()
    query = make_query(source.project, source=None)
    slug = source.project.slug
    signed_in(client, source.project)

    pages = [
        page(client, "list", slug),
        page(client, "query", slug, query.pk),
        page(client, "source", slug, source.pk),
        client.get(reverse("corpus:import-new", args=[slug, "queries"])),
    ]

    assert [shown.status_code for shown in pages] == [200] * len(pages)
    assert not [shown for shown in pages if "public release" in shown.text]
