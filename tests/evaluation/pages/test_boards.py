"""Leaderboard with ties, trend, quality against cost, and the ledger."""

import re
from decimal import Decimal

import numpy as np
import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.common.templatetags.karat import day
from apps.evaluation.actions.comparisons import LedgerRefused, write_ledger
from apps.evaluation.models import Evaluation, RunNote
from apps.evaluation.pages import leaderboard
from apps.evaluation.pages.leaderboard import letter_of
from apps.evaluation.pages.trends import Costs, Trend
from apps.evaluation.selectors.leaderboard import scored_runs
from apps.goldsets.enums import VersionState
from apps.metrics.statistics.places import Places
from tests.evaluation import hits
from tests.evaluation.factories import BAD, GOOD, add_run, make_scene, score
from tests.evaluation.pages.test_ledger import next_version
from tests.factories import AT, lead_of, make_member, make_project
from tests.goldsets.factories import make_bench, make_version
from tests.reading import plain_words, words
from tests.retrieval.factories import make_run, make_snapshot
from tests.test_statements import statements_of

pytestmark = pytest.mark.django_db
SCENE = {"queries": 6, "test_share": 0.0}
PAGES = ("trend", "costs", "ledger")


@pytest.fixture
def scored(scene):
    """ "better" is ahead of "base" on every query, so that their intervals lie apart."""
    for tag in ("base", "better"):
        score(scene, tag, measures="nDCG@10 RR")
    return scene


def url(scene, name, *args):
    return reverse(f"evaluation:{name}", args=[scene.project.slug, *args])


def read(client, scene, name, *args, user=None, **query) -> str:
    client.force_login(user or scene.lead)
    response = client.get(url(scene, name, *args), query)
    assert response.status_code == 200
    return words(response)


def write(scene, tag, **said):
    return write_ledger(run=scene.runs[tag], actor=scene.lead, at=AT, **said)


@pytest.mark.parametrize("page", PAGES)
def test_a_project_without_version_and_run_shows_what_to_do(client, page):
    project = make_project()
    client.force_login(make_member(project, Role.VIEWER))

    said = words(client.get(reverse(f"evaluation:{page}", args=[project.slug])))

    assert ("No run yet." if page == "ledger" else "No version to score against") in said


@pytest.mark.parametrize("page", ["trend", "costs"])
def test_a_version_without_scores_says_so(client, scene, page):
    assert "Nothing has been scored on v1 yet, dev split." in read(client, scene, page)


def test_the_board_begins_with_what_its_pairs_tell_apart_and_ties_nothing_that_is(client, scored):
    said = read(client, scored, "overview")

    assert "better is better than base." in said
    assert "first place is better. 1 pair, paired t-test over queries by nDCG@10, Holm over all of them." in said
    assert "<small>better than B</small>" in said
    assert "<small>worse than A</small>" in said
    assert re.search(r"75 %<small>\d\d to \d\d %</small>", said), "the share judged has its interval"
    assert "bracket" not in said
    assert 'class="ties"' not in said


def test_runs_that_are_not_told_apart_share_their_places(client):
    names = [f"Q{n:02}" for n in range(1, 13)]
    ranked = {"base": BAD, "better": GOOD, "third": GOOD}
    scene = make_scene(test_share=0.0, runs={tag: dict.fromkeys(names, found) for tag, found in ranked.items()})
    for tag in ranked:
        score(scene, tag, measures="nDCG@10 RR")

    said = read(client, scene, "overview")

    assert "better is better than base; third cannot be told apart from it." in said
    assert "first place may be better or third (hollow dots). 3 pairs" in said

    assert "A bracket joins runs of which none is better than another." in said
    rows = [row.split("</td>")[0] for row in said.split('<td class="ties">')[1:]]
    assert rows == ['<i class="tie starts"></i>', '<i class="tie ends"></i>', "<i></i>"]
    assert said.count("1 to 2<small>of 3</small>") == 2
    assert said.count("3<small>of 3</small>") == 1
    assert said.count("<small>not told apart from") == 2


def test_more_brackets_than_fit_side_by_side_are_written_as_letters(client, scored, monkeypatch):
    monkeypatch.setattr(leaderboard.LeaderboardPage, "places", Places(np.zeros((2, 2), dtype=bool), 1))
    assert '<i class="tie starts"></i>' in read(client, scored, "overview")
    monkeypatch.setattr(leaderboard, "MOST_LANES", 0)

    said = read(client, scored, "overview")

    assert "Of runs with the same small letter, none is better than another." in said
    assert said.count('data-label="Not told apart">a</td>') == 2


def test_a_board_says_what_the_comparisons_of_its_runs_say(client):
    """Runs that are better query by query are told apart, though queries differ so much that the intervals overlap."""
    ranked = {}
    for tag, mended in (("low", 0), ("middle", 12), ("high", 24)):
        ranks = {n: max(1, 4 - n % 4 - (n <= mended)) for n in range(1, 25)}
        ranked[tag] = {f"Q{n:02}": _with_first_right_at(rank) for n, rank in ranks.items()}
    scene = make_scene(queries=24, test_share=0.0, runs=ranked)
    evaluations = {tag: score(scene, tag, measures="RR") for tag in ranked}
    ends = [one.scores.get(measure="RR") for one in evaluations.values()]
    assert max(one.ci_low for one in ends) < min(one.ci_high for one in ends), "by intervals all would be tied"

    said = read(client, scene, "overview")

    pair = (evaluations["low"].pk, evaluations["middle"].pk)
    verdict = read(client, scene, "compare", *pair)
    assert "middle is better than low by" in verdict
    assert "high is better than middle and low." in said
    assert re.search(r"Of 3 runs that are all as good, the best would seem 0\.0\d+ RR better than their mean", said)
    assert said.count("<small>of 3</small>") == 3
    assert not re.search(r">1 to [23]<", said)


def _with_first_right_at(rank):
    """A result list whose first relevant block, a, is at this rank; b, relevant at grade 1, is not returned."""
    blocks = ["c", "d", "é"]
    blocks.insert(rank - 1, "a")
    return {block: 9.0 - at for at, block in enumerate(blocks)}


def test_the_letters_of_a_board_go_on_after_z():
    assert [letter_of(at) for at in (0, 25, 26, 51, 52, 701, 702)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


def test_a_trend_has_runs_in_the_order_they_were_made_and_every_published_version(client, scored):
    found = Trend(scored.version, "")
    assert [row.ranked.run.tag for row in found.rows] == ["base", "better"]
    assert found.unscored == []
    assert "RR over time" in read(client, scored, "trend", measure="RR")

    version = next_version(scored)

    assert [one.label for one in Trend(version, "").versions] == ["v1", "v2"]
    assert "v1, v2" in Trend(scored.version, "").drawing or ">v1</text>" in Trend(scored.version, "").drawing


def test_what_a_trend_lacks_is_one_click_away_for_a_lead(client, scene):
    score(scene, "base", measures="RR")
    assert "Score 1 run on v1" in read(client, scene, "trend")

    response = client.post(url(scene, "score-rest", scene.version.pk), {"split": ""})

    assert response.status_code == 302
    assert Evaluation.objects.get(run=scene.runs["better"]).measures == ["RR"]
    assert "Not scored yet" not in read(client, scene, "trend")


def test_only_what_is_missing_from_the_trend_is_listed_and_requested(client, scene):
    score(scene, "base", measures="nDCG@10 RR")
    score(scene, "better", measures="nDCG@10")
    third = add_run(scene, "third", {"Q01": GOOD})

    said = read(client, scene, "trend", measure="nDCG@10")
    found = Trend(scene.version, "", "nDCG@10")

    assert [row.ranked.run.tag for row in found.rows] == ["base", "better"]
    assert [run.tag for run in found.unscored] == ["third"]
    assert [run.tag for run in Trend(scene.version, "", "RR").unscored] == ["better", "third"]
    assert "Score 1 run on v1" in said
    client.post(url(scene, "score-rest", scene.version.pk), {"split": "", "measure": "nDCG@10"})
    assert Evaluation.objects.get(run=third).measures == ["nDCG@10"]
    assert Evaluation.objects.filter(run=scene.runs["better"]).count() == 1


def test_a_viewer_sees_what_a_trend_lacks_but_cannot_request_it(client, scene):
    score(scene, "base")

    said = read(client, scene, "trend", user=make_member(scene.project, Role.VIEWER))

    assert "A lead can score runs." in said


def test_runs_on_other_texts_are_named_as_not_comparable(client, scored):
    other = make_snapshot(scored.project, {"a": "Other text", "z": "More"})
    add_run(scored, "strange", {"Q01": {"a": 1.0}}, snapshot=other)

    said = read(client, scored, "trend")

    assert "1 run on other texts" in said
    assert ">strange</a>" in said


def test_latency_and_cost_mark_a_front_each(scored):
    engine = make_run(scored.project, scored.snapshot)
    scored.runs[engine.tag] = engine
    score(scored, engine.tag, measures="nDCG@10 RR")
    write(scored, "base", cost=Decimal("0.5"))
    write(scored, "better", cost=Decimal("2"))

    rows = {row.ranked.run.tag: row for row in Costs(scored_runs(scored.version, "")).rows}

    assert (rows["base"].is_cheap_enough, rows["better"].is_cheap_enough) == (True, True)
    assert rows[engine.tag].is_fast_enough
    assert not rows["better"].is_fast_enough
    assert rows[engine.tag].latency.throughput == pytest.approx(1_000 / engine.latency["mean"])
    assert rows["better"].latency.throughput is None


def test_a_run_that_is_worse_and_dearer_is_off_the_front(scored):
    write(scored, "base", cost=Decimal("3"))
    write(scored, "better", cost=Decimal("2"))

    found = Costs(scored_runs(scored.version, ""))

    assert [row.is_cheap_enough for row in found.rows] == [True, False]
    assert found.by_latency == ""
    assert "on the Pareto front" in found.by_cost


def test_the_page_names_what_has_no_price(client, scored):
    write(scored, "better", cost=Decimal("2"))

    said = read(client, scored, "costs")

    assert "No run has a latency." in said
    assert "Without a cost: base." in said


def test_the_ledger_shows_runs_with_their_lines_and_scores(client, scored):
    write(scored, "better", tried="Longer blocks", commit="a1b2c3", verdict="Kept", cost=Decimal("1.25"))

    said = read(client, scored, "ledger", user=make_member(scored.project, Role.VIEWER))

    for part in ("Longer blocks", "a1b2c3", "Kept", "1.25", "n 6"):
        assert part in said
    assert "<code>nDCG@10</code> by grades, dev and test together." in said
    assert ">Write</a>" not in said


def test_the_ledger_shows_a_version_of_questions_alone(client):
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    run = hits.run_that(version, "mine", hits.places(version, 1, 2, 0))
    hits.score(version, run, hit="document", measures="Success@1")
    client.force_login(lead_of(version.gold_set.project))

    said = words(client.get(reverse("evaluation:ledger", args=[version.gold_set.project.slug])))

    assert "<code>Success@1</code> on Q&amp;As (same document), dev and test together." in said
    assert 'data-label="Success@1, same document"' in said
    assert "by grades" not in said


def test_a_lead_writes_a_line(client, scored):
    run, strange = scored.runs["base"], make_scene(queries=1, test_share=0.0).runs["base"]
    assert "Ledger entry of" in read(client, scored, "ledger-note", run.pk)

    refused = client.post(url(scored, "ledger-note", run.pk), {"cost": "-1"})
    response = client.post(url(scored, "ledger-note", run.pk), {"tried": "Stemming", "cost": "0.75"})

    assert (refused.status_code, "greater than or equal to 0" in words(refused)) == (400, True)
    assert client.get(url(scored, "ledger-note", strange.pk)).status_code == 404
    assert response.status_code == 302
    assert (RunNote.objects.get().tried, RunNote.objects.get().cost) == ("Stemming", Decimal("0.75"))


def test_the_cost_is_worked_out_of_prices_and_a_typed_one_says_so(client, scored):
    """100,000 input tokens at 0.5 a thousand are 50 for all queries of the run."""
    results = {query: {"a": 1.0} for query in ("Q01", "Q02")}
    scored.runs["dear"] = dear = add_run(scored, "dear", results, usage={"input_tokens": 100_000})
    score(scored, "dear", measures="nDCG@10")
    write(scored, "better", cost=Decimal("2"))
    page = read(client, scored, "ledger-note", dear.pk)
    both = client.post(url(scored, "ledger-note", dear.pk), {"price_input_tokens": "0.5", "cost": "3"})
    client.post(url(scored, "ledger-note", dear.pk), {"price_input_tokens": "0.5"})

    assert ("Price of 1,000 input tokens" in page, "Price of 1,000 requests" in page) == (True, False)
    assert "prices, not both" in words(both)
    note = RunNote.objects.get(run=dear)
    assert note.cost == Decimal(25_000)
    assert (note.prices, note.cost_from) == ({"input_tokens": "0.5"}, "prices")
    for page in ("ledger", "costs"):
        said = read(client, scored, page)
        assert "<small>by prices</small>" in said
        assert "2<small>typed</small>" in said
    assert 'value="0.5"' in read(client, scored, "ledger-note", dear.pk)
    with pytest.raises(LedgerRefused, match="does not say how many input tokens"):
        write(scored, "better", prices={"input_tokens": Decimal(1)})
    assert RunNote.objects.get(run=scored.runs["better"]).cost_from == "typed"


def test_an_outside_figure_stands_beside_the_measure_and_is_never_called_a_cause(client, scored):
    for at in range(3):
        tag = f"run-{at}"
        scored.runs[tag] = add_run(scored, tag, {f"Q{n:02}": GOOD if n <= 2 * at + 1 else BAD for n in range(1, 7)})
        score(scored, tag, measures="nDCG@10 RR")
    order = sorted(scored.runs, key=lambda tag: trend_of(scored)[tag])
    client.force_login(scored.lead)
    for at, tag in enumerate(order[:4]):
        client.post(url(scored, "ledger-note", scored.runs[tag].pk), {"figures": f"clicks = {at / 10}\n\nanswers=2"})
    few = read(client, scored, "trend")
    write(scored, order[4], figures={"clicks": 0.4})

    assert "Fewer than 5 runs have both figures: that says nothing. 4 runs scored here have it." in few
    shown = Trend(scored.version, "", figure="clicks").outside
    assert (shown.name, shown.tau.value, shown.tau.n) == ("clicks", 1.0, 5)
    said = read(client, scored, "trend", figure="clicks")
    assert "nDCG@10 against clicks" in said
    assert "It never says that one causes the other" in said
    assert Trend(scored.version, "", figure="answers").outside.tau.value is None
    assert "clicks = 0.0 answers = 2.0</textarea>" in read(client, scored, "ledger-note", scored.runs[order[0]].pk)


def trend_of(scene):
    """The mean of each run by its tag."""
    return {row.ranked.run.tag: row.score.mean for row in Trend(scene.version, "").rows}


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ("clicks 0.3", "Line 1: “clicks 0.3” is not “name = number”"),
        ("a = 1\na = 2", "Line 2: “a” is there twice."),
        ("a = many", "Line 1: a is “many”, which is no number."),
        ("a = inf", "a is inf, which is not a finite number."),
        (" = 3", "has 1 to 60 characters"),
    ],
)
def test_an_outside_figure_that_cannot_be_read_is_named(client, scored, figures, said):
    client.force_login(scored.lead)

    answer = client.post(url(scored, "ledger-note", scored.runs["base"].pk), {"figures": figures})

    assert (answer.status_code, RunNote.objects.exists()) == (400, False)
    assert said in plain_words(answer)


def test_a_line_starts_from_what_was_noted_when_the_run_was_made(client, scene):
    run = make_run(scene.project, scene.snapshot, note="First try", commit="c0ffee")

    said = read(client, scene, "ledger-note", run.pk)

    assert "First try</textarea>" in said
    assert 'value="c0ffee"' in said


def test_a_run_has_the_day_it_was_started_on_every_page(client, scene):
    scene.runs["slow"] = run = make_run(scene.project, scene.snapshot, tag="slow")
    score(scene, "slow", measures="nDCG@10")
    started, completed = day(run.created_at), day(run.completed_at)
    assert started != completed

    assert [row.started_at for row in Trend(scene.version, "").rows] == [run.created_at]
    cell = f'data-label="Started">{started}</td>'
    assert cell in read(client, scene, "trend")
    assert cell in read(client, scene, "ledger")
    assert f"started {started}." in read(client, scene, "ledger-note", run.pk)
    runs = words(client.get(reverse("retrieval:overview", args=[scene.project.slug])))
    assert f'<td class="num faint" data-label="Started">{started}</td></tr>' in runs
    shown = words(client.get(reverse("retrieval:run", args=[scene.project.slug, run.pk])))
    assert f"<dt>Started</dt><dd>{started} by" in shown


def test_the_pages_run_as_many_statements_for_two_runs_as_for_four(client):
    scene = make_scene(queries=4, test_share=0.0)
    client.force_login(scene.lead)

    def count() -> list[int]:
        return [statements_of(client, url(scene, page)) for page in ("overview", *PAGES)]

    score(scene, "base")
    write(scene, "base", tried="x", cost=Decimal("1"))
    score(scene, "better")
    before = count()
    other = make_snapshot(scene.project, {"a": "Other text"})
    add_run(scene, "strange", {"Q01": {"a": 1.0}}, snapshot=other)
    one_elsewhere = count()
    for number, results in enumerate((GOOD, BAD)):
        scene.runs[f"n{number}"] = add_run(scene, f"n{number}", {"Q01": {**results, "d": number + 1.5}})
        score(scene, f"n{number}")
        write(scene, f"n{number}", tried="x", cost=Decimal("1"))
        add_run(scene, f"strange{number}", {"Q01": {"a": number + 2.0}}, snapshot=other)

    assert count() == one_elsewhere
    assert all(one - two <= 1 for one, two in zip(one_elsewhere, before, strict=True))
    assert all(before)
