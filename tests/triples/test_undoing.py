"""Undoing an import of triples: its drafts are withdrawn, while nobody has worked on one."""

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.corpus.actions import imports
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.models import Import
from apps.review.actions.submitting import submit_triple
from apps.triples.actions.imports import adopt_candidate, reject_candidate
from apps.triples.actions.triples import DraftRefused, save_draft, withdraw_draft
from apps.triples.enums import State
from apps.triples.models import ImportedEntry, Rejection, Triple
from tests.factories import AT, lead_of, make_member
from tests.naming import tables_that_name
from tests.races import overlapping
from tests.triples.factories import make_draft, make_question, make_team, make_wording

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_team()


def entry(**more) -> dict:
    evidence = "A session lasts at most eight hours."
    block = {"block_id": "access", "evidence": evidence}
    return {"question": make_question(), "expected_block": block, "expected_answer": "At most eight hours.", **more}


def applied(project, *entries, minute: int = 0, machine: str = "") -> Import:
    at = AT + timedelta(minutes=minute)
    text = "".join(json.dumps(each) + "\n" for each in entries)
    item = imports.start_import(
        project=project,
        kind="triples",
        file=SimpleUploadedFile("sheet.jsonl", text.encode()),
        options={"format": "jsonl", "corpus": "", "machine": machine},
        actor=lead_of(project),
        at=at,
    )
    return imports.confirm_import(import_id=item.pk, actor=lead_of(project), at=at)


def undo(item: Import) -> Import:
    return imports.undo_import(import_id=item.pk, actor=lead_of(item.project), at=AT + timedelta(hours=1))


def refusal(item: Import) -> str:
    with pytest.raises(ImportRefused) as refused:
        undo(item)
    return refused.value.sentence


def save(triple: Triple, author=None):
    return save_draft(
        project=triple.project, triple_id=triple.pk, author=author or triple.author, seen_version=triple.edit_version,
        snapshot=triple.snapshot, wording=make_wording(triple.snapshot), at=AT,
    )  # fmt: skip


def states(project) -> list[str]:
    return list(Triple.objects.filter(project=project).order_by("number").values_list("state", flat=True))


def test_undoing_withdraws_the_drafts_of_the_import_and_no_other(project):
    make_draft(project)
    item = applied(project, entry(), entry())

    undo(item)

    assert states(project) == [State.DRAFT, State.WITHDRAWN, State.WITHDRAWN]
    assert ImportedEntry.objects.count() == 2
    withdrawn = Event.objects.filter(action="triple.withdraw")
    assert {event.after["reason"] for event in withdrawn} == {"The import of sheet.jsonl was undone."}
    assert (withdrawn.count(), Event.objects.filter(action="import.undone").count()) == (2, 1)


def test_the_same_file_can_be_imported_again_afterwards(project):
    entries = [entry(id="ours-1"), entry()]
    undo(applied(project, *entries))

    again = applied(project, *entries, minute=1)

    assert again.result["counts"]["new drafts"] == 2
    assert states(project) == [State.WITHDRAWN, State.WITHDRAWN, State.DRAFT, State.DRAFT]

    undo(again)
    corrected = applied(project, entry(id="ours-1"), minute=2)
    assert corrected.result["counts"]["new drafts"] == 1


def test_a_draft_that_its_author_withdrew_is_still_not_imported_again(project):
    applied(project, one := entry())
    withdraw_draft(project=project, triple_id=Triple.objects.get().pk, author=lead_of(project), at=AT)

    again = applied(project, one, minute=1)

    assert again.result["changes_nothing"]
    assert states(project) == [State.WITHDRAWN]


def test_candidates_are_rejected_with_the_reason(project):
    undo(applied(project, entry(), machine="model-x"))

    assert states(project) == [State.WITHDRAWN]
    assert Rejection.objects.get().reason == "The import of sheet.jsonl was undone."


def test_a_draft_that_was_edited_stays_until_its_author_withdraws_it(project):
    item = applied(project, entry(), entry())
    edited = save(Triple.objects.earliest("number"))

    assert refusal(item) == "Edited since: 1 Q&A. Their author can withdraw them; then the rest can be undone."

    withdraw_draft(project=project, triple_id=edited.pk, author=edited.author, at=AT)
    undo(item)
    assert states(project) == [State.WITHDRAWN, State.WITHDRAWN]


def test_a_draft_that_was_submitted_stays(project):
    item = applied(project, entry(), entry())
    submit_triple(project=project, triple_id=Triple.objects.earliest("number").pk, author=lead_of(project), at=AT)

    assert refusal(item).startswith("Submitted or drawn for review since: 1 Q&A.")
    assert states(project) == [State.IN_REVIEW, State.DRAFT]


def test_a_candidate_that_was_adopted_stays_and_one_that_was_rejected_hinders_nothing(project):
    item = applied(project, entry(), entry(), machine="model-x")
    first, second = Triple.objects.order_by("number")
    person = make_member(project, Role.ANNOTATOR)
    reject_candidate(project=project, triple_id=second.pk, person=person, reason="Odd.", at=AT)
    adopted = adopt_candidate(project=project, triple_id=first.pk, person=person, at=AT)

    assert refusal(item) == "Adopted since: 1 Q&A. Their authors can withdraw them; then the rest can be undone."

    withdraw_draft(project=project, triple_id=adopted.pk, author=person, at=AT)
    undo(item)
    assert Rejection.objects.get().reason == "Odd."


def undo_rest(item: Import) -> Import:
    return imports.undo_untouched(import_id=item.pk, actor=lead_of(item.project), at=AT + timedelta(hours=1))


def test_the_drafts_that_nobody_touched_are_withdrawn_without_the_others(project):
    item = applied(project, entry(), entry(), entry(), entry())
    first, second, *_ = Triple.objects.order_by("number")
    submit_triple(project=project, triple_id=first.pk, author=lead_of(project), at=AT)
    save(second)

    undo_rest(item)

    assert states(project) == [State.IN_REVIEW, State.DRAFT, State.WITHDRAWN, State.WITHDRAWN]
    assert Import.objects.get().result["stayed"] == 2
    assert [event.after for event in Event.objects.filter(action="import.undone")] == [{"stayed": 2}]


def test_what_stayed_of_an_import_is_not_imported_again_and_the_rest_is(project):
    entries = [entry(id="ours-1"), entry(id="ours-2"), entry()]
    item = applied(project, *entries)
    submit_triple(project=project, triple_id=Triple.objects.earliest("number").pk, author=lead_of(project), at=AT)
    undo_rest(item)

    again = applied(project, *entries, minute=1)

    assert again.result["counts"] == {"new drafts": 2, "new candidates": 0, "unchanged": 1}


def test_nothing_is_withdrawn_where_every_draft_was_touched(project):
    item = applied(project, entry())
    save(Triple.objects.get())

    with pytest.raises(ImportRefused, match="Somebody has edited, adopted or submitted each of these drafts"):
        undo_rest(item)
    assert states(project) == [State.DRAFT]


def test_an_import_is_undone_in_part_once(project):
    item = applied(project, entry(), entry())
    save(Triple.objects.earliest("number"))
    undo_rest(item)

    with pytest.raises(ImportRefused, match="This import has been undone"):
        undo_rest(item)


def test_the_page_offers_what_nobody_touched_with_its_number(project, client):
    item = applied(project, entry(), entry(), entry())
    submit_triple(project=project, triple_id=Triple.objects.earliest("number").pk, author=lead_of(project), at=AT)
    client.force_login(lead_of(project))
    url = reverse("corpus:import", args=[project.slug, item.pk])
    before = client.get(url).content.decode()

    client.post(reverse("corpus:import-undo", args=[project.slug, item.pk]), {"only": "untouched"})

    assert "Withdraw the 2 drafts that nobody touched" in before
    assert "The drafts that nobody had touched are withdrawn; 1 Q&amp;A stayed." in client.get(url).content.decode()
    assert states(project) == [State.IN_REVIEW, State.WITHDRAWN, State.WITHDRAWN]


def test_nobody_writes_on_in_a_withdrawn_draft(project):
    item = applied(project, entry())
    draft = Triple.objects.get()
    undo(item)

    with pytest.raises(DraftRefused, match="This draft is withdrawn, so its wording cannot be changed"):
        save(draft)


def test_a_large_import_is_undone_in_a_constant_number_of_statements(project, django_assert_max_num_queries):
    few, many = (
        applied(project, *(entry() for _ in range(3))),
        applied(project, *(entry() for _ in range(40)), minute=1),
    )

    with django_assert_max_num_queries(25):
        undo(few)
    with django_assert_max_num_queries(25):
        undo(many)

    assert set(states(project)) == {State.WITHDRAWN}


def test_the_page_says_what_undoing_does_and_until_when(project, client):
    item = applied(project, entry())
    client.force_login(lead_of(project))
    url = reverse("corpus:import", args=[project.slug, item.pk])
    before = client.get(url).content.decode()

    client.post(reverse("corpus:import-undo", args=[project.slug, item.pk]))

    assert "This withdraws what it made. It can be imported again." in before
    assert "Possible until one of them is edited, adopted, submitted, drawn for a review or in a version." in before
    assert "What it made is withdrawn." in client.get(url).content.decode()


def submit(triple: Triple):
    return submit_triple(project=triple.project, triple_id=triple.pk, author=triple.author, at=AT)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
class TestAtTheSameMoment:
    @pytest.mark.parametrize(("act", "code"), [(save, "not_editable"), (submit, "not_submittable")])
    def test_who_meets_an_undo_is_refused(self, project, act, code):
        item = applied(project, entry())
        draft = Triple.objects.get()

        _, refused = overlapping(lambda: undo(item), lambda: act(draft))

        assert (refused.code, states(project)) == (code, [State.WITHDRAWN])

    @pytest.mark.parametrize(
        ("act", "sentence", "state"),
        [
            (save, "Edited since: 1 Q&A.", State.DRAFT),
            (submit, "Submitted or drawn for review since: 1 Q&A.", State.IN_REVIEW),
        ],
    )
    def test_an_undo_that_meets_somebody_is_refused(self, project, act, sentence, state):
        item = applied(project, entry())
        draft = Triple.objects.get()

        _, refused = overlapping(lambda: act(draft), lambda: undo(item))

        assert refused.sentence.startswith(sentence)
        assert states(project) == [state]

    def test_a_draft_that_is_submitted_meanwhile_stays_and_the_others_are_withdrawn(self, project):
        item = applied(project, entry(), entry())
        draft = Triple.objects.earliest("number")

        overlapping(lambda: submit(draft), lambda: undo_rest(item))

        assert states(project) == [State.IN_REVIEW, State.WITHDRAWN]
        assert Import.objects.get().result["stayed"] == 1


def test_every_table_that_names_a_triple_begins_after_the_draft_or_is_asked_about():
    """Reviews, splits and versions come after a submission. Think of each new table."""
    assert tables_that_name(Triple) == {
        "goldsets.VersionTriple",
        "review.BulkItem",
        "review.CandidateBlock",
        "review.DisputeMessage",
        "review.Escalation",
        "review.MissNote",
        "review.Resolution",
        "triples.ImportedEntry",
        "triples.Rejection",
        "triples.Revision",
        "triples.Triple",
    }
