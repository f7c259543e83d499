"""The preview of documents that make a new edition: what changes stands on top, with the way to its page."""

import re

import pytest
from django.urls import reverse

from apps.corpus.actions.imports import confirm_import
from apps.corpus.models import Corpus
from tests.corpus.factories import make_document_import, make_snapshot, zipped
from tests.factories import AT, lead_of, make_project

pytestmark = pytest.mark.django_db

PAGES = {f"p{n}.md": f"# Page {n}\n\nIt says {n}.\n" for n in range(20)}


def preview_of(client, project, pages, **options) -> str:
    item = make_document_import(zipped(pages), project=project, **options)
    client.force_login(lead_of(project))
    return client.get(reverse("corpus:import", args=[project.slug, item.pk])).content.decode()


@pytest.fixture
def project():
    project = make_project()
    first = make_document_import(zipped(PAGES), project=project)
    confirm_import(import_id=first.pk, actor=lead_of(project), at=AT)
    make_snapshot(corpus=Corpus.objects.get())
    return project


def test_the_changes_and_the_page_of_the_edition_come_before_what_was_read(client, project):
    pages = {**PAGES, "p7.md": "# Page 7\n\nIt says something else.\n", "a.md": "# New\n\nIt is new.\n"}

    page = preview_of(client, project, pages, corpus=Corpus.objects.get().slug)

    assert page.index("What changes") < page.index("Compare with") < page.index("21 files are read")
    assert page.count("What changes") == page.count("Compare with") == 1
    assert re.findall(r'<h3 class="sample-title"[^>]*>([^<]+)</h3>', page) == ["Page 7", "New"]
    assert "2 passages that change shown, of 21" in page
    assert re.findall(r'class="button primary"[^>]*>([^<]+)<', page) == [f"Compare with {Corpus.objects.get().name} 1"]


def test_a_first_import_shows_passages_from_everywhere_and_is_imported_by_the_primary_button(client):
    page = preview_of(client, make_project(), PAGES)

    assert len(re.findall(r'<h3 class="sample-title"[^>]*>', page)) == 10
    assert "What changes" not in page
    assert re.findall(r'class="button primary"[^>]*>([^<]+)<', page) == ["Import 20 passages"]
