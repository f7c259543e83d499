"""A search log becomes queries in the browser, by keys: its columns, the draw, and each query read before it enters."""

from datetime import timedelta
from itertools import product

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.queries.models import Query
from apps.querylogs.execution import received
from apps.querylogs.formats.spans import spans_of_body
from apps.querylogs.models import MaskedName, OfferedQuery, QueryLog
from apps.retrieval.models import Run
from tests.e2e import looking
from tests.e2e.keyboard import Keyboard
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_project
from tests.queries.factories import make_query
from tests.querylogs.factories import START, TERMS, VERBS, Searched, as_csv, otlp_json, phoenix_lines, searches
from tests.running_jobs import run_jobs
from tests.triples.factories import make_snapshot as make_passages

pytestmark = pytest.mark.django_db(transaction=True)


def make_room():
    project = make_project("Tarnwick Handbook")
    text = " ".join((*VERBS, *TERMS, "site", "login"))
    make_passages(project, {"SEC-1": f"How to {text}."})
    make_query(project, outside_id="Q001", text="open the archive")
    return project


project = shared(make_room)


def rows() -> list[list[str]]:
    found = searches(700)
    for person in range(9):
        found.append(
            [f"brightwater login of user{person}@example.com", f"u{person}", "2026-08-05T10:00:00", "0", "", ""]
        )
        for hour in range(24):  # the most frequent query, which is always offered
            found.append(["brightwater badge", f"u{person}", f"2026-08-06T{hour:02}:00:00", "3", "", ""])
    return found


def test_a_log_is_mapped_drawn_and_read_by_keys(project, new_context, live_server, tmp_path):
    file = tmp_path / "searches-august.csv"
    file.write_bytes(as_csv(rows()))
    lead = Keyboard(new_context(), live_server.url)
    page = lead.page
    lead.sit_down(lead_of(project), f"/p/{project.slug}/queries/logs/")
    lead.look_over()
    lead.tab_to(page.get_by_role("link", name="Import a search log"))
    lead.turn("Enter")
    page.get_by_label("File", exact=True).set_input_files(file)
    lead.tab_to(page.get_by_role("button", name="Preview"))
    lead.turn("Enter")

    lead.reads("What is in this search log?")
    expect(page.get_by_label("uid")).to_have_value("person")
    expect(page.get_by_text("E-mail address")).to_be_visible()
    assert "user3@example.com" not in page.content()
    looking.looks_well(page, "log-mapping")
    lead.write_into(page.get_by_label("Offer"), "20")
    lead.press("Tab", "t")
    expect(page.get_by_role("button", name="Draw 20 queries to read")).to_be_visible()
    lead.press("b")
    expect(page.locator("input[name=plan]:checked")).to_have_value("balanced")
    lead.turn("Control+Enter")

    log = QueryLog.objects.get(project=project)
    assert log.plan == "balanced"
    lead.sit_down(lead_of(project), f"/p/{project.slug}/queries/logs/{log.pk}/")
    looking.looks_well(page, "log-reading")
    lead.reads("", "h1")
    lead.press("n")
    lead.type("of the canteen")
    lead.press(
        "Enter", "e", "Escape", "Escape"
    )  # the note keeps nothing, and leaving the words does not leave the page
    expect(page.locator("#edit")).to_be_hidden()
    assert not OfferedQuery.objects.filter(log=log).exclude(state="waiting").exists()
    for _ in range(20):
        shown = OfferedQuery.objects.filter(log=log, state="waiting").order_by("position").first()
        lead.reads("", "h1")
        if "brightwater" in shown.text:
            lead.press("m")
            expect(page.locator("[data-shown]")).to_have_text("brightwater")
            looking.looks_well(page, "log-reading-mask")
            lead.turn("Enter")
            expect(page.get_by_role("heading", level=1)).to_contain_text("customer")
        lead.turn("a")
    lead.reads(log.name)
    assert Query.objects.filter(project=project).count() == 21
    assert not Query.objects.filter(text__icontains="brightwater").exists()
    assert list(MaskedName.objects.values_list("name", flat=True)) == ["brightwater"]
    assert OfferedQuery.objects.get(log=log, position=1).note == "of the canteen"
    assert lead.pointers == []


def test_traces_become_queries_and_a_run_of_each_system_by_keys(new_context, live_server, tmp_path):
    """From a file of traces to runs that can be pooled: nothing is there before but a project."""
    project = make_project("Osterby docs")
    found = []
    for person, (verb, term) in product(range(6), zip(VERBS, TERMS, strict=False)):
        about = {
            "person": f"u{person}",
            "conversation": f"s{person}",
            "trace": f"{person:031x}{len(found) % 16:x}{term}",
        }
        text = f"To {verb} the {term}, ask the front desk; it does so within the hour and writes to you afterwards."
        at = START + timedelta(minutes=len(found))
        passages = [("", text), ("", f"The {term} is in the second room on the left.")]
        found.append(Searched(f"{verb} the {term}", passages, at=at, reranked=passages[:1], **about))
    file = tmp_path / "assist-traces-nov.jsonl"
    file.write_bytes(phoenix_lines(found))
    lead = Keyboard(new_context(), live_server.url)
    page = lead.page
    lead.sit_down(lead_of(project), f"/p/{project.slug}/queries/logs/")
    lead.tab_to(page.get_by_role("link", name="Import a search log"))
    lead.turn("Enter")
    page.get_by_label("File", exact=True).set_input_files(file)
    lead.tab_to(page.get_by_role("button", name="Preview"))
    lead.turn("Enter")

    lead.reads("What is in this search log?")
    expect(page.get_by_role("heading", name="2 systems, as runs")).to_be_visible()
    expect(page.get_by_role("heading", name="6 conversations")).to_be_visible()
    looking.looks_well(page, "traces")
    lead.turn("Control+Enter")

    log = QueryLog.objects.get(project=project)
    lead.sit_down(lead_of(project), f"/p/{project.slug}/queries/logs/{log.pk}/")
    for number in range(log.offered.count()):
        lead.reads("", "h1")
        if number == 1:
            looking.looks_well(page, "traces-reading")
        lead.turn("a")
    lead.reads(log.name)
    looking.looks_well(page, "traces-runs")
    lead.turn("r")
    run_jobs()

    assert {run.system.name for run in Run.objects.filter(project=project)} == {"assist-search", "assist-rerank"}
    assert Query.objects.filter(project=project).count() == log.offered.count() == 8
    assert lead.pointers == []


def test_traces_that_came_in_are_taken_by_a_key(new_context, live_server, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    project = make_project("Osterby docs")
    found = [Searched("open the archive", [("", "Ask the desk.")], person=f"u{n}", trace=f"{n:032x}") for n in range(6)]
    received.receive(project, spans_of_body(otlp_json(found), is_json=True), timezone.now())
    lead = Keyboard(new_context(), live_server.url)
    lead.sit_down(lead_of(project), f"/p/{project.slug}/queries/logs/")
    looking.looks_well(lead.page, "traces-received")
    lead.turn("t")

    lead.reads("What is in this search log?")
    expect(lead.page.get_by_text("18 spans")).to_be_visible()
    assert received.waiting_in(project) is None
    assert lead.pointers == []
