"""A second edition of a corpus: who judged a text is not asked for it again, and what was judged keeps its grade."""

import pytest

from apps.common.errors import Refusal
from apps.judging.actions.rounds import close_round
from apps.judging.core.plan import Plan
from apps.judging.models import KeptPair, Seat
from apps.judging.selectors.pairs import grades_for_pool, resolved_grades
from apps.judging.selectors.plans import preview_of
from apps.judging.selectors.rejudging import known_pairs
from apps.queries.models import Query
from tests.factories import AT, lead_of
from tests.judging.editions import CHANGED, QUERIES, asked, grade_of, make_editions, pool_of_everything
from tests.judging.factories import judge_all, make_round
from tests.module_rows import rows_of_module
from tests.retrieval.factories import make_queries

pytestmark = pytest.mark.django_db

NEW = {(query, block) for query in QUERIES for block in CHANGED | {"b21"}}


@rows_of_module
def editions():
    return make_editions()


def open_second(editions, **plan):
    pool = pool_of_everything(editions.project, editions.autumn)
    return make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0, **plan)


def test_in_a_second_edition_after_sixty_grades_nobody_judges_a_pair_twice(editions):
    second = open_second(editions)

    assert asked(second) == NEW
    assert Seat.objects.filter(round=second).count() == len(NEW) == 18
    assert second.plan["kept"] == 39


def test_pairs_that_keep_their_grade_are_recorded_with_the_round_that_graded_them(editions):
    second = open_second(editions)

    kept = KeptPair.objects.filter(round=second)
    blocks = set(kept.values_list("entry__version__block__outside_id", flat=True))
    assert (blocks, set(kept.values_list("kept_from", flat=True))) == (editions.kept, {editions.first.pk})


def test_the_plan_shows_before_the_round_is_opened_how_many_pairs_keep_their_grade(editions):
    pool = pool_of_everything(editions.project, editions.autumn)

    found = preview_of(pool, Plan(overlap=0.0), {editions.judge.pk: None})

    assert (found.pairs, found.kept) == (18, 39)


def test_people_may_choose_to_have_everything_judged_again(editions):
    second = open_second(editions, judge_again=True)

    assert len(asked(second)) == 57
    assert not KeptPair.objects.filter(round=second).exists()


def test_a_pair_of_an_open_round_is_not_planned_again():
    editions = make_editions(close=False)

    assert asked(open_second(editions)) == NEW


def test_a_pair_that_a_closed_round_left_unjudged_is_planned_again(editions):
    second = open_second(editions)
    close_round(round_id=second.pk, actor=lead_of(editions.project), at=AT)

    third = make_round(editions.project, pool=second.pool, annotators=[editions.judge], overlap=0.0)

    assert asked(third) == NEW


def test_a_pool_whose_every_pair_has_a_grade_is_refused_with_the_way_on(editions):
    pool = pool_of_everything(editions.project, editions.spring, name="Again")

    with pytest.raises(Refusal, match=r"has a grade on the same text, or is being judged\. .*Judge again"):
        make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0)


def test_a_pool_made_to_be_judged_again_is_judged_again(editions):
    pool = pool_of_everything(editions.project, editions.spring, name="Again", plan={"again_under": 2})

    round_ = make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0)

    assert len(asked(round_)) == 60


def test_a_pilot_is_made_of_queries_that_have_something_to_judge(editions):
    make_queries(editions.project, {"Q04": "what is thing 4"})
    pool = pool_of_everything(editions.project, editions.spring, name="With a new query")

    round_ = make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0, pilot=1)

    assert round_.plan["pilot_queries"] == [Query.objects.get(outside_id="Q04").pk]


def test_a_large_round_reuses_grades_in_its_job(editions, monkeypatch):
    from apps.judging.actions import rounds
    from tests.running_jobs import run_jobs

    monkeypatch.setattr(rounds, "MOST_PAIRS_AT_ONCE", 5)
    second = open_second(editions)
    with pytest.raises(Refusal, match="still being opened"):
        make_round(editions.project, pool=second.pool, annotators=[editions.judge], overlap=0.0)

    run_jobs()

    second.refresh_from_db()
    assert (asked(second), second.plan["kept"]) == (NEW, 39)


def test_the_grades_of_a_snapshot_are_those_of_every_edition_with_the_same_text(editions):
    second = open_second(editions)
    judge_all(second, editions.judge, grade_of)

    found = resolved_grades(editions.autumn)

    versions = dict(editions.autumn.entries.values_list("version", "block__outside_id"))
    assert len(found) == 57
    assert {versions[pair.version_id] for pair in found} == set(versions.values())
    assert grades_for_pool(second.pool) == {(pair.query_id, pair.version_id): pair.grade for pair in found}


def test_a_text_judged_again_on_another_page_has_one_grade_the_later_one(editions):
    second = open_second(editions, judge_again=True)
    judge_all(second, editions.judge, lambda seat: 3)

    found = resolved_grades([editions.first, second])

    assert len(found) == 60 + len(NEW)
    assert sum(pair.grade == 3 and pair.round_id == second.pk for pair in found) == 57


def test_known_answers_of_an_earlier_edition_serve_as_checks_on_texts_that_stayed(editions):
    twice = make_round(editions.project, pool=editions.first.pool, annotators=2, overlap=1.0, judge_again=True)
    for place in twice.annotators.select_related("annotator"):
        judge_all(twice, place.annotator, grade_of)
    close_round(round_id=twice.pk, actor=lead_of(editions.project), at=AT)

    known = known_pairs(editions.autumn, 100, seed=1)

    versions = dict(editions.autumn.entries.values_list("version", "block__outside_id"))
    assert {versions[pair.version_id] for pair in known} == editions.kept
    assert len(known) == 39


def test_grades_that_a_round_reuses_are_never_changed(editions):
    from django.db import DatabaseError

    kept = KeptPair.objects.filter(round=open_second(editions))

    with pytest.raises(DatabaseError, match="never changed"):
        kept.update(kept_from=editions.first)
