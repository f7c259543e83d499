import itertools

import pytest

from apps.review.core.visibility import (
    NOTHING,
    Involvement,
    RoundPhase,
    Sight,
    may_write_in_thread,
    sees_answers_to_warnings,
    sight,
)

EVERY = list(itertools.product(Involvement, RoundPhase))

#                       wording own    others names  answered thread
EXPECTED = {
    (Involvement.AUTHOR, RoundPhase.WRITING): (True, False, False, False, False, False),
    (Involvement.AUTHOR, RoundPhase.OPEN): (True, False, False, False, False, False),
    (Involvement.AUTHOR, RoundPhase.CLOSED): (True, False, True, True, True, True),
    (Involvement.REVIEWER, RoundPhase.WRITING): (False, False, False, False, False, False),
    (Involvement.REVIEWER, RoundPhase.OPEN): (True, True, False, False, False, False),
    (Involvement.REVIEWER, RoundPhase.CLOSED): (True, True, True, True, True, True),
    (Involvement.LEAD, RoundPhase.WRITING): (True, False, False, False, False, False),
    (Involvement.LEAD, RoundPhase.OPEN): (True, False, False, True, True, False),
    (Involvement.LEAD, RoundPhase.CLOSED): (True, False, True, True, True, True),
    (Involvement.BYSTANDER, RoundPhase.WRITING): (False, False, False, False, False, False),
    (Involvement.BYSTANDER, RoundPhase.OPEN): (True, False, False, False, False, False),
    (Involvement.BYSTANDER, RoundPhase.CLOSED): (True, False, True, True, True, False),
    (Involvement.VIEWER, RoundPhase.WRITING): (False, False, False, False, False, False),
    (Involvement.VIEWER, RoundPhase.OPEN): (False, False, False, False, False, False),
    (Involvement.VIEWER, RoundPhase.CLOSED): (False, False, False, False, False, False),
}


@pytest.mark.parametrize(("part", "phase"), EVERY)
def test_what_each_part_sees_in_each_phase(part, phase):
    assert sight(part, phase) == Sight(*EXPECTED[part, phase])


@pytest.mark.parametrize("part", Involvement)
def test_nobody_sees_anothers_verdict_before_the_round_closes(part):
    assert not any(sight(part, phase).other_verdicts for phase in (RoundPhase.WRITING, RoundPhase.OPEN))


@pytest.mark.parametrize(("part", "phase"), EVERY)
def test_who_reviews_once_more_sees_no_verdict_not_even_their_own(part, phase):
    seen = sight(part, phase, blinded=True)

    assert not any(seen._replace(wording=False))


def test_a_viewer_sees_nothing_of_a_triple():
    assert {sight(Involvement.VIEWER, phase) for phase in RoundPhase} == {NOTHING}


def test_author_and_flagger_write_and_the_confirmer_reads():
    assert may_write_in_thread(is_author=True, is_flagger=False)
    assert may_write_in_thread(is_author=False, is_flagger=True)
    assert not may_write_in_thread(is_author=False, is_flagger=False)


@pytest.mark.parametrize(("part", "phase"), EVERY)
def test_what_the_author_says_to_warnings_reaches_reviewers_when_the_round_has_closed(part, phase):
    told = {
        RoundPhase.WRITING: {Involvement.AUTHOR, Involvement.LEAD},
        RoundPhase.OPEN: {Involvement.AUTHOR, Involvement.LEAD},
        RoundPhase.CLOSED: {Involvement.AUTHOR, Involvement.REVIEWER, Involvement.LEAD, Involvement.BYSTANDER},
    }

    assert sees_answers_to_warnings(part, phase) is (part in told[phase])
    assert not sees_answers_to_warnings(part, phase, blinded=True)
