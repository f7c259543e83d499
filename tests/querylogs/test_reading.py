"""What becomes of an offered query: every step from every state, what is stored, and what is forgotten."""

from datetime import timedelta

import pytest

from apps.audit.models import Event
from apps.common.errors import IllegalStep, Refusal
from apps.corpus.actions import imports
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.models import Import
from apps.queries.actions.queries import lock_queries
from apps.queries.actions.sources import revoke_permission
from apps.queries.models import Query
from apps.querylogs import actions
from apps.querylogs.enums import OfferState
from apps.querylogs.models import MaskedName, OfferedQuery, QueryLog
from apps.querylogs.selectors import logs as selectors
from apps.querylogs.workflow import STEPS, after
from tests.factories import AT, lead_of, make_project
from tests.queries.factories import make_permission, make_query, make_source
from tests.querylogs.factories import as_csv, draw, make_log, searches, upload
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db
LATER = AT + timedelta(hours=1)


@pytest.fixture
def log(project) -> QueryLog:
    return make_log(project)


def offered(log: QueryLog, position: int = 1) -> OfferedQuery:
    return selectors.one_offered(log, position)


def step(one: OfferedQuery, name: str, **about) -> OfferedQuery:
    actions.decide(offered=one, step=name, **about, actor=lead_of(one.log.project), at=LATER)
    return selectors.one_offered(one.log, one.position)


@pytest.mark.parametrize("name", ["keep", "same", "reject", "expire", "undo"])
@pytest.mark.parametrize("state", OfferState)
def test_only_steps_of_the_table_are_possible(state, name):
    if (state, name) in STEPS:
        assert after(state, name) == STEPS[state, name]
    else:
        with pytest.raises(IllegalStep):
            after(state, name)


def test_a_kept_query_has_its_words_its_source_and_what_its_searches_tell(log):
    one = offered(log)

    kept = step(one, "keep")

    query = kept.query
    assert (query.outside_id, query.text, query.source) == ("Q001", one.text, log.source)
    (traffic,) = query.metadata["traffic"]
    assert (traffic["searches"], traffic["people"], traffic["chance"]) == (one.searches, one.people, one.chance)
    assert traffic["stratum"] == f"{one.get_band_display()}, {one.get_outcome_display()}"
    created = Event.objects.get(action="query.created")
    assert one.text not in str(created.after)


def test_words_can_be_changed_and_masks_cannot(project):
    rows = [[f"mail user{n}@example.com now", f"u{n}", "", "", "", ""] for n in range(5)]
    one = offered(draw(upload(project, as_csv(rows))))

    with pytest.raises(actions.LogRefused, match="masks"):
        step(one, "keep", text="mail somebody now")
    kept = step(one, "keep", text="write to [e-mail]")

    assert (kept.query.text, kept.is_edited) == ("write to [e-mail]", True)


def test_the_same_in_other_words_adds_its_searches_and_no_text(project, log):
    query = make_query(project, outside_id="Q007")
    first, second = offered(log, 1), offered(log, 2)

    same = step(first, "same", query="Q007")
    step(second, "same", query="Q007")

    query.refresh_from_db()
    assert same.query == query
    assert [one["position"] for one in query.metadata["traffic"]] == [1, 2]
    assert first.text not in str(query.metadata)
    step(second, "undo")
    query.refresh_from_db()
    assert [one["position"] for one in query.metadata["traffic"]] == [1]


def test_a_query_of_the_same_words_is_not_made_twice(project, log):
    make_query(project, outside_id="Q007", text=offered(log).text.upper())

    with pytest.raises(actions.LogRefused, match="Q007 has the same words"):
        step(offered(log), "keep")


def test_the_text_of_a_rejected_query_is_deleted_with_the_next_decision(log):
    rejected = step(offered(log, 1), "reject", note="a customer")
    assert rejected.text

    step(offered(log, 2), "keep")

    assert offered(log, 1).text == ""
    with pytest.raises(actions.LogRefused, match="deleted"):
        step(offered(log, 1), "undo")


def test_the_last_decision_is_undone_and_a_query_that_it_made_is_removed(log):
    text = offered(log).text
    step(offered(log), "keep")

    waiting = step(offered(log), "undo")

    assert (waiting.state, waiting.text, waiting.query) == (OfferState.WAITING, text, None)
    assert not Query.objects.exists()


def test_a_query_that_was_used_stays(log):
    kept = step(offered(log), "keep")
    lock_queries([kept.query_id], at=LATER)

    with pytest.raises(actions.LogRefused, match="used in a run"):
        step(kept, "undo")


def test_a_query_on_which_another_log_rests_stays(project, log):
    kept = step(offered(log), "keep")
    other = make_log(project, source=log.source.slug, seed=8)
    step(offered(other), "same", query=kept.query.outside_id)

    with pytest.raises(actions.LogRefused, match="rests on"):
        step(kept, "undo")


def test_a_decided_query_is_not_decided_again(log):
    one = step(offered(log), "reject")

    for name in ("keep", "reject", "mask"):
        with pytest.raises(actions.LogRefused, match="meanwhile"):
            step(one, name, words=one.text)


def test_masking_a_word_masks_it_in_every_waiting_query_and_in_later_logs(project, log):
    word = "archive"
    waiting = log.offered.filter(text__contains=word)
    number, one = waiting.count(), waiting.first()

    masked = step(one, "mask", words=word, kind="customer", listed=True)

    assert number > 1
    assert "[customer]" in masked.text
    assert "customer" in masked.masks
    assert not waiting.exists()
    assert list(MaskedName.objects.values_list("name", flat=True)) == [word]
    with pytest.raises(actions.LogRefused, match="does not have the words"):
        step(masked, "mask", words="nowhere")
    again = make_log(project, seed=8)
    assert again.offered.filter(text__contains="[name on list]").exists()
    assert not again.offered.filter(text__contains=word).exists()


def test_closing_deletes_what_nobody_has_read(log):
    step(offered(log), "reject")

    actions.close_log(log_id=log.pk, actor=lead_of(log.project), at=LATER)

    tally = selectors.tally_of(selectors.offered_in(log))
    assert (tally.rejected, tally.expired, tally.waiting) == (1, 19, 0)
    assert set(log.offered.values_list("text", flat=True)) == {""}
    with pytest.raises(actions.LogRefused, match="is closed"):
        step(offered(log, 2), "keep")


def test_unread_queries_and_undrawn_files_are_deleted_in_time(project, log, django_capture_on_commit_callbacks):
    undrawn = upload(project, as_csv(searches(100)))

    with django_capture_on_commit_callbacks(execute=True):
        actions.delete_unread(AT + timedelta(days=13))
    log.refresh_from_db()
    undrawn.refresh_from_db()
    assert (log.closed_at, undrawn.state) == (None, "discarded")
    assert not undrawn.upload.place.exists()

    actions.delete_unread(AT + timedelta(days=15))
    log.refresh_from_db()
    assert log.closed_at is not None


def test_an_import_is_undone_while_nothing_has_come_in(project):
    log = make_log(project)
    item = Import.objects.get(kind="log")
    step(offered(log), "keep")
    with pytest.raises(ImportRefused, match="1 query has come in"):
        imports.undo_import(import_id=item.pk, actor=lead_of(project), at=LATER)

    step(offered(log), "undo")
    imports.undo_import(import_id=item.pk, actor=lead_of(project), at=LATER)

    assert not QueryLog.objects.exists()


def test_revoking_the_permission_deletes_what_waits(project):
    source = make_source(project)
    permission = make_permission(source)
    log = make_log(project, source=source.slug)
    step(offered(log), "keep")

    revoked = revoke_permission(permission_id=permission.pk, reason="Withdrawn.", actor=lead_of(project), at=LATER)

    assert "19 unread queries of search logs: are deleted" in revoked.sentence
    assert len(revoked.queries) == 1
    log.refresh_from_db()
    assert log.closed_at == LATER


def test_what_people_clicked_goes_out_as_a_run_of_the_queries_that_came_in(project):
    make_snapshot(project, {"SEC-1": "Rotate keys.", "SEC-2": "Open the archive."})
    rows = [["key rotation", f"u{n}", "", "3", "SEC-1;elsewhere" if n < 4 else "SEC-2", ""] for n in range(6)]
    log = draw(upload(project, as_csv(rows)))
    assert list(selectors.clicks_as_run(log)) == []

    step(offered(log), "keep")

    assert list(selectors.clicks_as_run(log)) == ["Q001 Q0 SEC-1 1 2 clicks\n", "Q001 Q0 SEC-2 2 1 clicks\n"]


def test_names_are_listed_once_and_taken_off(project):
    lead = lead_of(project)
    names = ["Bright  Water", "bright water", "", "Acme", "?"]
    assert actions.add_names(project=project, names=names, actor=lead, at=AT) == 3
    assert actions.add_names(project=project, names=["Acme"], actor=lead, at=AT) == 0

    actions.remove_name(name=MaskedName.objects.get(name="Acme"), actor=lead, at=AT)

    assert MaskedName.objects.count() == 2


@pytest.mark.parametrize("drawn", [{"chance": 0.001}, {"searches": 99}, {"people": 99}, {"position": 99}])
def test_the_database_keeps_what_was_drawn(log, drawn):
    with pytest.raises(Exception, match="never changed"):
        log.offered.filter(position=1).update(**drawn)


def test_another_project_has_no_part_in_it(log):
    other = make_query(make_project("Other"), outside_id="Q900")

    with pytest.raises(Refusal, match="has no query Q900"):
        step(offered(log), "same", query=other.outside_id)
