from datetime import timedelta

import pytest

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.agreement.selectors.agreement import rounds_for
from apps.common.database.batched_reads import answer_to
from apps.dashboard.pages import progress
from apps.judging.actions.rounds import close_round
from apps.review.actions.submitting import give_verdict
from apps.review.enums import VerdictChoice
from apps.triples.enums import State
from apps.triples.selectors.triples import state_counts
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import judge_all, make_round, people_of
from tests.review.factories import answer, answer_both, make_in_review, make_triple, reviewers_of
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


def as_lead(project):
    return membership_in(lead_of(project), project.slug)


def states_in(project):
    return progress.states_from(answer_to(project, state_counts(project)))


def agreement_seen_by(member):
    return progress.chart_of(member, progress.coefficients(member, rounds_for(member)))


def test_of_triples_the_stale_are_taken_out_of_the_accepted_and_withdrawn_drafts_do_not_count():
    project = make_team()
    make_triple(project, State.WITHDRAWN)
    assert states_in(project) is None

    make_triple(project, State.ACCEPTED, stale=True)
    make_triple(project, State.ACCEPTED)
    make_triple(project, State.DRAFT)
    found = states_in(project)

    counts = {item.state: item.count for item in found.counts if item.count}
    assert counts == {"accepted": 1, "stale": 1, "draft": 1}
    assert found.total == 3
    assert "accepted: 1" in found.bar


class TestAgreement:
    def test_before_anybody_shares_a_pair_there_is_no_chart(self):
        assert agreement_seen_by(as_lead(make_project())) is None

    def test_leads_read_names_and_others_letters(self):
        round_ = make_round(queries=3, blocks=4, annotators=2, overlap=1.0)
        for person in people_of(round_):
            judge_all(round_, person, lambda seat: seat.entry_id % 4)
        close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)
        viewer = make_member(round_.project, Role.VIEWER)

        lead_sees = agreement_seen_by(as_lead(round_.project)).figures
        viewer_sees = agreement_seen_by(membership_in(viewer, round_.project.slug)).figures

        assert "Judge 0 and Judge 1" in lead_sees
        assert "Judge" not in viewer_sees
        assert "A and B" in viewer_sees

    def test_everybody_and_each_pair_of_people_are_shown_under_one_coefficient(self):
        round_ = make_round(queries=3, blocks=4, annotators=2, overlap=1.0)
        for person in people_of(round_):
            judge_all(round_, person, lambda seat: seat.entry_id % 4)

        figures = agreement_seen_by(as_lead(round_.project)).figures

        assert figures.count("<td>α ordinal</td>") == 2
        assert "κ quadratic" not in figures

    @pytest.mark.parametrize("roles", [[Role.VIEWER], [Role.ANNOTATOR, Role.VIEWER]])
    def test_only_leads_see_open_rounds(self, roles):
        round_ = make_round(queries=3, blocks=4, annotators=2, overlap=1.0)
        for person in people_of(round_):
            judge_all(round_, person, lambda seat: seat.entry_id % 4)
        both = make_member(round_.project, *roles)

        assert agreement_seen_by(membership_in(both, round_.project.slug)) is None

    def test_one_grade_only_is_a_sentence(self):
        round_ = make_round(queries=1, blocks=2, annotators=2, overlap=1.0)
        for person in people_of(round_):
            judge_all(round_, person, lambda seat: 2)

        chart = agreement_seen_by(as_lead(round_.project))

        assert "1.00" not in chart.figures
        assert ">not defined</text>" in chart.drawing
        assert "<figcaption>Not defined for All annotators, Judge 0 and Judge 1: only one" in chart.drawing

    def test_a_new_verdict_is_seen_at_once(self):
        project = make_team()
        first, second = make_in_review(project), make_in_review(project)
        answer_both(first, VerdictChoice.CONFIRM, VerdictChoice.FLAG)
        before = agreement_seen_by(as_lead(project))

        answer_both(second, VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)

        assert agreement_seen_by(as_lead(project)).figures != before.figures


class TestFlagRates:
    def test_open_rounds_are_not_counted(self):
        project = make_team()
        triple = make_in_review(project)
        answer(triple, reviewers_of(triple)[0], VerdictChoice.FLAG)

        assert progress.flag_rates(as_lead(project)) is None

    def test_a_rate_has_its_counts_and_interval(self):
        project = make_team()
        author = make_member(project, Role.ANNOTATOR, name="Jun Hallam")
        for choice in (VerdictChoice.CONFIRM, VerdictChoice.FLAG):
            answer_both(make_in_review(project, author=author), VerdictChoice.CONFIRM, choice)

        (row,) = progress.flag_rates(as_lead(project)).authors

        assert (row.name, row.flags, row.reviews, row.rate) == ("Jun Hallam", 1, 4, 0.25)
        assert row.interval[0] < 0.25 < row.interval[1]
        assert row.is_calibrating

    def test_weeks_are_drawn_once_there_are_three(self):
        project = make_team()
        for week in range(3):
            assert progress.flag_rates(as_lead(project)) is None or progress.flag_rates(as_lead(project)).weeks is None
            close_first_round(project, AT + timedelta(weeks=week), flags=0)

        assert "no week is outside" in progress.flag_rates(as_lead(project)).weeks.drawing

    @pytest.mark.slow
    def test_a_week_outside_its_limit_is_named(self):
        project = make_team()
        for week in range(4):
            for _ in range(12):
                close_first_round(project, AT + timedelta(weeks=week), flags=2 * (week == 3))

        weeks = progress.flag_rates(as_lead(project)).weeks

        assert "outside: week 13" in weeks.drawing
        assert "100.0 %" in weeks.figures


def close_first_round(project, at, *, flags):
    """Two verdicts on a new triple, `flags` of them flags, given at `at`."""
    triple = make_in_review(project)
    for reviewer, flag in zip(reviewers_of(triple), (flags > 0, flags > 1), strict=True):
        give_verdict(
            project=project,
            triple_id=triple.pk,
            revision_id=triple.current_id,
            reviewer=reviewer,
            choice=VerdictChoice.FLAG if flag else VerdictChoice.CONFIRM,
            reasons=["other"] if flag else [],
            note="No." if flag else "",
            idempotency_key=f"{triple.pk}",
            at=at,
        )
