import itertools

import pytest

from apps.review.core.visibility import (
    NOTHING,
    Part,
    Phase,
    Sight,
    may_write_in_thread,
    sees_answers_to_warnings,
    sight,
)

EVERY = list(itertools.product(Part, Phase))

#                       wording own    others names  answered thread
EXPECTED = {
    (Part.AUTHOR, Phase.WRITING): (True, False, False, False, False, False),
    (Part.AUTHOR, Phase.OPEN): (True, False, False, False, False, False),
    (Part.AUTHOR, Phase.CLOSED): (True, False, True, True, True, True),
    (Part.REVIEWER, Phase.WRITING): (False, False, False, False, False, False),
    (Part.REVIEWER, Phase.OPEN): (True, True, False, False, False, False),
    (Part.REVIEWER, Phase.CLOSED): (True, True, True, True, True, True),
    (Part.LEAD, Phase.WRITING): (True, False, False, False, False, False),
    (Part.LEAD, Phase.OPEN): (True, False, False, True, True, False),
    (Part.LEAD, Phase.CLOSED): (True, False, True, True, True, True),
    (Part.BYSTANDER, Phase.WRITING): (False, False, False, False, False, False),
    (Part.BYSTANDER, Phase.OPEN): (True, False, False, False, False, False),
    (Part.BYSTANDER, Phase.CLOSED): (True, False, True, True, True, False),
    (Part.VIEWER, Phase.WRITING): (False, False, False, False, False, False),
    (Part.VIEWER, Phase.OPEN): (False, False, False, False, False, False),
    (Part.VIEWER, Phase.CLOSED): (False, False, False, False, False, False),
}


@pytest.mark.parametrize(("part", "phase"), EVERY)
def test_what_each_part_sees_in_each_phase(part, phase):
    assert sight(part, phase) == Sight(*EXPECTED[part, phase])


@pytest.mark.parametrize("part", Part)
def test_nobody_sees_anothers_verdict_before_the_round_closes(part):
    assert not any(sight(part, phase).other_verdicts for phase in (Phase.WRITING, Phase.OPEN))


@pytest.mark.parametrize(("part", "phase"), EVERY)
def test_who_reviews_once_more_sees_no_verdict_not_even_their_own(part, phase):
    seen = sight(part, phase, veiled=True)

    assert not any(seen._replace(wording=False))


def test_a_viewer_sees_nothing_of_a_triple():
    assert {sight(Part.VIEWER, phase) for phase in Phase} == {NOTHING}


def test_author_and_flagger_write_and_the_confirmer_reads():
    assert may_write_in_thread(is_author=True, is_flagger=False)
    assert may_write_in_thread(is_author=False, is_flagger=True)
    assert not may_write_in_thread(is_author=False, is_flagger=False)


@pytest.mark.parametrize(("part", "phase"), EVERY)
def test_what_the_author_says_to_warnings_reaches_reviewers_when_the_round_has_closed(part, phase):
    told = {
        Phase.WRITING: {Part.AUTHOR, Part.LEAD},
        Phase.OPEN: {Part.AUTHOR, Part.LEAD},
        Phase.CLOSED: {Part.AUTHOR, Part.REVIEWER, Part.LEAD, Part.BYSTANDER},
    }

    assert sees_answers_to_warnings(part, phase) is (part in told[phase])
    assert not sees_answers_to_warnings(part, phase, veiled=True)
