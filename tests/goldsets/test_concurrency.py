"""Two leads at once, on real connections: one outcome, nothing doubled."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.corpus.actions import imports
from apps.corpus.enums import ImportState
from apps.goldsets.actions.training import add_training_manifest
from apps.goldsets.actions.versions import change_draft, discard_draft, freeze_version, release_version
from apps.goldsets.core.training import Entry
from apps.goldsets.enums import EntryKind, VersionState
from apps.goldsets.execution.freezing import items_digest
from apps.goldsets.models import TrainingEntry, Version
from apps.judging.actions.adjudication import adjudicate
from apps.judging.actions.rounds import close_round
from apps.judging.models import Seat
from apps.queries.actions.sources import revoke_permission
from apps.triples.actions.triples import retire_triple
from apps.triples.enums import RetireReason, State
from tests.factories import AT
from tests.goldsets.factories import draft, make_bench, make_gold_set, make_version
from tests.judging.factories import give
from tests.races import at_once, overlapping, refusals
from tests.triples.factories import TEXTS, make_snapshot

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_version_is_frozen_once():
    bench = make_bench(queries=3)
    version = draft(bench)

    results = at_once(*[lambda: freeze(bench, version)] * 3)

    assert refusals(results) == ["v1 is frozen. A frozen version never changes."] * 2
    assert Version.objects.get().grades.count() == 9


def test_of_two_leads_who_bring_the_same_training_manifest_one_is_told():
    bench = make_bench(queries=1, judge=False, triples=0)

    results = at_once(*[lambda: bring_manifest(bench)] * 2)

    assert refusals(results) == ["“Ranker” lists exactly the same and is in use. Nothing was added."]
    assert TrainingEntry.objects.count() == 1


def bring_manifest(bench):
    entries = [Entry(EntryKind.QUESTION, "Q1")]
    return add_training_manifest(
        project=bench.project, name="Ranker", file="f", entries=entries, actor=bench.lead, at=AT
    )


def split(bench):
    """The first pair of the bench is judged 0 and 3, and decided by the lead."""
    one, two = (place.annotator for place in bench.round.annotators.order_by("pk"))
    entry = bench.pool.entries.order_by("pk").first()
    for person, grade in ((one, 0), (two, 3)):
        give(Seat.objects.get(entry=entry, annotator=person), person, grade)
    decide_pair(bench, entry, 1)
    return entry


def decide_pair(bench, entry, grade):
    return adjudicate(
        round_=bench.round, entry=entry, adjudicator=bench.lead, grade=grade, reason="Read it.", error_type="slip",
        at=AT,
    )  # fmt: skip


def freeze(bench, version):
    return freeze_version(version_id=version.pk, actor=bench.lead, at=AT)


def grade_of(version, entry):
    return version.grades.get(query__query=entry.query_id, block_version=entry.version_id).grade


@pytest.mark.postgres
@pytest.mark.parametrize("act", ["freeze", "discard", "change"])
def test_what_meets_a_discarded_draft_is_refused(act):
    bench = make_bench(queries=1)
    version = draft(bench)
    asked = {"version_id": version.pk, "actor": bench.lead, "at": AT}
    inputs = {"snapshot": version.snapshot, "rounds": [bench.round], "test_share": 0.5, "seed": 0, "group_by": []}
    acts = {
        "freeze": lambda: freeze_version(**asked),
        "discard": lambda: discard_draft(**asked),
        "change": lambda: change_draft(**asked, **inputs, note=""),
    }

    _, refused = overlapping(lambda: discard_draft(**asked), acts[act])

    assert str(refused) == "This draft was discarded in the meantime. Nothing was done."


@pytest.mark.postgres
def test_a_freeze_that_meets_a_decision_copies_it():
    bench = make_bench(queries=1)
    entry, version = split(bench), draft(bench)

    _, frozen = overlapping(lambda: decide_pair(bench, entry, 2), lambda: freeze(bench, version))

    assert grade_of(frozen, entry) == 2


@pytest.mark.postgres
def test_a_decision_that_meets_a_freeze_comes_after_it():
    bench = make_bench(queries=1)
    entry, version = split(bench), draft(bench)

    def decide():
        decide_pair(bench, entry, 2)
        return Version.objects.get(pk=version.pk).state

    frozen, found = overlapping(lambda: freeze(bench, version), decide)

    assert grade_of(frozen, entry) == 1
    assert found == VersionState.FROZEN


@pytest.mark.postgres
def test_a_second_thought_that_meets_a_freeze_comes_after_it():
    bench = make_bench(queries=1)
    version = draft(bench)
    seat = Seat.objects.filter(round=bench.round).order_by("pk").first()

    def think_again():
        give(seat, seat.annotator, 1)
        return Version.objects.get(pk=version.pk).state

    frozen, found = overlapping(lambda: freeze(bench, version), think_again)

    assert (frozen.state, found) == (VersionState.FROZEN, VersionState.FROZEN)


@pytest.mark.postgres
def test_a_freeze_that_meets_a_triple_being_retired_leaves_it_out():
    bench = make_bench(queries=1)
    triple, version = bench.project.triples.get(), draft(bench)

    def retire():
        return retire_triple(
            project=bench.project, triple_id=triple.pk, lead=bench.lead, roles=frozenset({"lead"}),
            reason=RetireReason.OUT_OF_SCOPE, at=AT,
        )  # fmt: skip

    _, frozen = overlapping(retire, lambda: freeze(bench, version))

    assert not frozen.triples.exists()


@pytest.mark.postgres
def test_a_freeze_that_meets_a_change_of_the_draft_freezes_what_it_was_changed_to():
    bench = make_bench(queries=1, triples=0)
    version = draft(bench)
    other = make_snapshot(bench.project, corpus=bench.snapshot.corpus, texts={**TEXTS, "new": "A new block."})

    def change():
        return change_draft(
            version_id=version.pk, snapshot=other, rounds=[bench.round], actor=bench.lead, at=AT, test_share=0.5,
            seed=7, group_by=[], note="",
        )  # fmt: skip

    _, frozen = overlapping(change, lambda: freeze(bench, version))

    assert frozen.manifest["snapshot"]["digest"] == other.digest


def revoke(bench):
    permission = bench.source.permissions.filter(revoked_at=None).latest("pk")
    return revoke_permission(permission_id=permission.pk, reason="Contract ended.", actor=bench.lead, at=AT)


@pytest.mark.postgres
def test_a_freeze_that_meets_a_revocation_takes_nothing_of_the_source():
    bench = make_bench(queries=1, triples=0)
    version = draft(bench)

    _, refused = overlapping(lambda: revoke(bench), lambda: freeze(bench, version))

    assert "nothing to freeze" in refused.sentence


@pytest.mark.postgres
def test_a_revocation_that_meets_a_freeze_names_the_version():
    bench = make_bench(queries=1)
    bench.project.triples.update(source=bench.source)
    version = draft(bench)

    _, revoked = overlapping(lambda: freeze(bench, version), lambda: revoke(bench))

    assert "1 accepted Q&A: is retired" in revoked.sentence
    assert "Handbook v1: marked, and later downloads leave its items out" in revoked.sentence


@pytest.mark.postgres
@pytest.mark.parametrize("is_released_first", [True, False])
def test_a_revocation_marks_the_version_that_is_being_released(is_released_first):
    bench = make_bench(queries=1)
    version = make_version(VersionState.FROZEN, bench)
    acts = [
        lambda: release_version(version_id=version.pk, actor=bench.lead, at=AT).state,
        lambda: revoke(bench).sentence,
    ]

    results = overlapping(*(acts if is_released_first else reversed(acts)))

    state, told = results if is_released_first else reversed(results)
    assert state == VersionState.RELEASED
    assert "Handbook v1: marked, and later downloads leave its items out" in told


@pytest.mark.postgres
@pytest.mark.parametrize("is_retired_first", [True, False])
def test_a_qa_that_is_retired_while_its_permission_ends_is_retired_once(is_retired_first):
    bench = make_bench(queries=1)
    bench.project.triples.update(source=bench.source)
    triple = bench.project.triples.get()

    def retire():
        return retire_triple(
            project=bench.project, triple_id=triple.pk, lead=bench.lead, roles=frozenset({"lead"}),
            reason=RetireReason.OUT_OF_SCOPE, at=AT,
        )  # fmt: skip

    acts = [retire, lambda: revoke(bench)]

    results = overlapping(*(acts if is_retired_first else reversed(acts)))

    triple.refresh_from_db()
    reason = RetireReason.OUT_OF_SCOPE if is_retired_first else RetireReason.PERMISSION_REVOKED
    assert (triple.state, triple.retire_reason) == (State.RETIRED, reason)
    assert len(refusals(results)) == (0 if is_retired_first else 1)


@pytest.mark.postgres
@pytest.mark.parametrize("is_decided_first", [True, False])
def test_a_draft_is_begun_while_a_lead_decides(is_decided_first):
    bench = make_bench(queries=1)
    entry = split(bench)
    gold_set = make_gold_set(bench.project)
    acts = [lambda: decide_pair(bench, entry, 2), lambda: draft(bench, gold_set)]

    results = overlapping(*(acts if is_decided_first else reversed(acts)))

    assert refusals(results) == []
    assert Version.objects.get().state == VersionState.DRAFT


@pytest.mark.postgres
@pytest.mark.parametrize("is_imported_first", [True, False])
@pytest.mark.parametrize("kind", ["judgements", "triples", "corpus"])
def test_a_freeze_takes_what_was_there_before_an_import_or_after_it_and_never_a_part(kind, is_imported_first):
    bench = make_bench(queries=1)
    entry, version = split(bench), draft(bench)
    close_round(round_id=bench.round.pk, actor=bench.lead, at=AT)
    item = in_preview(kind, bench, entry)
    acts = [
        lambda: imports.confirm_import(import_id=item.pk, actor=bench.lead, at=AT).state,
        lambda: freeze(bench, version),
    ]

    results = overlapping(*(acts if is_imported_first else reversed(acts)))

    state, frozen = results if is_imported_first else reversed(results)
    assert (state, frozen.state) == (ImportState.APPLIED, VersionState.FROZEN)
    assert grade_of(frozen, entry) == 1
    assert frozen.manifest["counts"]["triples"] == 1
    assert frozen.manifest["snapshot"]["digest"] == bench.snapshot.digest
    released = release_version(version_id=version.pk, actor=bench.lead, at=AT)
    assert items_digest(released) == released.digest


def in_preview(kind, bench, entry):
    """An import in its preview: another grade of a pair, another Q&A, or another text of a passage."""
    query, block = entry.query.outside_id, entry.version.block.outside_id
    corpus = bench.snapshot.corpus
    name, text, options = {
        "judgements": (
            "grades.csv",
            f"query_id,block_id,annotator,grade\n{query},{block},Ana,3\n",
            {"format": "ratings", "snapshot": bench.snapshot.pk, "columns": "", "grades": "", "name": "Theirs"},
        ),
        "triples": ("qa.csv", f"question,answer,block\nWho has access?,Two people,{block}\n", {"format": "table"}),
        "corpus": (
            "corpus.jsonl",
            json.dumps(
                {"block_id": block, "document_id": "handbook", "title": "", "text": "Another text.", "page_start": 1}
            ),
            {"format": "jsonl", "ids": "file", "corpus": corpus.slug, "name": "", "mode": "update"},
        ),
    }[kind]
    file = SimpleUploadedFile(name, text.encode())
    item = imports.start_import(project=bench.project, kind=kind, file=file, options=options, actor=bench.lead, at=AT)
    assert item.state == ImportState.READY, item.plan
    return item


def test_one_draft_is_begun():
    bench = make_bench(queries=1)
    make_gold_set(bench.project)

    results = at_once(lambda: draft(bench), lambda: draft(bench))

    assert refusals(results) == ["v1 is still a draft. Freeze or discard it first."]
    assert Version.objects.count() == 1


def test_of_two_frozen_versions_released_at_once_the_later_one_is_released():
    bench = make_bench(queries=1)
    first = make_version(VersionState.FROZEN, bench)
    second = make_version(VersionState.FROZEN, bench)

    def release(version: Version) -> None:
        release_version(version_id=version.pk, actor=bench.lead, at=AT)

    at_once(lambda: release(first), lambda: release(second))

    first.refresh_from_db()
    second.refresh_from_db()
    assert second.state == VersionState.RELEASED
    assert first.state in {VersionState.SUPERSEDED, VersionState.FROZEN}
