"""A new edition taken: grades come along, changed and new passages are judged, nobody judges a pair twice."""

import pytest

from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.corpus.models import Snapshot
from apps.editions.execution.apply import planned_edition, snapshot_before_import
from apps.editions.selectors.editions import Edition, between
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.enums import RoundKind
from apps.judging.models import Judgement, KeptPair
from apps.queries.actions.queries import edit_query
from apps.queries.models import Query
from apps.retrieval.models import Pool
from tests.editions.stories import (
    AUTUMN,
    CHANGED,
    KEPT_BY_ID,
    QUERIES,
    SPRING,
    as_file,
    begin_import,
    make_first_edition,
    make_story,
)
from tests.factories import AT, lead_of
from tests.judging.editions import asked, graded, pool_of_everything
from tests.judging.factories import give, judge_all, make_round
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db


@rows_of_module
def story():
    return make_story()


def edition_of(item) -> Edition:
    before = snapshot_before_import(item)
    assert before is not None
    return planned_edition(item, before)


def test_an_import_shows_before_it_is_taken_what_becomes_of_each_passage(story):
    edition = edition_of(story.begin_import())

    counts = {str(kind): number for kind, number in edition.counts.items()}
    assert counts == {"same": 14, "metadata": 1, "renamed": 1, "changed": 3, "gone": 1, "new": 2}
    assert Snapshot.objects.count() == 1


def test_the_preview_and_the_frozen_snapshot_show_the_same_changes(story):
    before = edition_of(story.begin_import())

    after = between(story.spring, story.freeze_autumn())

    assert (after.counts, after.mark, after.passages) == (before.counts, before.mark, before.passages)


def test_a_file_that_adds_to_the_corpus_removes_nothing_from_the_edition(story):
    edition = edition_of(begin_import(story.corpus, as_file({"b15": "Other."}), mode="merge"))

    assert [(str(each.kind), each.name) for each in edition.changes] == [("changed", "b15")]
    assert edition.counts["same"] == 19


def test_grades_of_unchanged_moved_and_renamed_texts_come_along(story):
    taken = story.take()

    found = graded(taken.snapshot)
    first = graded(story.spring)
    kept = {(query, name) for query in QUERIES for name in KEPT_BY_ID}
    assert {pair: found[pair] for pair in kept} == {pair: first[pair] for pair in kept}
    assert {query: found[query, "r18"] for query in QUERIES} == {query: first[query, "b18"] for query in QUERIES}
    assert len(found) == len(kept) + 3


def test_a_grade_that_came_along_names_where_it_was_given(story):
    taken = story.take()

    notes = set(Judgement.objects.filter(round=taken.carried).values_list("note", flat=True))
    assert notes == {f"Carried along from b18 in {story.spring.name}: the same text under another id."}
    assert taken.carried.kind == RoundKind.PROPAGATED


def test_changed_and_new_passages_become_one_round_with_the_same_people(story):
    taken = story.take()

    new = {("Q01", "b21")}
    assert asked(taken.round) == {(query, name) for query in QUERIES for name in CHANGED} | new
    assert [place.annotator for place in taken.round.annotators.all()] == [story.judge]


def test_a_changed_passage_whose_grade_a_lead_carries_along_is_not_judged(story):
    taken = story.take(decided=story.decide(b15="carry"))

    first = graded(story.spring)
    assert {query: graded(taken.snapshot)[query, "b15"] for query in QUERIES} == {
        query: first[query, "b15"] for query in QUERIES
    }
    assert {name for _, name in asked(taken.round)} == {"b16", "b17", "b21"}


def test_subtopics_come_along_with_the_grade_that_they_were_chosen_with():
    """To a changed text whose grade a lead carries along, and to a text under another id."""
    story = make_first_edition(SPRING, QUERIES, annotators=1, overlap=0.0)
    query = Query.objects.get(project=story.project, outside_id="Q01")
    facets = [{"id": "when", "words": "When"}, {"id": "where", "words": "Where to"}]
    edit_query(query_id=query.pk, actor=lead_of(story.project), at=AT, facets=facets)
    while seats := claim_seats(round_=story.first, annotator=story.judge, n=10, at=AT):
        for seat in seats:
            chosen = {"facets": ["where"]} if seat.query_id == query.pk else {}
            give(seat, story.judge, 2, **chosen)
    story.first = close_round(round_id=story.first.pk, actor=lead_of(story.project), at=AT)

    taken = story.take(decided=story.decide(b15="carry"))

    pairs = Judgement.objects.filter(round=taken.carried).values_list(
        "entry__query__outside_id", "entry__version__block__outside_id", "facets"
    )
    assert {(key, name): facets for key, name, facets in pairs} == {
        (key, name): ["where"] if key == "Q01" else None for key in QUERIES for name in ("b15", "r18")
    }


def test_nobody_judges_a_pair_of_the_new_edition_twice(story):
    taken = story.take()
    judge_all(taken.round, story.judge, lambda seat: 2)

    everything = pool_of_everything(story.project, taken.snapshot)
    third = make_round(story.project, pool=everything, annotators=[story.judge], overlap=0.0)

    unjudged = {("Q02", "b21"), ("Q03", "b21"), *((query, "b22") for query in QUERIES)}
    assert asked(third) == unjudged
    assert KeptPair.objects.filter(round=third).count() == len(QUERIES) * len(AUTUMN) - len(unjudged)


def test_an_edition_is_taken_once(story):
    taken = story.take()

    with pytest.raises(Refusal, match="taken already"):
        story.take_frozen(taken.snapshot)


def test_pairs_that_an_open_round_assigns_on_the_same_text_are_not_assigned_again():
    story = make_story(close=False)

    taken = story.take()

    assert {name for _, name in asked(taken.round)} == {*CHANGED, "b21"}


def test_the_record_of_an_edition_has_its_figures(story):
    taken = story.take()

    after = Event.objects.get(action="edition.taken").after
    figures = {key: after[key] for key in ("along", "carried", "again", "new", "gone", "round", "pool")}
    assert figures == {
        "along": 48,
        "carried": 3,
        "again": 9,
        "new": 1,
        "gone": 3,
        "round": taken.round.pk,
        "pool": taken.pool.pk,
    }
    assert Pool.objects.filter(snapshot=taken.snapshot).count() == 2
