import pytest
from django.urls import reverse

from apps.retrieval.models import System
from tests.factories import make_project
from tests.retrieval.factories import make_queries, make_run, make_snapshot, make_system

pytestmark = pytest.mark.django_db


def page(project):
    return reverse("retrieval:new-fusion", args=[project.slug])


def pair(project):
    return make_system(project), make_system(project, "LSA", "lsa", dimensions=2)


def make_by_page(lead, project, systems):
    values = {"name": "Both", "systems": [system.pk for system in systems], "k": "60"}
    return lead.post(page(project), values)


def test_a_lead_fuses_two_systems(lead, project):
    answer = make_by_page(lead, project, pair(project))

    made = System.objects.get(kind="fusion")
    assert answer.headers["location"] == reverse("retrieval:system", args=[project.slug, made.pk])
    shown = lead.get(answer.headers["location"]).content.decode()
    assert "BM25, LSA" in shown


def test_one_system_is_refused_with_the_reason(lead, project):
    answer = make_by_page(lead, project, pair(project)[:1])

    assert answer.status_code == 400
    assert "A fusion needs at least two different systems" in answer.content.decode()


def test_systems_of_another_project_are_not_offered(lead, project):
    theirs = make_system(make_project("Theirs"), "Not ours")

    answer = make_by_page(lead, project, [*pair(project), theirs])

    assert answer.status_code == 400
    assert "Not ours" not in lead.get(page(project)).content.decode()


def test_without_two_systems_the_page_says_what_to_do(lead, project):
    make_system(project)

    assert "A fusion needs two systems." in lead.get(page(project)).content.decode()


def test_a_fused_run_leads_to_the_runs_it_draws_on(lead, project):
    make_queries(project)
    snapshot = make_snapshot(project)
    make_by_page(lead, project, pair(project))

    run = make_run(project, snapshot, System.objects.get(kind="fusion"))
    shown = lead.get(reverse("retrieval:run", args=[project.slug, run.pk])).content.decode()

    assert "Combined from" in shown
    assert "bm25@1" in shown
    assert "lsa@1" in shown
