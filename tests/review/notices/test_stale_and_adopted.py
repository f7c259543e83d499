import pytest

from apps.accounts.enums import Role
from apps.jobs.models import Notification
from apps.triples.actions.triples import refresh_staleness
from apps.triples.execution.staleness import candidate_adopted
from apps.triples.models import ImportedEntry
from tests.factories import AT, lead_of, make_member
from tests.review.factories import CHANGED, make_accepted
from tests.review.notices.hearing import told
from tests.triples.factories import make_draft, make_snapshot

pytestmark = pytest.mark.django_db


def test_an_author_hears_once_of_a_snapshot_that_makes_triples_stale(project, ann):
    triples = [make_accepted(project, author=ann) for _ in range(3)]
    other = make_member(project, Role.ANNOTATOR, name="Zoe")
    make_accepted(project, author=other)

    def freeze() -> None:
        snapshot = make_snapshot(project, CHANGED, corpus=triples[0].snapshot.corpus)
        refresh_staleness(project=project, snapshot=snapshot, at=AT)
        refresh_staleness(project=project, snapshot=snapshot, at=AT)

    sentence = "v2 changed the text behind Q&As of yours. Pin them to the new text or retire them."
    assert told(triples[0], freeze) == {"author": [sentence], "Zoe": [sentence]}


@pytest.mark.parametrize("leads", [True, False])
def test_the_lead_who_imported_a_candidate_is_notified_of_its_adoption(project, ann, leads):
    triple = make_draft(project, author=ann)
    importer = lead_of(project) if leads else make_member(project, Role.VIEWER)
    ImportedEntry.objects.create(triple=triple, file="a.jsonl", line=1, imported_by=importer, imported_at=AT)

    candidate_adopted(triple, by=ann, at=AT)
    candidate_adopted(triple, by=importer, at=AT)

    rows = [(row.person, row.sentence) for row in Notification.objects.all()]
    assert rows == ([(importer, f"Ann adopted {triple.label}, which a machine wrote.")] if leads else [])
