"""An import that is read again with other options."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.audit.models import Event
from apps.common.files.extent import Extent
from apps.corpus.actions import imports
from apps.corpus.enums import ImportState
from apps.corpus.execution import import_steps
from apps.corpus.execution.import_reading import preview
from apps.corpus.execution.import_steps import ImportRefused
from apps.corpus.models import Import
from tests.factories import AT, lead_of, make_project
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

ROW = json.dumps({"block_id": "b1", "document_id": "d1", "text": "Keys are rotated."}).encode()


def make_import(content: bytes = ROW, **options) -> Import:
    project = make_project()
    given = {"format": "jsonl", "ids": "file", "corpus": "+", "name": "Handbook", "mode": "replace"} | options
    return imports.start_import(
        project=project,
        kind="corpus",
        file=SimpleUploadedFile("blocks.jsonl", content),
        options=given,
        actor=lead_of(project),
        at=AT,
    )


def change(item: Import, **options) -> Import:
    return imports.change_options(import_id=item.pk, options=item.options | options, actor=lead_of(item.project), at=AT)


def test_a_faulty_file_is_read_again_with_other_options():
    item = make_import(b".I 1\n.W\nKeys are rotated.\n")
    assert item.state == ImportState.FAULTY

    item = change(item, format="smart")

    assert (item.state, item.plan["rows"], item.options["format"]) == (ImportState.READY, 1, "smart")
    event = Event.objects.get(action="import.options_changed")
    assert (event.before["format"], event.after["format"]) == ("jsonl", "smart")


def test_options_that_do_not_fit_make_a_ready_import_faulty():
    item = change(make_import(), format="csv")

    assert item.state == ImportState.FAULTY


def test_a_large_file_is_read_again_in_a_job(monkeypatch):
    item = make_import()
    monkeypatch.setattr("apps.corpus.selectors.import_kinds.READ_AT_ONCE", Extent(10, 10))

    item = change(item, name="Staff handbook")
    assert (item.state, item.plan) == (ImportState.READING, {})
    run_jobs()

    item.refresh_from_db()
    assert (item.state, item.plan["rows"]) == (ImportState.READY, 1)


def test_what_is_over_is_not_read_again():
    item = make_import()
    imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)

    with pytest.raises(ImportRefused, match=r"This import is applied; its file is not read again\."):
        change(item, format="csv")


def test_a_plan_of_options_that_were_changed_meanwhile_is_not_stored(monkeypatch):
    item = make_import()
    old = item.options
    monkeypatch.setattr("apps.corpus.selectors.import_kinds.READ_AT_ONCE", Extent(10, 10))
    item = change(item, format="csv")

    item = import_steps.keep_plan(import_id=item.pk, plan=preview(item), options=old)

    assert item.state == ImportState.READING
