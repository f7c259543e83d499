"""What a lead does to many Q&As at once: the preview, the job that does it, and the undo, by the rules of one Q&A."""

from collections import Counter
from copy import deepcopy
from datetime import timedelta

import pytest

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Forbidden
from apps.jobs.actions.jobs import cancel_job
from apps.jobs.enums import JobState
from apps.jobs.models import Notification
from apps.queries.actions.sources import revoke_permission
from apps.review.actions import bulk
from apps.review.actions.bulk import BulkRefused
from apps.review.actions.submitting import begin_revision, submit_triple
from apps.review.enums import BulkKind
from apps.review.models import BulkStep
from apps.review.presenters.bulk import words_of
from apps.review.selectors.bulk import counted, left_out, recent_steps
from apps.review.selectors.participation import record_of
from apps.review.selectors.reviews import last_difference
from apps.triples.actions.triples import copy_wording, refresh_staleness, retire_triple, save_draft
from apps.triples.enums import RetireReason, State
from apps.triples.execution.staleness import mark_changed
from apps.triples.selectors.imported import made_by
from apps.triples.selectors.triples import newest_snapshot
from tests.factories import AT, lead_of, make_member
from tests.queries.factories import make_permission, make_source
from tests.review.bulk.walking import begin, chosen, do, matching, seen, states_of, undo
from tests.review.elsewhere import applied, draw_from, entry, take_in
from tests.review.factories import CHANGED, answer, make_accepted, make_in_review, make_triple, reload, reviewers_of
from tests.review.seating.moving import end_role, give_away, people, set_policy, with_reviewer_lead
from tests.running_jobs import run_jobs
from tests.test_statements import Statements
from tests.triples.factories import TEXTS, make_draft, make_snapshot, make_team

MORE = {BulkKind.DESCRIBE: {"domain": "keys"}, BulkKind.ASSIGN: {"replace": "unanswered"}}
WITHOUT_ROTATION = {key: text for key, text in CHANGED.items() if key != "rotation"}
ROTATION = {
    "key": "rotation",
    "evidence": "A root key is rotated at least every twelve months",
    "answer": "At least every twelve months.",
}


@pytest.fixture(scope="module")
def _project(module_rows):
    return make_team(reviewers=4)


@pytest.fixture
def project(db, _project):
    return deepcopy(_project)


def new_edition(triple, texts=CHANGED):
    snapshot = make_snapshot(triple.project, texts, corpus=triple.snapshot.corpus)
    refresh_staleness(project=triple.project, snapshot=snapshot, at=AT)


def picture(triple):
    """All that an undo gives back of a triple."""
    row = reload(triple)
    moved = (row.state, row.is_stale, row.round, row.resolution, row.resolved_at, row.retire_reason, row.changed_at)
    return (*moved, row.snapshot_id, row.source_id, row.domain)


def actions_on(triple):
    rows = Event.objects.filter(object_type="triples.triple", object_id=str(triple.pk))
    return list(rows.order_by("pk").values_list("action", flat=True))


def seats_given(triples):
    return Counter(person for triple in triples for person in reviewers_of(triple))


def groups_of(shown):
    return {group.reason: [triple.label for triple in group.triples] for group in shown.cannot}


def adds_up(shown):
    return shown.selected == len(shown.can) + sum(group.number for group in shown.cannot)


def notices(person, kind):
    return [row.sentence for row in Notification.objects.filter(person=person, kind=kind).order_by("pk")]


class TestRePinning:
    def test_the_same_evidence_goes_to_review_and_the_rest_needs_its_author(self, project):
        lead, other = lead_of(project), make_member(project, Role.LEAD, name="Second")
        kept = [make_accepted(project) for _ in range(3)]
        author = make_member(project, Role.ANNOTATOR, name="Ann")
        lost = [make_accepted(project, author=author, **ROTATION) for _ in range(2)]
        written = make_accepted(project)
        new_edition(kept[0], WITHOUT_ROTATION)
        begin_revision(
            project=project, triple_id=written.pk, person=written.author, snapshot=newest_snapshot(project), at=AT
        )
        before = {triple.pk: picture(triple) for triple in kept}

        shown = seen(project, BulkKind.RE_PIN, matching(state="stale"))

        assert (shown.selected, [triple.label for triple in shown.can]) == (6, [triple.label for triple in kept])
        assert groups_of(shown) == {
            "The newest snapshot does not contain its passage. Rewrite it for another passage, or retire it.": [
                triple.label for triple in lost
            ],
            f"{written.author} is already writing the next revision.": [written.label],
        }
        assert {(share.person, share.number) for share in shown.waits} == {(author, 2), (written.author, 1)}

        step = do(project, BulkKind.RE_PIN, matching(state="stale"))

        assert states_of(step) == [(triple.label, "done") for triple in kept]
        assert {share.person: share.number for share in shown.reviews} == seats_given(kept)
        assert lead not in seats_given(kept)
        assert [actions_on(triple).count("triple.re_pin") for triple in kept] == [1, 1, 1]
        assert notices(author, "triple.stale")[-1].startswith("2 stale Q&As of yours need you")

        answer(kept[1], reviewers_of(kept[1])[0])
        with pytest.raises(BulkRefused, match="who did it"):
            undo(step, other)
        undone = undo(step)

        assert [state for _, state in states_of(undone)] == ["undone", "kept", "undone"]
        assert [(left.reason, left.labels) for left in left_out(undone)] == [
            ("A reviewer has answered it since.", [kept[1].label])
        ]
        for triple in (kept[0], kept[2]):
            assert picture(triple) == before[triple.pk]
            assert actions_on(triple)[-1] == "triple.undo_re_pin"
            assert record_of(reload(triple)).submitted == [reload(triple).revision]
        with pytest.raises(BulkRefused, match="has been undone"):
            undo(step)

        again = do(project, BulkKind.RE_PIN, chosen([kept[0]]))
        assert states_of(again) == [(kept[0].label, "done")]
        fresh = reload(kept[0])
        assert (fresh.round, record_of(fresh).before.number, last_difference(fresh.revision).before.number) == (2, 1, 1)

    def test_its_line_is_the_same_whether_or_not_a_reviewer_has_answered(self, project):
        triple = make_accepted(project)
        new_edition(triple)
        step = do(project, BulkKind.RE_PIN, matching(state="stale"))

        before = recent_steps(project, lead_of(project), AT)
        answer(triple, reviewers_of(triple)[0])

        assert recent_steps(project, lead_of(project), AT) == before
        assert [view.undoable for view in before] == [1]
        assert states_of(undo(step)) == [(triple.label, "kept")]

    def test_where_seats_are_pulled_only_returning_reviewers_get_theirs(self, project):
        set_policy(project, review_assignment="pull")
        triples = [make_in_review(project) for _ in range(2)]
        for triple in triples:
            for _ in range(2):
                reviewer = next(person for person in people(project) if person not in reviewers_of(triple))
                give_away(triple, None, reviewer)
            for reviewer in reviewers_of(triple):
                answer(triple, reviewer)
        new_edition(triples[0])
        end_role(project, reviewers_of(triples[0])[0])

        shown = seen(project, BulkKind.RE_PIN, matching(state="stale"))
        do(project, BulkKind.RE_PIN, matching(state="stale"))

        assert shown.can == triples
        assert sum(share.number for share in shown.reviews) + shown.queued == 4
        assert {share.person: share.number for share in shown.reviews} == seats_given(triples)

    def test_who_reviewed_it_cannot_pin_it(self, project):
        triple = make_accepted(project)
        new_edition(triple)
        reviewer = reviewers_of(triple)[0]
        set_roles(project=project, user=reviewer, roles=["reviewer", "lead"], actor=lead_of(project), at=AT)

        shown = seen(project, BulkKind.RE_PIN, matching(), lead=reviewer)

        assert groups_of(shown) == {
            "You reviewed this Q&A. Its author or another lead must pin it again.": [triple.label]
        }
        with pytest.raises(BulkRefused, match="There is none"):
            begin(project, BulkKind.RE_PIN, matching(), lead=reviewer)


class TestAssigning:
    def test_who_answered_stays_and_nobody_reviews_their_own(self, project):
        triples = [make_in_review(project) for _ in range(4)]
        heir = make_member(project, Role.REVIEWER, name="Heir")
        writer = triples[3].author
        set_roles(project=project, user=writer, roles=["annotator", "reviewer"], actor=lead_of(project), at=AT)
        stays = reviewers_of(triples[0])[0]
        answer(triples[0], stays)
        draft = make_draft(project)
        before = {triple.pk: reviewers_of(triple) for triple in triples}
        values = {"replace": "unanswered", "to": [heir.pk, writer.pk]}

        shown = seen(project, BulkKind.ASSIGN, chosen([*triples, draft]), **values)

        assert adds_up(shown)
        assert groups_of(shown) == {
            "None of the chosen people can review it: they wrote it, review it already, or are no reviewers here.": [
                triples[3].label
            ],
            "It is draft; no round is open.": [draft.label],
        }
        step = do(project, BulkKind.ASSIGN, chosen([*triples, draft]), **values)

        assert states_of(step) == [(triple.label, "done") for triple in triples[:3]]
        assert set(reviewers_of(triples[0])) == {stays, heir} or set(reviewers_of(triples[0])) == {stays, writer}
        assert [set(reviewers_of(triple)) for triple in triples[1:3]] == [{heir, writer}] * 2
        assert reviewers_of(triples[3]) == before[triples[3].pk]
        gained = {share.person: share.number for share in shown.reviews}
        given = seats_given(triples[:3])
        assert gained == {person: given[person] for person in (heir, writer)}
        assert len(notices(heir, "review.seat")) == gained[heir]

        answer(triples[1], heir)
        (view,) = counted(BulkStep.objects.filter(pk=step.pk).select_related("job", "undo_job"), lead_of(project))
        assert (view.done, view.undoable, view.touched) == (3, 2, 1)
        undone = undo(step)

        assert [state for _, state in states_of(undone)] == ["undone", "kept", "undone"]
        assert [set(reviewers_of(triples[n])) == set(before[triples[n].pk]) for n in (0, 1, 2)] == [True, False, True]

    def test_only_the_chosen_get_any_and_they_keep_what_they_have(self, project):
        triples = [make_in_review(project) for _ in range(6)]
        before = {triple.pk: set(reviewers_of(triple)) for triple in triples}
        away, *others = people(project)
        values = {"replace": "unanswered", "to": [person.pk for person in others]}

        with pytest.raises(BulkRefused, match="Choose who reviews them"):
            begin(project, BulkKind.ASSIGN, matching(), **values | {"to": []})
        shown = seen(project, BulkKind.ASSIGN, matching(), **values)
        step = do(project, BulkKind.ASSIGN, matching(), **values)

        given = [triple for triple in triples if away in before[triple.pk]]
        assert shown.can == given
        assert [(share.person, share.number) for share in shown.lose] == [(away, len(given))]
        assert states_of(step) == [(triple.label, "done") for triple in given]
        for triple in triples:
            assert away not in reviewers_of(triple)
            assert before[triple.pk] - {away} <= set(reviewers_of(triple)) <= set(others)

    def test_a_lead_with_a_part_learns_nothing_and_changes_nothing(self, project):
        triple, lead, other = with_reviewer_lead(project)
        shown = seen(project, BulkKind.ASSIGN, matching(), lead=lead)

        answer(triple, other)

        assert seen(project, BulkKind.ASSIGN, matching(), lead=lead) == shown
        assert list(groups_of(shown)) == [
            "You review this Q&A. A lead who is not involved must reassign it, because that shows who has answered."
        ]

    def test_seats_of_people_who_left_go_to_whoever_has_the_fewest(self, project):
        triples = [make_in_review(project) for _ in range(3)]
        gone = reviewers_of(triples[0])[0]
        end_role(project, gone)
        stuck = [triple for triple in triples if gone in reviewers_of(triple)]

        shown = seen(project, BulkKind.ASSIGN, matching(), replace="stuck")
        step = do(project, BulkKind.ASSIGN, matching(), replace="stuck")

        assert states_of(step) == [(triple.label, "done") for triple in stuck]
        assert sum(share.number for share in shown.reviews) == len(stuck)
        assert not any(gone in reviewers_of(triple) for triple in triples)


class TestRetiring:
    def test_accepted_and_stale_ones_are_retired_and_come_back_as_they_were(self, project):
        accepted, stale = make_accepted(project), make_accepted(project, **ROTATION)
        new_edition(accepted, CHANGED | {"access": TEXTS["access"], "rotation": "A root key is never rotated."})
        draft = make_draft(project)
        picked = chosen([accepted, stale, draft])
        before = [picture(accepted), picture(stale)]

        with pytest.raises(BulkRefused, match="Choose why"):
            begin(project, BulkKind.RETIRE, picked, reason="")
        shown = seen(project, BulkKind.RETIRE, picked)
        assert groups_of(shown) == {"It is draft; only an accepted Q&A can be retired.": [draft.label]}
        step = do(project, BulkKind.RETIRE, picked)

        assert [reload(triple).state for triple in (accepted, stale)] == [State.RETIRED] * 2
        undo(step)

        assert [picture(accepted), picture(stale)] == before
        assert [actions_on(triple)[-2:] for triple in (accepted, stale)] == [
            ["triple.retire", "triple.undo_retire"]
        ] * 2

    def test_one_that_went_stale_meanwhile_comes_back_stale(self, project):
        triple = make_accepted(project)
        step = do(project, BulkKind.RETIRE, chosen([triple]))
        new_edition(triple)

        undo(step)

        assert (reload(triple).state, reload(triple).is_stale) == (State.ACCEPTED, True)

    def test_one_whose_source_was_revoked_since_stays_retired(self, project):
        permission = make_permission(make_source(project))
        triple = make_accepted(project, source_id=permission.source_id)
        step = do(project, BulkKind.RETIRE, chosen([triple]))
        revoke_permission(permission_id=permission.pk, reason="Asked back.", actor=lead_of(project), at=AT)

        undone = undo(step)

        assert states_of(undone) == [(triple.label, "kept")]
        assert "permission of its source was revoked" in left_out(undone)[0].reason


class TestDescribing:
    def test_source_and_domain_are_set_where_they_differ_and_given_back(self, project):
        source = make_source(project)
        triples = [make_draft(project, domain="access"), make_in_review(project), make_accepted(project)]
        has_it = make_draft(project, domain="tenders", source_id=source.pk)
        retired = make_triple(project, State.RETIRED)
        picked, values = chosen([*triples, has_it, retired]), {"source_id": source.pk, "domain": "tenders"}

        with pytest.raises(BulkRefused, match="Choose a source or a domain"):
            begin(project, BulkKind.DESCRIBE, picked)
        shown = seen(project, BulkKind.DESCRIBE, picked, **values)
        assert (shown.selected, groups_of(shown)) == (4, {"It has them already.": [has_it.label]})
        step = do(project, BulkKind.DESCRIBE, picked, **values)

        rows = [reload(triple) for triple in triples]
        assert {(row.source_id, row.domain) for row in rows} == {(source.pk, "tenders")}
        assert [actions_on(triple)[-1] for triple in triples] == ["triple.describe"] * 3
        edited = reload(triples[0])
        save_draft(
            project=project,
            triple_id=edited.pk,
            author=edited.author,
            seen_version=edited.edit_version,
            snapshot=edited.snapshot,
            wording=copy_wording(edited, edited.revision)._replace(domain="mine"),
            at=AT,
        )
        undone = undo(step)

        assert [state for _, state in states_of(undone)] == ["kept", "undone", "undone"]
        assert [(reload(triple).source_id, reload(triple).domain) for triple in triples] == [
            (source.pk, "mine"), (None, ""), (None, ""),
        ]  # fmt: skip


class TestSubmitting:
    def test_drafts_are_checked_then_each_kind_of_warning_takes_one_reason(self, project):
        lead = lead_of(project)
        wordy = "At most eight hours, and it closes by itself, and nobody may ever extend it for whatever reason."
        plain = [make_draft(project, author=lead) for _ in range(2)]
        warned = [make_draft(project, author=lead, answer=wordy) for _ in range(2)]
        stopped = make_draft(project, author=lead, answer="At most nine hours.")
        others = make_draft(project)
        every = matching(state="draft")
        labels = [triple.label for triple in (*plain, *warned, stopped)]

        shown = seen(project, BulkKind.SUBMIT, every)
        assert groups_of(shown) == {
            "Its checks have not run since it was edited.": labels,
            "Only the person writing this revision can submit it.": [others.label],
        }
        assert [triple.label for triple in seen(project, BulkKind.CHECK, every).can] == labels
        checked = do(project, BulkKind.CHECK, every)
        assert {state for _, state in states_of(checked)} == {"done"}
        with pytest.raises(BulkRefused, match="nothing to undo"):
            undo(checked)

        shown = seen(project, BulkKind.SUBMIT, every)
        assert [(warning.code, warning.number) for warning in shown.warnings] == [("longer", 2)]
        assert [triple.label for triple in shown.can] == [triple.label for triple in plain]
        assert adds_up(shown)
        answers = {"longer": "The passage says it in other words."}
        shown = seen(project, BulkKind.SUBMIT, every, answers=answers)
        assert [triple.label for triple in shown.can] == [triple.label for triple in (*plain, *warned)]
        before = [picture(triple) for triple in (*plain, *warned)]
        step = do(project, BulkKind.SUBMIT, every, answers=answers)

        assert {reload(triple).state for triple in (*plain, *warned)} == {State.IN_REVIEW}
        assert [reload(triple).revision.warnings[0]["answer"] for triple in warned] == [answers["longer"]] * 2
        assert {share.person: share.number for share in shown.reviews} == seats_given([*plain, *warned])
        undo(step)

        assert [picture(triple) for triple in (*plain, *warned)] == before
        fresh = reload(warned[0])
        assert (fresh.revision.number, fresh.revision.submitted_at, fresh.revision.answer) == (2, None, wordy)
        submit_triple(project=project, triple_id=fresh.pk, author=lead, at=AT)
        assert (reload(fresh).round, record_of(reload(fresh)).before) == (1, None)


class TestTheJob:
    def test_what_changed_meanwhile_is_left_out_and_named(self, project):
        one, two = make_accepted(project), make_accepted(project)
        step = begin(project, BulkKind.RETIRE, chosen([one, two]))
        retire_triple(
            project=project, triple_id=one.pk, lead=lead_of(project), roles=frozenset({"lead"}),
            reason=RetireReason.BLOCK_GONE, at=AT,
        )  # fmt: skip

        run_jobs()

        assert states_of(step) == [(one.label, "left"), (two.label, "done")]
        assert left_out(step) == [("It is retired; only an accepted Q&A can be retired.", [one.label])]

    def test_a_stop_leaves_what_is_done_and_an_undo_gives_that_back(self, project, monkeypatch):
        triples = [make_accepted(project) for _ in range(3)]
        step = begin(project, BulkKind.RETIRE, chosen(triples))
        act = bulk.ACTS[BulkKind.RETIRE]

        def stops_after_two(item, at):
            if item.triple_id == triples[1].pk:
                cancel_job(job_id=step.job_id, actor=step.begun_by, at=AT)
            return act(item, at)

        monkeypatch.setitem(bulk.ACTS, BulkKind.RETIRE, stops_after_two)
        with pytest.raises(BulkRefused, match="under way"):
            undo(step)
        with pytest.raises(BulkRefused, match="a moment ago"):
            begin(project, BulkKind.RETIRE, chosen(triples))
        run_jobs()

        step = BulkStep.objects.get(pk=step.pk)
        assert step.job.state == JobState.CANCELLED
        assert [state for _, state in states_of(step)] == ["done", "done", "planned"]
        undo(step)
        assert {reload(triple).state for triple in triples} == {State.ACCEPTED}

    def test_another_selection_than_was_seen_is_refused(self, project):
        triples = [make_accepted(project), make_accepted(project)]
        digest = seen(project, BulkKind.RETIRE, matching(state="accepted")).digest
        make_accepted(project)

        with pytest.raises(BulkRefused, match="another selection"):
            begin(project, BulkKind.RETIRE, matching(state="accepted"), digest=digest)
        assert begin(project, BulkKind.RETIRE, chosen(triples), digest=digest).planned == 2

    def test_only_a_lead_may(self, project):
        annotator = make_member(project, Role.ANNOTATOR)

        with pytest.raises(Forbidden):
            seen(project, BulkKind.RETIRE, matching(), lead=annotator)

    def test_a_lead_who_no_longer_is_one_does_nothing_more(self, project):
        lead = make_member(project, Role.LEAD, name="Leaving")
        triple = make_accepted(project)
        step = begin(project, BulkKind.RETIRE, chosen([triple]), lead=lead)
        set_roles(project=project, user=lead, roles=["viewer"], actor=lead_of(project), at=AT)

        run_jobs()

        assert states_of(step) == [(triple.label, "left")]


def many_of_each_kind(number):
    """What is previewed of so many: stale and accepted ones, some in review, and drafts of the lead, checked."""
    project = make_team(reviewers=4)
    drawn, accepted, stale = (
        take_in(applied(project, *(entry() for _ in range(number)), at=AT + timedelta(hours=n))) for n in range(3)
    )
    draw_from(drawn, number)
    changed = make_snapshot(project, CHANGED, corpus=made_by(stale)[0].snapshot.corpus)
    mark_changed(changed, list(made_by(stale).values_list("pk", flat=True)), AT)
    applied(project, *(entry() | {"metadata": {}} for _ in range(number)))
    do(project, BulkKind.CHECK, matching(state="draft"))
    return project, {
        BulkKind.RE_PIN: chosen(list(made_by(stale))),
        BulkKind.ASSIGN: chosen(list(made_by(drawn))),
        BulkKind.DESCRIBE: chosen(list(made_by(accepted))),
        BulkKind.RETIRE: chosen(list(made_by(accepted))),
        BulkKind.SUBMIT: matching(state="draft"),
    }


@pytest.mark.django_db
def test_a_preview_takes_as_many_statements_for_200_as_for_20():
    found = []
    for number in (20, 200):
        project, selections = many_of_each_kind(number)
        counts = {}
        for kind, selection in selections.items():
            with Statements() as statements:
                shown = seen(project, kind, selection, **MORE.get(kind, {}))
            assert (kind, len(shown.can)) == (kind, number)
            counts[kind] = statements.number
            listed = words_of(shown).can
            assert len(listed.first) + listed.more == number
            assert len(listed.first) <= 100
        found.append(counts)

    assert found[0] == found[1]
    assert max(found[0].values()) <= 16
