"""Degraded wordings of queries: the same from one seed, and added once to each original."""

import pytest
from django.urls import reverse

from apps.audit.models import Event
from apps.queries.actions.queries import QueryRefused, add_variants, edit_query, retire_query
from apps.queries.core.variants import Known, Pair, degraded, pairs_in
from apps.queries.enums import VariantKind
from apps.queries.models import Query
from tests.factories import AT, lead_of, make_project
from tests.queries.factories import make_query, make_source

TEXT = "How often are the TLS keys of the Hütte rotated in 2026?"


@pytest.mark.parametrize(
    ("kind", "text", "wording"),
    [
        ("marks", "Größe der Hütte à Łódź", "Grosse der Hutte a Lodz"),
        ("lower", TEXT, "how often are the tls keys of the hütte rotated in 2026?"),
        ("short", TEXT, "often tls keys hütte rotated 2026"),
        ("short", "wie oft werden die Schlüssel gewechselt", "oft schlüssel gewechselt"),
        ("marks", "hut hours", ""),
        ("lower", "hut hours", ""),
        ("short", "hut hours", ""),
        ("short", "what is it", ""),
        ("typo", "A1 TLS 2026", ""),
        ("slip", "когда открыт", ""),
    ],
)
def test_what_people_leave_out_is_left_out_and_nothing_else(kind, text, wording):
    assert degraded(text, kind, 1) == wording


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("which TLS do we use", "which transport layer security do we use"),
        ("is Transport Layer Security on", "is TLS on"),
        ("is TLS, transport layer security, on", "is TLS, TLS, on"),
        ("TLSA records", ""),
        ("tls off", ""),
        ("MFA and TLS", "MFA and transport layer security"),
    ],
)
def test_an_acronym_of_the_list_is_spelled_out_and_the_words_are_shortened(text, wording):
    known = Known(acronyms=pairs_in("TLS = transport layer security\n\nSSO= single sign-on"))

    assert degraded(text, "acronym", 1, known) == wording


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("key rotation interval", "Schlüsselwechsel interval"),
        ("Who ordered the Key rotation of each key?", "Who ordered the Schlüsselwechsel of each Schlüssel?"),
        ("monkeys", ""),
    ],
)
def test_all_terms_of_the_list_are_put_in_the_other_language_longer_ones_first(text, wording):
    terms = [Pair("key", "Schlüssel"), Pair("key rotation", "Schlüsselwechsel")]

    assert degraded(text, "language", 1, Known(terms=terms)) == wording
    assert degraded(text, "language", 1) == ""


@pytest.mark.parametrize(
    ("language", "text", "wording"),
    [
        ("English", "key rotation interval", "What do the documents say about key rotation interval?"),
        ("German", "Schlüsselwechsel Frist", "Was steht in den Unterlagen zu Schlüsselwechsel Frist?"),
        ("English", "how often are keys rotated", ""),
        ("English", "key rotation interval?", ""),
        ("", "key rotation interval", ""),
        ("Cyrillic script", "замена ключей", ""),
    ],
)
def test_keywords_become_a_question_in_the_language_of_the_project_where_that_is_known(language, text, wording):
    assert degraded(text, "question", 1, Known(language=language)) == wording


@pytest.mark.parametrize("lines", ["TLS", "= transport", "TLS =", "A = b\nTLS: transport"])
def test_a_line_that_is_no_acronym_is_named(lines):
    with pytest.raises(ValueError, match=r"Line [12], “"):
        pairs_in(lines)


@pytest.mark.parametrize("kind", ["typo", "slip"])
def test_one_word_in_five_is_mistyped_and_capitals_and_figures_stay(kind):
    for seed in range(50):
        wording = degraded(TEXT, kind, seed)
        changed = [pair for pair in zip(TEXT.split(), wording.split(), strict=True) if pair[0] != pair[1]]
        assert 1 <= len(changed) <= 3
        assert {"TLS", "2026?"} <= set(wording.split())
        assert all(abs(len(one) - len(other)) <= 1 for one, other in changed)


def test_a_seed_makes_the_same_variant_again_and_another_seed_another():
    assert degraded(TEXT, "typo", 7) == degraded(TEXT, "typo", 7)
    assert len({degraded(TEXT, "typo", seed) for seed in range(20)}) > 5


def add(project, *queries, kinds=VariantKind.values, seed=1):
    ids = [query.pk for query in queries]
    return add_variants(project=project, query_ids=ids, kinds=kinds, seed=seed, actor=lead_of(project), at=AT)


@pytest.mark.django_db
def test_variants_are_like_their_original_and_are_added_once():
    project = make_project()
    source = make_source(project)
    one = make_query(
        project, outside_id="Q1", text="Who opens the archive", source=source, domain="access", intent="A name."
    )
    make_query(project, outside_id="Q1-lower", text="taken id")

    added = add(project, one)

    assert [(query.outside_id, query.metadata["variant"]) for query in added] == [
        ("Q1-typo", "typo"),
        ("Q1-slip", "keyboard slip"),
        ("Q1-lower-2", "lower case"),
        ("Q1-short", "telegraphic"),
    ]
    assert {(query.source, query.domain, query.intent) for query in added} == {(source, "access", "A name.")}
    assert added[2].metadata == {"variant_of": "Q1", "variant": "lower case", "variant_seed": 1}
    assert Event.objects.filter(action="query.created", after__has_key="variant_of").count() == 4
    assert add(project, one, *added, seed=2) == []
    with pytest.raises(QueryRefused, match="cannot be changed"):
        edit_query(query_id=one.pk, actor=lead_of(project), at=AT, text="Who shuts the archive")


@pytest.mark.django_db
def test_retired_queries_and_those_of_other_projects_get_none():
    project = make_project()
    gone, foreign = make_query(project, text="Who opens"), make_query(text="Who opens")
    retire_query(query_id=gone.pk, reason="Doubled", actor=lead_of(project), at=AT)

    assert add(project, gone, foreign) == []
    with pytest.raises(QueryRefused, match="at least one kind"):
        add(project, gone, kinds=[])
    with pytest.raises(QueryRefused, match="Select queries first"):
        add(project)


@pytest.mark.django_db
def test_a_lead_sees_variants_before_they_are_added_and_the_api_adds_them(client):
    project = make_project()
    one, two = (make_query(project, outside_id=name, text=f"Who opens the {name} door") for name in ("Q1", "Q2"))
    client.force_login(lead_of(project))
    page = reverse("queries:variants", args=[project.slug])

    shown = client.post(page, {"which": "ticked", "query": [one.pk]})
    assert "4 new variants" in shown.text
    assert "who opens the q1 door" in shown.text
    assert Query.objects.count() == 2
    body = {"which": "ticked", "query": [one.pk], "kinds": ["lower", "short"], "seed": "1", "step": "apply"}
    body |= {"take": [f"{one.pk}-lower"]}
    assert "1 variant was added" in client.post(page, body, follow=True).text
    assert "1 new variant" in client.post(page, body | {"step": "preview"}).text

    api = reverse("queries-api:variants", args=[project.slug])
    body = {"query_ids": ["Q1", "Q2"], "kinds": ["lower", "marks"]}
    answer = client.post(api, body, content_type="application/json")
    assert (answer.status_code, answer.json()) == (201, {"query_ids": ["Q2-lower"]})
    assert two.metadata == {}
