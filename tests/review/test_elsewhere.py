"""Q&As that were reviewed elsewhere: taken as accepted by a lead, drawn at random, reviewed blind."""

import io
import json
from collections import Counter
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.urls import reverse

from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.corpus.actions.imports import undo_import
from apps.corpus.models import Import
from apps.goldsets.actions.versions import draft_version, freeze_version
from apps.jobs.models import Upload
from apps.queries.models import Query
from apps.review.actions.submitting import revise
from apps.review.enums import Decision, VerdictChoice
from apps.review.execution.elsewhere import draw, take
from apps.review.models import Resolution, ReviewSeat, Verdict
from apps.review.selectors.elsewhere import drawing_order, elsewhere_sets
from apps.review.selectors.exports import EVERY, Selection
from apps.triples.enums import State
from apps.triples.models import Triple
from apps.triples.selectors.triples import newest_snapshot
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_gold_set
from tests.queries.factories import make_permission, make_source
from tests.review.elsewhere import REASON, REVIEWERS, applied, draw_from, entry, take_in
from tests.review.factories import CHANGED, answer, answer_both, decide, reload, reviewers_of
from tests.running_jobs import run_jobs
from tests.triples.factories import make_snapshot, make_team, make_wording

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_team(reviewers=3)


def triples_of(project) -> list[Triple]:
    return list(Triple.objects.filter(project=project).select_related("author", "current__author").order_by("number"))


def test_a_lead_takes_what_was_reviewed_elsewhere_as_accepted_with_a_reason_on_record(project):
    lead = lead_of(project)
    item = applied(project, entry(), entry(reviewed_by=[]), entry(machine_written=True))

    taken = take_in(item)

    one, draft, candidate = triples_of(project)
    end = Resolution.objects.get()
    event = Event.objects.get(action="triple.take")
    assert [t.state for t in (one, draft, candidate)] == [State.ACCEPTED, State.DRAFT, State.DRAFT]
    assert (one.resolution, one.round, one.current.submitted_at, one.resolved_at) == ("elsewhere", 1, AT, AT)
    assert (end.kind, end.decided_by, end.reason, end.revision) == ("elsewhere", lead, REASON, one.current)
    assert (event.actor, event.object_label) == (lead, "T-0001")
    assert event.after["reviewed_by"] == REVIEWERS
    assert (event.after["reason"], event.after["resolution_there"]) == (REASON, "consensus")
    assert Query.everything.get(outside_id=event.after["asked_as"]).text == one.current.question
    assert taken.result["taken"]["accepted"] == 1
    assert Verdict.objects.count() == 0


def test_the_random_ones_are_reviewed_blind_and_the_share_of_wrong_ones_has_an_interval(project):
    item = take_in(applied(project, *(entry() for _ in range(6))))

    draw_from(item, 4)

    drawn = [t for t in triples_of(project) if t.sampled_at]
    assert [(t.state, t.resolution, t.round) for t in drawn] == [(State.IN_REVIEW, "elsewhere", 1)] * 4
    [found] = elsewhere_sets(project)
    assert (found.taken, found.drawn, found.reviewed, found.error_rate.value) == (6, 4, 0, None)
    right, policy, dropped, returned = drawn
    answer_both(right, "confirm", "confirm")
    answer_both(policy, "confirm", "flag")
    answer_both(dropped, "flag", "flag")
    answer_both(returned, "flag", "confirm")
    assert [reload(t).resolution for t in drawn] == ["consensus", "", "", ""]
    assert elsewhere_sets(project)[0].open == 2
    decide(policy, lead_of(project), Decision.ACCEPT)
    decide(returned, lead_of(project), Decision.RETURN)
    assert elsewhere_sets(project)[0].open == 1
    answer_both(returned, "confirm", "confirm")

    [found] = elsewhere_sets(project)
    assert (found.reviewed, found.wrong, found.error_rate.value) == (4, 1, 0.25)


def test_one_that_is_drawn_counts_as_accepted_until_its_verdicts_are_in(project):
    """A version cut meanwhile has it; a flag takes it out of the next."""
    item = take_in(applied(project, *(entry() for _ in range(3))))
    draw_from(item, 1)
    [drawn] = [t for t in triples_of(project) if t.sampled_at]
    one, _ = reviewers_of(drawn)
    answer(drawn, one, VerdictChoice.FLAG)

    gold_set = make_gold_set(project)
    snapshot = project.corpora.get().snapshots.get()
    begun = draft_version(gold_set_id=gold_set.pk, snapshot=snapshot, actor=lead_of(project), at=AT, rounds=[], seed=7)
    version = freeze_version(version_id=begun.pk, actor=lead_of(project), at=AT)

    rows = {row.label: row.content for row in version.triples.all()}
    assert rows[drawn.label]["resolution"] == "elsewhere"
    assert rows[drawn.label]["reviewed_by"] == REVIEWERS
    assert [row["added_by"] for row in rows.values()] == ["Mara Quill"] * 3
    assert version.manifest["waiting"] == {"in_review": 0, "disputed": 0}
    assert version.manifest["elsewhere"]["triples"] == 3
    [found] = version.manifest["elsewhere"]["sets"]
    assert (found["drawn"], found["reviewed"], found["error_rate"]["value"]) == (1, 0, None)
    assert version.manifest["disagreements"]["verdicts"]["reviewed"] == 0


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"reviewed_by": ["mara quill"]}, "Its author alone reviewed it."),
        ({"expected_answer": "At most nine hours, or 12 minutes."}, "A figure differs from the evidence."),
        ({"expected_block": {"block_id": "access"}}, "No evidence is marked yet."),
        ({"source": "asked-back"}, "Its source has an expired permission."),
    ],
)
def test_what_could_not_be_accepted_here_stays_a_draft_and_the_page_says_why(project, more, why):
    source = make_source(project, slug="asked-back")
    make_permission(source, expires_at=AT - timedelta(days=1), granted_at=AT - timedelta(days=9))
    item = take_in(applied(project, entry(), entry(**more)))

    assert [t.state for t in triples_of(project)] == [State.ACCEPTED, State.DRAFT]
    [kept] = item.result["taken"]["listed"]
    assert kept["label"] == "T-0002"
    assert why in kept["why"]


def test_a_passage_that_has_changed_keeps_its_drafts_back(project):
    item = applied(
        project,
        entry(),
        entry(expected_block={"block_id": "rotation", "evidence": "twelve months"}, expected_answer="Twelve months."),
    )
    make_snapshot(project, CHANGED, corpus=project.corpora.get())

    take_in(item)

    assert [t.state for t in triples_of(project)] == [State.DRAFT, State.ACCEPTED]


def test_what_a_machine_wrote_is_refused_by_the_database_too(project):
    take_in(applied(project, entry(), entry(machine_written=True)))
    machine = Triple.objects.get(is_machine_written=True)

    with pytest.raises(DatabaseError, match="never taken as reviewed elsewhere"), transaction.atomic():
        Triple.objects.filter(pk=machine.pk).update(
            adopted_by=lead_of(project), state="accepted", resolution="elsewhere", resolved_at=AT
        )
    with pytest.raises(DatabaseError, match="taken by a lead, with a reason"), transaction.atomic():
        Resolution.objects.create(
            triple=machine, revision=machine.current, round=1, kind="elsewhere", resolved_at=AT, reason="So."
        )


def test_refusals_name_what_is_missing(project):
    item = applied(project, entry())
    for reason in ("", "  ", "Yes."):
        with pytest.raises(Refusal, match="Say where and how they were reviewed"):
            take_in(item, reason=reason)
    with pytest.raises(Refusal, match="None is left to draw"):
        draw_from(item, 1)
    take_in(item)
    with pytest.raises(Refusal, match="None of its drafts can be taken"):
        take_in(item)
    with pytest.raises(Refusal, match="At most 1 can be drawn"):
        draw_from(item, 2)
    draw_from(item, 1)
    with pytest.raises(Refusal, match="None is left to draw"):
        draw_from(item, 1)


def test_a_larger_sample_contains_the_smaller_and_the_file_alone_decides_who_is_drawn(project):
    entries = [entry() for _ in range(8)]
    item = take_in(applied(project, *entries))
    order = drawing_order(item)

    draw_from(item, 3)
    first = {t.pk for t in triples_of(project) if t.sampled_at}
    draw_from(item, 5)
    second = {t.pk for t in triples_of(project) if t.sampled_at}

    assert first == set(order.left[:3])
    assert second == set(order.left[:5])
    load = Counter(seat.reviewer_id for seat in ReviewSeat.objects.all())
    assert sorted(load.values()) == [3, 3, 4]


def test_an_outside_author_cannot_answer_a_flag_so_a_lead_without_a_part_revises(project):
    item = take_in(applied(project, entry()))
    draw_from(item, 1)
    triple = answer_both(triples_of(project)[0], "confirm", "flag")
    lead, snapshot = lead_of(project), newest_snapshot(project)

    revise(project=project, triple_id=triple.pk, author=lead, snapshot=snapshot, wording=make_wording(snapshot), at=AT)

    assert elsewhere_sets(project)[0].wrong == 1
    assert reload(triple).state == State.IN_REVIEW
    answer_both(triple, "confirm", "confirm")
    assert reload(triple).resolution == "revised"


def test_an_export_marks_them_and_names_who_reviewed_them(project):
    take_in(applied(project, entry(id="gs-1"), entry(id="gs-2", reviewed_by=[])))

    selection = Selection(project, EVERY, member=None, at=AT)
    taken, draft = selection.entries()

    assert (taken.id, taken.resolution, taken.reviewed_by, taken.added_by) == (
        "gs-1",
        "elsewhere",
        tuple(REVIEWERS),
        "Mara Quill",
    )
    assert (draft.resolution, draft.reviewed_by) == ("consensus", ())


def test_the_pages_and_the_api_lead_through_it(project, client):
    item = applied(project, *(entry() for _ in range(20)))
    client.force_login(lead_of(project))
    url = reverse("corpus:import", args=[project.slug, item.pk])
    api = f"/api/v1/projects/{project.slug}/review/elsewhere/"
    assert "20 drafts say" in client.get(url).content.decode()

    client.post(reverse("review:take-elsewhere", args=[project.slug, item.pk]), {"reason": REASON})
    page = client.get(url).content.decode()
    assert "None of 20 reviewed here." in page
    assert 'value="2" required' in page
    assert client.get(f"{api}{item.pk}/").json()["set"]["taken"] == 20

    answered = client.post(f"{api}{item.pk}/draw/", {"size": 2}, content_type="application/json").json()
    assert (answered["set"]["drawn"], answered["can_be_taken"], answered["kept"]) == (2, 0, 0)
    drawn = [t for t in triples_of(project) if t.sampled_at]
    assert "0 of 2 drawn from 20 are decided so far." in client.get(url).content.decode()
    answer_both(drawn[0], "confirm", "confirm")
    answer_both(drawn[1], "flag", "flag")

    assert "2 of 20 reviewed, 1 wrong: 50.0\xa0%, 9.5 to 90.5\xa0%" in client.get(url).content.decode()
    rate = client.get(api).json()["sets"][0]["error_rate"]
    assert (rate["value"], round(rate["low"], 3), rate["n"], rate["method"]) == (0.5, 0.095, 2, "wilson")
    taken = next(t for t in triples_of(project) if not t.sampled_at)
    there = client.get(reverse("review:triple", args=[project.slug, taken.pk])).content.decode()
    assert "reviewed elsewhere, by Jun Hallam, Sef Arden" in there
    assert REASON in there


def test_who_reviews_one_that_was_drawn_is_not_told_what_was_said_elsewhere(project, client):
    item = take_in(applied(project, entry()))
    draw_from(item, 1)
    [triple] = triples_of(project)
    client.force_login(reviewers_of(triple)[0])

    pages = [
        client.get(reverse(f"review:{name}", args=[project.slug, triple.pk])).content.decode()
        for name in ("screen", "triple")
    ]
    api = client.get(f"/api/v1/projects/{project.slug}/review/next/").json()

    assert all("Jun Hallam" not in page and REASON not in page for page in pages)
    assert api["triple"]["metadata"]["reviewed_elsewhere_by"] == []


@pytest.mark.parametrize("number", [1, 1_200])
def test_many_are_taken_in_some_statements_for_every_five_hundred(project, number, django_assert_max_num_queries):
    item = applied(project, *(entry() for _ in range(number)))
    steps = -(-number // 500)
    with django_assert_max_num_queries(30 + 30 * steps):
        done = take(item, lead=lead_of(project), reason=REASON, at=AT)
    assert (done.accepted, done.kept) == (number, {})
    with django_assert_max_num_queries(30 + 20 * steps):
        assert draw(item, size=number, lead=lead_of(project), at=AT) == number
    with django_assert_max_num_queries(6):
        assert elsewhere_sets(project)[0].drawn == number


def test_many_are_taken_and_drawn_in_a_job(project):
    item = applied(project, *(entry() for _ in range(4)))
    with patch("apps.review.actions.elsewhere.MOST_AT_ONCE", 2):
        waiting = take_in(item)
        with pytest.raises(Refusal, match="A job works on these"):
            take_in(item)
        run_jobs()
        draw_from(item, 3)
        run_jobs()

    assert waiting.job.kind == "review.take_elsewhere"
    [found] = elsewhere_sets(project)
    assert (found.taken, found.drawn) == (4, 3)


def test_undoing_an_import_takes_them_back_while_nothing_rests_on_them(project):
    item = take_in(applied(project, entry(), entry()))

    undo_import(import_id=item.pk, actor=lead_of(project), at=AT)

    assert {t.state for t in triples_of(project)} == {State.WITHDRAWN}
    again = take_in(applied(project, entry(), entry()))
    draw_from(again, 1)
    with pytest.raises(Refusal, match="drawn for review since: 1 Q&A"):
        undo_import(import_id=again.pk, actor=lead_of(project), at=AT)


def brought(project, tmp_path, *entries, **options) -> str:
    """What the command says that imports these entries from a file."""
    path, out, notes = tmp_path / "gold.jsonl", io.StringIO(), io.StringIO()
    path.write_text("".join(f"{json.dumps(one)}\n" for one in entries))
    call_command("import_triples", str(path), project=project.slug, stdout=out, stderr=notes, **options)
    return out.getvalue() + notes.getvalue()


def test_the_command_that_imports_a_set_takes_it_and_draws_its_tenth(project, tmp_path, client):
    entries = [entry() for _ in range(11)] + [entry(reviewed_by=[]), entry(reviewed_by=["Mara Quill"])]

    with pytest.raises(CommandError, match="Say where and how"):
        brought(project, tmp_path, *entries, reviewed_elsewhere="Yes.")
    with pytest.raises(CommandError, match="goes with --reviewed-elsewhere"):
        brought(project, tmp_path, *entries, sample=2)
    said = brought(project, tmp_path, *entries, reviewed_elsewhere=REASON, dry_run=True)
    assert "11 Q&As are taken as accepted; 2 of them are reviewed blind here" in said
    assert (Triple.objects.count(), Import.objects.count(), Upload.objects.count()) == (0, 0, 0)

    said = brought(project, tmp_path, *entries, reviewed_elsewhere=REASON)

    assert "T-0013 stays a draft. Its author alone reviewed it." in said
    assert Counter(t.state for t in triples_of(project)) == {State.ACCEPTED: 9, State.IN_REVIEW: 2, State.DRAFT: 2}
    item, [found] = Import.objects.get(), elsewhere_sets(project)
    assert (found.file, found.taken, found.drawn) == ("gold.jsonl", 11, 2)
    assert [t.pk for t in triples_of(project) if t.sampled_at] == sorted(drawing_order(item).drawn)
    client.force_login(lead_of(project))
    assert "None of 11" not in client.get(reverse("corpus:import", args=[project.slug, item.pk])).text
    draw_from(item, 5)
    assert elsewhere_sets(project)[0].drawn == 5


def test_a_set_of_a_command_is_taken_without_a_sample_where_none_is_wanted(project, tmp_path):
    brought(project, tmp_path, entry(), reviewed_elsewhere=REASON, sample=0)

    assert [t.state for t in triples_of(project)] == [State.ACCEPTED]
