from collections.abc import Sequence
from copy import deepcopy
from functools import partial

import pytest
from django.db import IntegrityError, transaction

from apps.accounts.selectors import members_of
from apps.audit.models import Event
from apps.goldsets.actions.versions import (
    GoldSetRefused,
    VersionRefused,
    change_draft,
    discard_draft,
    freeze_version,
    release_version,
)
from apps.goldsets.core.splits import split_words
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.goldsets.selectors.assembly import gather
from apps.goldsets.selectors.freeze_checks import find_warnings
from apps.jobs.models import Notification
from apps.judging.actions.adjudication import adjudicate
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.queries.models import Query
from apps.triples.actions.triples import refresh_staleness
from apps.triples.models import Triple
from tests.factories import AT, make_member
from tests.goldsets.factories import (
    Bench,
    by_block,
    draft,
    make_bench,
    make_gold_set,
    make_source,
    make_version,
    past_the_guards,
    permit,
    words_past_the_guards,
    write_by_machine,
)
from tests.judging.factories import give, judge_all, people_of
from tests.review.factories import CHANGED, make_accepted, make_accepted_from, make_in_review
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db


def freeze(version: Version, bench: Bench) -> Version:
    return freeze_version(version_id=version.pk, actor=bench.lead, at=AT)


def refusal_of(version: Version, bench: Bench) -> str:
    with pytest.raises(VersionRefused) as refused:
        freeze(version, bench)
    version.refresh_from_db()
    assert version.state == VersionState.DRAFT
    assert version.queries.count() == version.grades.count() == version.triples.count() == 0
    return refused.value.sentence


@pytest.fixture(scope="module")
def _graded(module_rows):
    return make_bench(triples=0)


@pytest.fixture
def graded(db, _graded):
    """A bench without a Q&A."""
    return deepcopy(_graded)


# Making and drafting


def test_create_gold_set_makes_a_slug_and_refuses_a_second_of_the_name(bench):
    gold_set = make_gold_set(bench.project, "Security  handbook")

    assert (gold_set.slug, gold_set.name) == ("security-handbook", "Security handbook")
    with pytest.raises(GoldSetRefused, match="There is a gold set called “security-handbook” already"):
        make_gold_set(bench.project, "Security Handbook")


@pytest.mark.parametrize("name", ["", "   ", "../..", "数据"])
def test_create_gold_set_refuses_a_name_without_a_slug(name, bench):
    with pytest.raises(GoldSetRefused, match="needs a name with letters or digits"):
        make_gold_set(bench.project, name)


def test_draft_version_counts_up_and_takes_the_guideline_of_its_round(bench):
    version = draft(bench)

    assert (version.number, version.state) == (1, VersionState.DRAFT)
    assert version.guideline == bench.round.guideline
    assert list(version.rounds.all()) == [bench.round]


def test_draft_version_refuses_a_second_draft(bench):
    draft(bench)

    with pytest.raises(VersionRefused, match="v1 is still a draft"):
        draft(bench)


def test_draft_version_refuses_what_belongs_to_another_project(bench):
    other = make_bench()

    with pytest.raises(VersionRefused, match="The snapshot belongs to another project"):
        draft(bench, snapshot=other.snapshot)
    with pytest.raises(VersionRefused, match="A round belongs to another project"):
        draft(bench, rounds=[other.round])


def test_discard_draft_removes_it_and_keeps_the_history(bench):
    version = draft(bench)

    discard_draft(version_id=version.pk, actor=bench.lead, at=AT)

    assert not Version.objects.exists()
    assert Event.objects.filter(action="version.discarded", object_id=str(version.pk)).count() == 1


def test_change_draft_records_before_and_after(bench):
    version = draft(bench)

    change_draft(
        version_id=version.pk,
        snapshot=bench.snapshot,
        rounds=[],
        actor=bench.lead,
        at=AT,
        test_share=0.25,
        seed=9,
        group_by=["document", "group"],
        note="Smaller test",
    )

    event = Event.objects.get(action="version.changed")
    assert (event.before["seed"], event.after["seed"]) == (7, 9)
    assert (event.before["rounds"], event.after["rounds"]) == ([bench.round.name], [])


# Freezing


def test_freeze_version_copies_queries_grades_and_triples_once_and_is_on_the_record(bench):
    version = freeze(draft(bench), bench)

    event = Event.objects.get(action="version.frozen")
    assert (event.actor, event.at, event.after["state"]) == (bench.lead, AT, "frozen")
    with pytest.raises(VersionRefused, match=r"v1 is frozen\. A frozen version never changes"):
        freeze(version, bench)
    assert version.state == VersionState.FROZEN
    assert version.queries.count() == 4
    assert version.triples.count() == 1
    assert sorted(version.grades.values_list("block_id", "grade", "resolution", "judges").distinct()) == [
        ("access", 2, "unanimous", 2),
        ("backups", 3, "unanimous", 2),
        ("rotation", 0, "unanimous", 2),
    ]
    assert len(version.digest) == 64


def test_freeze_version_writes_a_manifest_that_names_nobody(bench):
    manifest = freeze(draft(bench), bench).manifest

    assert manifest["counts"] == {
        "queries": 4,
        "grades": 12,
        "triples": 1,
        "queries_without_source": 0,
        "machine_written_triples": 0,
        "by_grade": {"0": 4, "2": 4, "3": 4},
        "by_resolution": {"unanimous": 12},
    }
    assert manifest["splits"]["dev"]["queries"] + manifest["splits"]["test"]["queries"] == 4
    assert manifest["snapshot"]["digest"] == bench.snapshot.digest
    assert manifest["guideline"]["number"] == bench.round.guideline.number
    assert manifest["agreement"]["grades"]["value"] == 1.0
    assert manifest["agreement"]["grades"]["n"] == 12
    assert manifest["agreement"]["verdicts"]["reason"].startswith("Only one item")
    assert manifest["sources"] == [
        {
            "source": "query-log",
            "kind": "query_log",
            "queries": 4,
            "share": 1.0,
            "triples": 0,
            "share_of_triples": 0.0,
            "target_share": None,
            "scope": "internal",
            "licence": "CC-BY-4.0",
        }
    ]
    people = {person.name for person in people_of(bench.round)} | {bench.lead.name}
    assert not any(name in str(manifest) for name in people)


def test_the_same_items_have_the_same_digest_in_another_version(bench):
    first = make_version(VersionState.RELEASED, bench)

    second = make_version(VersionState.FROZEN, bench)

    assert second.digest == first.digest


def test_freeze_version_refuses_when_there_is_nothing():
    bench = make_bench(judge=False, triples=0)

    assert "No grade from the chosen rounds and no accepted Q&A" in refusal_of(draft(bench), bench)


def test_freeze_version_names_each_pair_that_judges_differ_on():
    bench = make_bench(judge=False)
    one, two = people_of(bench.round)
    judge_all(bench.round, one, by_block)
    judge_all(bench.round, two, lambda seat: by_block(seat) if seat.entry.version.block.outside_id != "access" else 1)

    sentence = refusal_of(draft(bench), bench)

    assert sentence.startswith("v1 cannot be frozen: 4 unresolved grades. ")
    first = Query.objects.filter(project=bench.project).earliest("outside_id").outside_id
    assert f"{first} with access: 2 judges have answered, and they differ" in sentence


def test_freeze_version_names_pairs_that_wait_for_a_second_judge():
    bench = make_bench(judge=False)
    judge_all(bench.round, people_of(bench.round)[0], by_block)

    assert "1 judge has answered, others have not yet" in refusal_of(draft(bench), bench)


def test_a_pair_that_nobody_judged_does_not_stop_the_freeze():
    bench = make_bench(judge=False)

    version = freeze(draft(bench), bench)

    assert version.grades.count() == 0
    assert version.triples.count() == 1


def test_freeze_version_names_each_stale_triple(bench):
    make_accepted(bench.project, snapshot=bench.snapshot)
    refresh_staleness(
        project=bench.project, snapshot=make_snapshot(bench.project, CHANGED, corpus=bench.snapshot.corpus), at=AT
    )

    sentence = refusal_of(draft(bench), bench)

    assert "2 stale Q&As" in sentence
    assert "T-0001 is stale" in sentence
    assert "T-0002 is stale" in sentence


def test_freeze_version_names_a_triple_on_another_text_than_the_snapshots(bench):
    newer = make_snapshot(bench.project, CHANGED, corpus=bench.snapshot.corpus)

    assert "T-0001 uses a different text of access" in refusal_of(draft(bench, snapshot=newer), bench)


def test_grades_of_a_text_that_changed_stay_out_and_are_counted(graded):
    newer = make_snapshot(graded.project, CHANGED, corpus=graded.snapshot.corpus)

    version = freeze(draft(graded, snapshot=newer), graded)

    assert set(version.grades.values_list("block_id", flat=True)) == {"backups", "rotation"}
    assert version.manifest["left_out"]["by_reason"] == {"text_changed": 4}


@pytest.mark.parametrize(
    ("dev", "test", "share", "is_said"),
    [
        (5, 1, 0.5, True),
        (1, 5, 0.5, True),
        (3, 3, 0.5, False),
        (4, 2, 0.5, True),
        (33, 27, 0.5, False),
        (3, 0, 0.5, False),
        (6, 0, 0.0, False),
    ],
)
def test_an_unbalanced_split_gives_a_warning_before_the_freeze(dev, test, share, is_said, bench):
    found = gather(draft(bench, test_share=share))
    found.splits = {f"query {n}": "dev" if n < dev else "test" for n in range(dev + test)}

    said = [warning for warning in find_warnings(found) if "far from its target" in warning]

    assert bool(said) == is_said
    if (dev, test) == (5, 1):
        assert said[0].startswith(
            "The split is far from its target: 5 of 6 items in dev and 1 in test, 17\N{NO-BREAK SPACE}%, where"
            " 50\N{NO-BREAK SPACE}% was the target."
        )


def test_a_triple_of_the_release_before_that_is_on_its_way_stops_the_freeze(bench):
    make_accepted(bench.project, snapshot=bench.snapshot)
    make_version(VersionState.RELEASED, bench)
    Triple.objects.filter(number=2).update(state="in_review", resolution="", resolved_at=None)

    assert "T-0002 was in v1 and is now in review" in refusal_of(draft(bench), bench)


def test_a_triple_in_review_that_was_never_released_does_not_stop_the_freeze(bench):
    make_in_review(bench.project, snapshot=bench.snapshot)

    assert freeze(draft(bench), bench).triples.count() == 1


@pytest.mark.parametrize(
    ("permission", "reason"),
    [
        (None, "Interviews has no permission"),
        ({"expires_at": AT}, "Interviews has an expired permission"),
        ({"revoked_at": AT, "revocation_reason": "Asked to"}, "Interviews had its permission revoked"),
    ],
)
def test_freeze_version_names_a_source_without_permission_and_its_queries(bench, permission, reason):
    source = make_source(bench.project, "Interviews", permitted=False)
    if permission:
        permit(source, **permission, **({"revoked_by": bench.lead} if "revoked_at" in permission else {}))
    first = Query.objects.filter(project=bench.project).earliest("outside_id")
    Query.objects.filter(pk=first.pk).update(source=source)

    assert f"{reason}: {first.outside_id}" in refusal_of(draft(bench), bench)


def test_queries_without_a_source_are_counted_and_warned_of(bench):
    first = Query.objects.filter(project=bench.project).earliest("outside_id")
    Query.objects.filter(pk=first.pk).update(source=None)
    version = draft(bench)

    warnings = find_warnings(gather(version))

    assert f"{first.outside_id} names no source, so the terms of use are unknown." in warnings
    assert freeze(version, bench).manifest["counts"]["queries_without_source"] == 1


def test_a_source_mix_off_its_target_few_queries_and_a_tiny_test_split_are_warned_of(bench):
    bench.source.target_share = 0.4
    bench.source.save()

    warnings = find_warnings(gather(draft(bench, test_share=0.4)))

    assert "Query log makes 100\N{NO-BREAK SPACE}% of the queries; the target is 40\N{NO-BREAK SPACE}%." in warnings
    few = "4 queries are graded. With fewer than 25, a difference between two systems is rarely more than chance."
    assert few in warnings
    assert any(warning.startswith("The test split has ") for warning in warnings)
    assert not any("have no grade" in warning or "some pairs only" in warning for warning in warnings)


def test_queries_without_a_grade_and_those_judged_in_part_are_named():
    bench = make_bench(queries=3, judge=False, triples=0)
    annotator = bench.round.annotators.order_by("pk").first().annotator
    seat = claim_seats(round_=bench.round, annotator=annotator, n=1, at=AT)[0]
    give(seat, annotator, 2)
    pairs = bench.round.pool.entries.filter(query=seat.query_id).count()
    others = bench.project.queries.exclude(pk=seat.query_id).order_by("outside_id")

    warnings = find_warnings(gather(draft(bench)))

    assert f"2 of 3 queries of the rounds have no grade: {', '.join(query.outside_id for query in others)}." in warnings
    assert (
        "1 query has a grade for some pairs only, and most measures take the rest as not relevant: "
        f"{seat.query.outside_id} (1 of {pairs})." in warnings
    )


def test_a_round_that_is_still_open_is_warned_of(bench):
    version = draft(bench)
    warning = "Round 1 is still open. Grades given after the freeze are not in this version: close the round first."

    assert warning in find_warnings(gather(version))

    close_round(round_id=version.rounds.get().pk, actor=bench.lead, at=AT)
    assert warning not in find_warnings(gather(version))


def test_one_valid_permission_is_enough(bench):
    permit(bench.source, expires_at=AT)
    permit(bench.source, revoked_at=AT, revoked_by=bench.lead, revocation_reason="Asked to")

    assert freeze(draft(bench), bench).state == VersionState.FROZEN


def test_freeze_version_names_what_leaks_between_the_splits(bench):
    released = make_version(VersionState.RELEASED, bench, test_share=0.5)
    one, two = released.queries.filter(split="dev").first(), released.queries.filter(split="test").first()
    Query.objects.filter(pk__in=[one.query_id, two.query_id]).update(group_key="acme")

    sentence = refusal_of(draft(bench), bench)

    assert f"{one.outside_id} in dev and {two.outside_id} in test share the group “acme”" in sentence


def test_freeze_version_names_questions_that_are_nearly_the_same_and_were_released_in_both_splits(graded):
    released = make_version(VersionState.RELEASED, graded, test_share=0.5)
    one, two = released.queries.filter(split="dev").first(), released.queries.filter(split="test").first()
    words = "How often must the {} keys of the main building be counted and who signs the list of them"
    words_past_the_guards({one.query_id: words.format("master"), two.query_id: words.format("spare")})

    sentence = refusal_of(draft(graded), graded)

    assert f"{one.outside_id} in dev and {two.outside_id} in test share nearly the same words" in sentence


def _ask(bench: Bench, dates: Sequence[str]) -> list[str]:
    """Say of the queries, by id, when they were asked; "" for those that say nothing."""
    queries = Query.objects.filter(project=bench.project).order_by("outside_id")
    for query, date in zip(queries, dates, strict=True):
        query.metadata = {"asked_at": date} if date else {}
        query.save(update_fields=["metadata"])
    return [query.outside_id for query in queries]


def test_a_version_split_by_time_tests_the_newest_queries_and_says_from_when(graded):
    names = _ask(graded, ["2026-03-04", "2026-03-01", "2026-03-03T12:30:00Z", "2026-03-02"])

    version = make_version(VersionState.FROZEN, graded, split_by="time", test_share=0.5)

    assert list(version.queries.filter(split="test").order_by("outside_id").values_list("outside_id", flat=True)) == [
        names[0],
        names[2],
    ]
    facts = version.manifest["splits"]
    assert (facts["by"], facts["boundary"], facts["undated"]) == ("time", "2026-03-03T12:30:00Z", 0)
    assert split_words(facts) == "by time, test from 2026-03-03 12:30:00 UTC on"


def test_a_draft_names_the_queries_whose_date_cannot_be_read_and_holds_them_in_dev(graded):
    names = _ask(graded, ["last spring", "2026-03-01", "2026-03-03", "2026-03-02"])

    found = gather(draft(graded, split_by="time", test_share=0.75))

    assert found.splits[f"query {names[0]}"] == "dev"
    assert (
        f"1 item has a date that cannot be read: {names[0]} (“last spring”). What is tied to nothing with a date goes"
        " to dev. Write dates as 2026-03-14."
    ) in find_warnings(found)


def test_a_draft_split_by_time_says_when_time_decides_nothing(graded):
    assert (
        "Every item has the same time, so the split is as by group. Say in asked_at when each query was asked."
        in find_warnings(gather(draft(graded, split_by="time")))
    )


def test_a_triple_is_as_old_as_the_query_it_came_from_else_as_itself():
    bench = make_bench(queries=1, triples=1)
    query = bench.project.queries.first()
    _ask(bench, ["2026-03-04"])
    make_accepted_from(query, bench.snapshot)

    times = gather(draft(bench, split_by="time")).times

    assert [times[f"triple {triple.label}"].at.isoformat() for triple in bench.project.triples.order_by("number")] == [
        bench.project.triples.first().created_at.isoformat(),
        "2026-03-04T00:00:00+00:00",
    ]


def test_items_keep_their_side_when_the_next_version_is_split_by_time(graded):
    first = make_version(VersionState.RELEASED, graded, test_share=0.5)
    tested = set(first.queries.filter(split="test").values_list("outside_id", flat=True))
    _ask(graded, ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"])

    second = make_version(VersionState.RELEASED, graded, split_by="time", test_share=0.5)

    assert set(second.queries.filter(split="test").values_list("outside_id", flat=True)) == tested
    assert second.manifest["splits"]["boundary"] is None


def test_a_query_keeps_its_side_though_a_version_between_was_without_it():
    bench = make_bench(queries=6, triples=0)
    first = make_version(VersionState.RELEASED, bench, seed=1)
    sides = dict(first.queries.values_list("outside_id", "split"))
    Query.objects.filter(project=bench.project).update(retired_at=AT, retired_reason="Out of scope")
    make_accepted(bench.project, snapshot=bench.snapshot)
    make_version(VersionState.RELEASED, bench, seed=2)
    Query.objects.filter(project=bench.project).update(retired_at=None, retired_reason="")

    third = make_version(VersionState.RELEASED, bench, seed=3)

    assert dict(third.queries.values_list("outside_id", "split")) == sides


def test_the_types_of_queries_are_counted_in_each_split(graded):
    Query.objects.filter(project=graded.project).update(query_type="how many")

    version = make_version(VersionState.FROZEN, graded, test_share=0.5)

    assert version.manifest["query_types"] == {"dev": {"how many": 2}, "test": {"how many": 2}}


def test_the_database_refuses_to_accept_what_a_machine_wrote_and_nobody_adopted(bench):
    with pytest.raises(IntegrityError, match="only after a person has adopted it"), transaction.atomic():
        Triple.objects.filter(project=bench.project).update(is_machine_written=True)


@pytest.mark.parametrize(
    ("write", "lacks"),
    [
        (partial(past_the_guards, is_machine_written=True), "nobody has adopted it"),
        (write_by_machine, "needs two reviewers"),
    ],
)
def test_a_machine_written_triple_needs_a_person_who_adopted_it_and_two_other_reviewers(write, lacks, bench):
    write(bench.project)

    assert f"T-0001 was written by a model and {lacks}" in refusal_of(draft(bench), bench)


def test_an_adopted_and_twice_confirmed_machine_written_triple_is_marked_in_the_version(bench):
    adopter = make_member(bench.project, "annotator")
    Triple.objects.filter(project=bench.project).update(is_machine_written=True, adopted_by=adopter)

    version = freeze(draft(bench), bench)

    assert version.triples.get().content["is_machine_written"] is True
    assert version.manifest["counts"]["machine_written_triples"] == 1


def test_retired_queries_stay_out():
    bench = make_bench(queries=3)
    first = Query.objects.filter(project=bench.project).earliest("outside_id")
    Query.objects.filter(pk=first.pk).update(retired_at=AT, retired_reason="Permission revoked")

    version = freeze(draft(bench), bench)

    assert version.queries.count() == 2
    assert version.manifest["left_out"] == {"pairs": 3, "queries": 1, "by_reason": {"query_retired": 3}}


def test_an_adjudicated_grade_is_taken():
    bench = make_bench(queries=1, judge=False)
    one, two = people_of(bench.round)
    judge_all(bench.round, one, lambda seat: 3)
    judge_all(bench.round, two, lambda seat: 1)
    lead = make_member(bench.project, "lead")
    for entry in bench.pool.entries.all():
        adjudicate(
            round_=bench.round, entry=entry, adjudicator=lead, grade=2, reason="Half of it.", error_type="slip", at=AT
        )

    version = freeze(draft(bench), bench)

    assert set(version.grades.values_list("grade", "resolution")) == {(2, "adjudicated")}


# Releasing


def test_release_version_supersedes_the_one_before_with_what_was_accepted_since(bench):
    first = make_version(VersionState.RELEASED, bench)
    make_accepted(bench.project, snapshot=bench.snapshot)

    second = make_version(VersionState.RELEASED, bench)

    first.refresh_from_db()
    assert (first.state, second.state) == (VersionState.SUPERSEDED, VersionState.RELEASED)
    assert (first.triples.count(), second.triples.count()) == (1, 2)
    assert Event.objects.filter(action="version.superseded", object_id=str(first.pk)).count() == 1


def test_release_version_notifies_everybody_else_of_the_project(bench):
    version = make_version(VersionState.RELEASED, bench)

    told = Notification.objects.filter(kind="version.released").order_by("person")
    others = members_of(bench.project).exclude(pk=bench.lead.pk).order_by("pk")
    assert [(each.person, each.sentence) for each in told] == [
        (person, f"{bench.lead} released {version}.") for person in others
    ]
    assert told


def test_release_version_refuses_a_draft(bench):
    version = draft(bench)

    with pytest.raises(VersionRefused, match=r"v1 is a draft\. Freeze it first"):
        release_version(version_id=version.pk, actor=bench.lead, at=AT)


def test_an_older_frozen_version_never_replaces_a_newer_release(bench):
    older = make_version(VersionState.FROZEN, bench)
    make_version(VersionState.RELEASED, bench)

    with pytest.raises(VersionRefused, match="v2 was released after v1 was frozen"):
        release_version(version_id=older.pk, actor=bench.lead, at=AT)
