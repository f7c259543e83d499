"""Grades carried over to texts that are the same: by a lead's rule alone, once, and weaker than any real judgement."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.agreement.selectors.agreement import live_grades
from apps.audit.models import Event
from apps.judging.actions.propagation import CarryRefused, mark_of
from apps.judging.actions.rounds import close_round
from apps.judging.core.plan import Plan
from apps.judging.core.resolution import Resolution
from apps.judging.enums import RoundKind
from apps.judging.models import Judgement, Round, Seat
from apps.judging.selectors.pairs import resolved_grades
from apps.judging.selectors.plans import preview_of
from apps.judging.selectors.propagation import CarryRule, carry_of
from apps.judging.selectors.rejudging import known_pairs
from apps.retrieval.models import PoolEntry
from tests.factories import AT, lead_of, make_member
from tests.judging.same import GRADES, carry, judged, judged_apart, make_same_pool
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db


@rows_of_module
def pool():
    return make_same_pool()


def grades_of(source):
    names = dict(PoolEntry.objects.values_list("version_id", "version__block__outside_id"))
    return {names[pair.version_id]: (pair.grade, pair.resolution) for pair in resolved_grades(source)}


def counts(pool):
    found = carry_of(pool)
    return len(found.exact), len(found.near), found.unsettled, found.done, found.own


def test_a_round_passes_over_what_is_the_same_as_another(pool):
    preview = preview_of(pool, Plan(seed=1), {1: None})

    round_ = judged(pool)

    assert preview.pairs == 3
    assert set(Seat.objects.filter(round=round_).values_list("entry__version__block__outside_id", flat=True)) == set(
        GRADES
    )


def test_nothing_is_carried_over_by_itself(pool):
    judged(pool)

    assert set(grades_of(pool.snapshot)) == set(GRADES)
    assert not Round.objects.filter(kind=RoundKind.PROPAGATED).exists()
    assert counts(pool) == (2, 1, 0, 0, 0)


def test_the_rule_says_to_which_texts(pool):
    judged(pool)

    exact = carry(pool, CarryRule.EXACT)
    assert grades_of(exact) == {"a-exact": (3, Resolution.CARRIED), "b-exact": (1, Resolution.CARRIED)}
    assert counts(pool) == (0, 1, 0, 2, 0)

    near = carry(pool, CarryRule.NEAR)
    assert grades_of(near) == {"a-near": (3, Resolution.CARRIED)}
    assert counts(pool) == (0, 0, 0, 3, 0)


def test_both_rules_at_once_and_the_grades_count_on_these_texts(pool):
    judged(pool)

    carry(pool)

    grades = {name: grade for name, (grade, _) in grades_of(pool.snapshot).items()}
    assert grades == {**GRADES, "a-exact": 3, "a-near": 3, "b-exact": 1}


def test_a_carry_over_is_a_closed_round_that_records_where_each_grade_comes_from(pool):
    judged(pool)

    round_ = carry(pool)

    assert (round_.state, round_.kind, round_.pool_id) == ("closed", "propagated", pool.pk)
    assert pool.name in round_.origin
    assert "exact and near texts" in round_.origin
    notes = dict(round_.judgements.values_list("entry__version__block__outside_id", "note"))
    assert notes == {
        "a-exact": "Carried over from a: the same text.",
        "a-near": "Carried over from a: nearly the same text.",
        "b-exact": "Carried over from b: the same text.",
    }
    after = Event.objects.get(action="grades.carried").after
    assert (after["rule"], after["exact"], after["near"], after["pool"]) == ("near", 2, 1, pool.pk)
    assert set(round_.seats.values_list("state", flat=True)) == {"done"}


def test_what_was_carried_over_is_not_carried_again(pool):
    judged(pool)
    carry(pool)

    with pytest.raises(CarryRefused, match="This rule gives a grade to no pair"):
        carry(pool)

    assert Round.objects.filter(kind=RoundKind.PROPAGATED).count() == 1


def test_a_text_whose_grade_has_changed_is_carried_over_again(pool):
    judged(pool)
    carry(pool)
    judged_apart(pool, "b", 2)
    assert counts(pool) == (1, 0, 0, 2, 0)

    carry(pool)

    assert grades_of(pool.snapshot)["b-exact"] == (2, Resolution.CARRIED)


@pytest.mark.parametrize("grades", [{"a": None, "b": None, "c": 0}])
def test_a_text_that_nobody_could_judge_carries_nothing(pool, grades):
    judged(pool, grades)

    assert counts(pool) == (0, 0, 3, 0, 0)
    with pytest.raises(CarryRefused):
        carry(pool)


def test_grades_of_an_open_round_wait(pool):
    round_ = judged(pool, close=False)
    assert counts(pool) == (0, 0, 3, 0, 0)

    close_round(round_id=round_.pk, actor=lead_of(pool.project), at=AT)

    assert counts(pool) == (2, 1, 0, 0, 0)


def test_a_pair_that_was_judged_itself_is_left_alone(pool):
    judged(pool)
    judged_apart(pool, "a-exact", 0, close=False)

    assert counts(pool) == (1, 1, 0, 0, 1)
    carry(pool)

    assert grades_of(pool.snapshot)["a-exact"] == (0, Resolution.SINGLE)


@pytest.mark.parametrize("is_later", [True, False])
def test_a_judgement_counts_more_than_a_grade_carried_over_whenever_it_was_given(pool, is_later):
    first = judged(pool)
    waiting = judged_apart(pool, "a-near", 2) if not is_later else None
    own = carry(pool)
    apart = waiting or judged_apart(pool, "a-near", 2)

    for rounds in ([own, apart, first], [apart, first, own]):
        assert grades_of(rounds)["a-near"] == (2, Resolution.SINGLE)


def test_nothing_is_done_when_it_is_not_what_the_lead_saw(pool):
    judged(pool)
    seen = mark_of(carry_of(pool).under(CarryRule.NEAR))
    judged_apart(pool, "b", 2)

    with pytest.raises(CarryRefused, match="have changed since you looked at them"):
        carry(pool, seen=seen)

    assert not Judgement.objects.filter(round__kind=RoundKind.PROPAGATED).exists()


def test_agreement_and_known_answers_leave_it_out(pool):
    judged(pool)
    before = live_grades(pool.project).count()

    carry(pool)

    assert live_grades(pool.project).count() == before
    assert known_pairs(pool.snapshot, 20, seed=1) == []


def test_a_later_round_on_the_pool_still_passes_over_it(pool):
    judged(pool)
    carry(pool)

    assert preview_of(pool, Plan(seed=1, judge_again=True), {1: None}).pairs == 3


def page(pool):
    return reverse("judging:carry", kwargs={"slug": pool.project.slug, "pk": pool.pk})


def test_a_lead_sees_what_would_be_done_and_does_it(client, pool):
    judged(pool)
    client.force_login(lead_of(pool.project))

    shown = client.get(page(pool))
    assert [(choice["rule"], choice["pairs"]) for choice in shown.context["choices"]] == [("exact", 2), ("near", 3)]
    exact = shown.context["choices"][0]
    done = client.post(page(pool), {"rule": exact["rule"], "seen": exact["mark"]}, follow=True)

    assert "Grades carried over" in done.content.decode()
    assert counts(pool) == (0, 1, 0, 2, 0)


@pytest.mark.parametrize("asked", [{"rule": "near", "seen": "0" * 64}, {"rule": "everything", "seen": "x"}, {}])
def test_a_form_that_fits_nothing_changes_nothing(client, pool, asked):
    judged(pool)
    client.force_login(lead_of(pool.project))

    response = client.post(page(pool), asked, follow=True)

    assert response.redirect_chain
    assert list(response.context["messages"])
    assert counts(pool) == (2, 1, 0, 0, 0)


def test_the_pool_leads_to_it_for_leads_alone(client, pool):
    pool_page = reverse("retrieval:pool", kwargs={"slug": pool.project.slug, "pk": pool.pk})
    client.force_login(lead_of(pool.project))
    assert page(pool) in client.get(pool_page).content.decode()

    client.force_login(make_member(pool.project, Role.ANNOTATOR))
    assert page(pool) not in client.get(pool_page).content.decode()


def test_the_page_takes_a_fixed_number_of_queries(client, pool, django_assert_num_queries):
    judged(pool)
    client.force_login(lead_of(pool.project))
    client.get(page(pool))

    with django_assert_num_queries(15):
        client.get(page(pool))
