"""Many comparisons on one version, over all of which a verdict is corrected, and a planned number of queries."""

import re

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.audit.models import Event
from apps.evaluation.actions.comparisons import PlanRefused, close_comparison, plan_comparison, record_comparison
from apps.evaluation.models import ClosedComparison, Comparison, PlannedComparison
from apps.evaluation.selectors.comparisons import EvaluationPair
from apps.metrics.statistics.significance import Correction
from tests.evaluation.factories import BAD, GOOD, add_run, make_scene, qrels_of, score
from tests.evaluation.pages.test_looking import opened, renamed, with_more_queries
from tests.factories import AT, make_member
from tests.reading import plain_words

pytestmark = pytest.mark.django_db
TABLE = "Comparisons on this version"


def make_board(queries: int = 12, **better: int):
    """A scene with "base", and runs that are better than it on so many queries, all scored by nDCG@10."""
    qrels = qrels_of(queries)
    runs = {"base": dict.fromkeys(qrels, BAD)}
    for tag, often in better.items():
        runs[tag] = {query: GOOD if at < often else BAD for at, query in enumerate(qrels)}
    scene = make_scene(qrels=qrels, runs=runs, test_share=0.0)
    return scene, {tag: score(scene, tag, measures="nDCG@10 RR") for tag in runs}


def text_of(page) -> str:
    """What a reader sees, on one line."""
    return " ".join(re.sub("<[^>]+>", " ", plain_words(page)).split())


def api(client, scene, pair, **params):
    place = "/".join(str(one.pk) for one in pair)
    address = f"/api/v1/projects/{scene.project.slug}/evaluation/compare/{place}/"
    return client.get(address, params)


def test_a_first_look_is_on_record_once_in_either_direction_and_by_each_measure(client):
    scene, scored = make_board(one=12, two=6)
    pair = scored["base"], scored["one"]
    viewer = make_member(scene.project, Role.VIEWER)

    opened(client, scene, pair, viewer)
    opened(client, scene, pair[::-1])
    api(client, scene, pair)
    api(client, scene, pair, measure="RR")

    first, second = Comparison.objects.order_by("pk")
    assert (first.first, first.second, first.measure, first.n) == (pair[0].run, pair[1].run, "nDCG@10", 12)
    assert (first.seen_by, second.measure, second.seen_by) == (viewer, "RR", scene.lead)
    with pytest.raises(IntegrityError), transaction.atomic():
        first.delete()
    with pytest.raises(IntegrityError), transaction.atomic():
        Comparison.objects.filter(pk=first.pk).update(n=3)
    fresh = EvaluationPair.of(*pair)
    record_comparison(pair=fresh, measure="nDCG@10", actor=scene.lead, at=AT)
    assert Comparison.objects.count() == 2


def test_the_verdict_is_corrected_over_all_comparisons_by_its_measure_and_the_page_lists_them(client):
    scene, scored = make_board(one=12, two=6, three=6)
    base = scored["base"]
    alone = opened(client, scene, (base, scored["two"]))
    assert "This is the only comparison by nDCG@10 on this version so far" in text_of(alone)
    assert "two is better than base" in text_of(alone)

    for other in ("one", "three"):
        opened(client, scene, (base, scored[other]))
    api(client, scene, (scored["two"], scored["three"]), measure="RR")
    page = opened(client, scene, (base, scored["two"]))
    found = api(client, scene, (base, scored["two"])).json()

    said = text_of(page)
    assert "This is one of 3 comparisons by nDCG@10 on this version; p and evidence allow for that." in said
    assert "Cannot tell yet, among 3 comparisons, whether two is better or worse than base: nDCG@10 differs" in said
    assert "after Holm over 3 comparisons on this version" in said
    table = said.partition(TABLE)[2].partition("Every query, worst first")[0]
    assert table.startswith(" 3 so far by nDCG@10, strongest evidence first")
    assert "one against base 12 " in table
    assert "two against base this page 12 " in table
    assert "three against two" not in table
    first, second, third = found["family"]["comparisons"]
    assert (first["candidate"], first["verdict"], first["place"]) == (scored["one"].pk, "better", 1)
    assert first["evidence_corrected"] == pytest.approx(first["evidence"] / 3)
    assert first["p_corrected"] == pytest.approx(3 * first["p"])
    (row, other) = found["measures"]
    own = next(one for one in (second, third) if one["candidate"] == scored["two"].pk)
    assert row["p_corrected"] == own["p_corrected"]
    assert (row["verdict"], own["verdict"]) == ("better, not after Holm", "not settled")
    assert other["p_corrected"] == other["p_holm"]


def test_what_is_added_later_changes_no_stored_verdict(client):
    scene, scored = make_board(two=6, three=6, four=5)
    pair = {"baseline": scored["base"], "candidate": scored["two"]}
    lead = membership_in(scene.lead, scene.project.slug)
    opened(client, scene, pair.values())
    close_comparison(**pair, measure="nDCG@10", member=lead, at=AT)
    stored = ClosedComparison.objects.get().verdict

    for other in ("three", "four"):
        opened(client, scene, (scored["base"], scored[other]))
    page = text_of(opened(client, scene, pair.values()))

    assert stored.startswith("two is better than base")
    assert ClosedComparison.objects.get().verdict == stored
    assert " ".join(stored.split()) in page
    assert "Cannot tell yet, among 3 comparisons, whether two is better or worse than base" in page


def test_benjamini_and_hochberg_is_a_choice_on_the_page_the_board_and_over_the_api(client):
    scene, scored = make_board(one=12, two=7, three=7)
    for other in ("one", "two", "three"):
        opened(client, scene, (scored["base"], scored[other]))
    pair = scored["base"], scored["two"]
    place = reverse("evaluation:compare", args=[scene.project.slug, *[one.pk for one in pair]])

    by_holm, by_fdr = text_of(client.get(place)), text_of(client.get(place, {"correction": "fdr"}))
    found = api(client, scene, pair, correction="fdr").json()["family"]
    board = reverse("evaluation:overview", args=[scene.project.slug])
    ways = ({}, {"correction": "fdr"})
    boards = [text_of(client.get(board, {"version": scene.version.pk, "split": "", **way})) for way in ways]

    assert Correction.HOLM.promise in by_holm
    assert "Correct otherwise: Benjamini–Hochberg" in by_holm
    assert Correction.FDR.promise in by_fdr
    assert "after Benjamini–Hochberg over 3" in by_fdr
    assert "two is better than base" in by_fdr
    assert found["correction"] == "fdr"
    assert {one["verdict"] for one in found["comparisons"]} == {"better"}
    assert "6 pairs, paired t-test over queries by nDCG@10, Holm over all of them." in boards[0]
    assert f"Benjamini–Hochberg over all of them. {Correction.FDR.promise}" in boards[1]
    refused = api(client, scene, pair, correction="none")
    assert (refused.status_code, refused.json()["code"]) == (409, "bad_correction")
    assert "choose holm or fdr" in refused.json()["detail"]


def make_two_versions():
    """Two systems on a version of 8 queries, and on the next with 16: the better one is so on every second query."""
    first, more = renamed(qrels_of(8), "Z"), renamed(qrels_of(8), "A")

    def results(qrels):
        return {query: GOOD if at % 2 else BAD for at, query in enumerate(qrels)}

    scene = make_scene(qrels=first, runs={"one": dict.fromkeys(first, BAD), "two": results(first)}, test_share=0.0)
    small = [score(scene, tag, measures="nDCG@10") for tag in ("one", "two")]
    both = [run.run.system for run in small]

    def grow():
        with_more_queries(scene, more)
        later = []
        for tag, found, system in zip(
            ("one-2", "two-2"), (dict.fromkeys([*first, *more], BAD), results([*first, *more])), both, strict=True
        ):
            scene.runs[tag] = add_run(scene, tag, found, system=system.name)
            later.append(score(scene, tag, measures="nDCG@10"))
        return later

    return scene, small, grow


def test_below_a_plan_evidence_decides_the_first_version_that_reaches_it_is_tested_and_then_the_plan_stays(client):
    scene, small, grow = make_two_versions()
    lead = membership_in(scene.lead, scene.project.slug)
    before = text_of(opened(client, scene, small))
    assert "Plan the number of queries" in before
    url = reverse("evaluation:plan", args=[scene.project.slug, *[one.pk for one in small]])

    too_few = client.post(url, {"measure": "nDCG@10", "queries": 8}, follow=True)
    assert "8 queries were seen already: plan more than 8." in text_of(too_few)
    assert client.post(url, {"measure": "nDCG@10", "queries": 30}).status_code == 302
    assert client.post(url, {"measure": "nDCG@10", "queries": 16}).status_code == 302

    plan = PlannedComparison.objects.get()
    assert (plan.queries, plan.planned_by) == (16, scene.lead)
    events = [(event.before, event.after["queries"]) for event in Event.objects.filter(action="evaluation.planned")]
    assert sorted(events, key=str) == sorted([(None, 30), ({"queries": 30}, 16)], key=str)
    waits = text_of(opened(client, scene, small))
    assert (
        "Interval and p wait for the planned 16 queries, 8 more. Until then only the evidence decides. It is" in waits
    )
    assert "Cannot tell yet whether two is better or worse than one: nDCG@10 differs by" in waits
    assert "waits for 8 more" in waits
    assert "planned: 16 queries" in waits
    assert "Change the plan" in waits

    large = grow()
    first, second = (text_of(opened(client, scene, large)) for _ in range(2))
    found = api(client, scene, large).json()["family"]["plan"]
    assert first == second
    assert "nobody has seen this comparison with 16 or more before: interval and p decide, also for" in first
    assert "two-2 is better than one-2" in first or "is better than" in first
    assert "Change the plan" not in first
    assert found == {"queries": 16, "left": 0, "decides": True}
    with pytest.raises(PlanRefused, match="reached"):
        plan_comparison(baseline=large[0], candidate=large[1], measure="nDCG@10", queries=99, member=lead, at=AT)

    again = add_run(scene, "two-3", {**dict.fromkeys(large[1].query_ids, GOOD)}, system=large[1].run.system.name)
    scene.runs["two-3"] = again
    later = text_of(opened(client, scene, (large[0], score(scene, "two-3", measures="nDCG@10"))))
    assert "somebody has seen this comparison with 16 or more before, so this is a further look" in later


def test_a_plan_is_for_leads_two_systems_and_a_whole_split_over_the_api_too(client):
    scene, small, _ = make_two_versions()
    address = f"/api/v1/projects/{scene.project.slug}/evaluation/compare/{small[0].pk}/{small[1].pk}/plan/"
    given = {"measure": "nDCG@10", "queries": 40}

    viewer = make_member(scene.project, Role.VIEWER)
    assert "Plan the number of queries" not in text_of(opened(client, scene, small, viewer))
    assert client.post(address, given, content_type="application/json").status_code == 403
    client.force_login(scene.lead)
    answer = client.post(address, given, content_type="application/json")
    assert (answer.status_code, answer.json()) == (200, given)
    wrong = {400: ({"queries": 0}, {"queries": "x"}), 409: ({"queries": 8}, {"measure": "AP"})}
    for status, changes in wrong.items():
        for change in changes:
            assert client.post(address, {**given, **change}, content_type="application/json").status_code == status

    scene.runs["two-b"] = add_run(
        scene, "two-b", dict.fromkeys(renamed(qrels_of(8), "Z"), BAD), system=small[1].run.system.name
    )
    same = small[1], score(scene, "two-b", measures="nDCG@10")
    with pytest.raises(PlanRefused, match="one system"):
        plan_comparison(
            baseline=same[0],
            candidate=same[1],
            measure="nDCG@10",
            queries=40,
            member=membership_in(scene.lead, scene.project.slug),
            at=AT,
        )


def test_a_list_of_many_takes_as_many_statements_as_a_list_of_two(client, django_assert_max_num_queries):
    """A comparison that is alone reads no values of others."""
    scene, scored = make_board(one=12, two=6, three=6)
    taken = []
    for tag in ("one", "two", "three"):
        pair = scored["base"], scored[tag]
        opened(client, scene, pair)
        with django_assert_max_num_queries(99) as seen:
            opened(client, scene, pair)
        taken.append(len(seen))

    assert taken[0] < taken[1] == taken[2]
