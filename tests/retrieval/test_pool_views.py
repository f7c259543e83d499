"""The pages of pools with budgets and draws."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.retrieval.core.sampling import PoolPlan, plan_of
from apps.retrieval.execution import budgets
from apps.retrieval.models import Pool, System
from apps.retrieval.pages.pools import Bin, bins, sizes_chart
from apps.retrieval.selectors import pools
from apps.retrieval.selectors.pools import pool_query_ids
from tests.corpus.factories import make_corpus
from tests.factories import make_member
from tests.reading import plain_words
from tests.retrieval.factories import import_lines, make_pool, make_queries, make_run, make_snapshot, make_system, trec
from tests.retrieval.test_remote_queries import http, make_remote_system
from tests.retrieval.test_views import at
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

BLOCKS = {f"b{number:02}": f"text {number}" for number in range(30)}


@pytest.fixture
def snapshot(project):
    make_queries(project)
    return make_snapshot(project, BLOCKS)


@pytest.fixture
def run(project, snapshot):
    rows = [(query, f"b{place:02}", float(20 - place)) for query in ("Q01", "Q02", "Q03") for place in range(12)]
    return import_lines(project, snapshot, trec(rows)).run


def described(snapshot, run, **fields):
    return {"name": "Mine", "snapshot": snapshot.pk, "runs": [run.pk], "depth": "10", **fields}


def test_the_form_describes_a_plan(lead, project, snapshot, run):
    fields = {"method": "bandit", "pairs": "9", "each": "all", "random": "3", "edge": "1", "easy": "2", "seed": "7"}

    lead.post(at("new-pool", project), described(snapshot, run, **fields))

    plan = plan_of(Pool.objects.get().plan)
    wanted = PoolPlan("bandit", pairs=9, each=False, random=3, edge=1, easy=2, seed=7, edge_runs=(run.pk,))
    assert plan == wanted


def test_the_form_proposes_the_newest_run_of_each_system_and_the_systems_with_an_index(lead, project, snapshot, run):
    newer = import_lines(project, snapshot, trec([("Q01", "b01", 2.0)], "newer"), system=run.system.name).run
    bm25 = make_system(project)
    make_remote_system(project, http(9))

    form = lead.get(at("new-pool", project)).context["form"]

    assert (form["systems"].value(), form["runs"].value()) == ([bm25.pk], [newer.pk])
    assert not form.is_advanced


def test_of_many_runs_five_are_proposed(lead, project, snapshot):
    for tag in "abcdef":
        import_lines(project, snapshot, trec([("Q01", "b01", 2.0)], tag), system=tag)

    assert len(lead.get(at("new-pool", project)).context["form"]["runs"].value()) == 5


@pytest.mark.parametrize("fields", [{"method": "rrf", "pairs": "3"}, {"difficulty": "hard"}, {"seed": "7"}])
def test_what_was_set_under_advanced_is_shown_again(lead, project, snapshot, fields):
    assert lead.get(at("new-pool", project), fields).context["form"].is_advanced
    assert '<details class="form-details" open>' in plain_words(lead.get(at("new-pool", project), fields))


def test_an_error_under_advanced_unfolds_it(lead, project, snapshot, run):
    answer = lead.post(at("new-pool", project), described(snapshot, run, random="-1"))

    assert '<details class="form-details" open>' in plain_words(answer)


def test_left_open_the_form_means_the_plain_union(lead, project, snapshot, run):
    lead.post(at("new-pool", project), described(snapshot, run))

    assert Pool.objects.get().plan is None


def test_a_budget_of_nothing_is_refused_where_it_is_typed(lead, project, snapshot, run):
    answer = lead.post(at("new-pool", project), described(snapshot, run, method="rrf"))

    assert answer.status_code == 400
    assert "Enter the budget: how many pairs." in plain_words(answer)
    assert not Pool.objects.exists()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"method": "rrf", "pairs": "4"}, "<b>12</b> pairs at most"),
        ({"method": "rrf", "pairs": "4", "each": "all"}, "<b>4</b> pairs at most"),
        ({"random": "5", "easy": "1"}, "<b>48</b> pairs at most"),
        ({"random": "5"}, "15 pairs are sampled at random"),
        ({"random": "500"}, "<b>90</b> pairs at most"),
        ({"edge": "5"}, "shows nothing about the other passages"),
        ({"method": "rrf"}, "Enter the budget"),
    ],
)
def test_the_estimate_counts_budget_and_draws(lead, project, snapshot, run, fields, said):
    live = plain_words(lead.get(at("estimate", project), described(snapshot, run, **fields)))

    assert said in live


def test_a_budget_grows_from_its_page_and_a_plain_pool_has_none(lead, project, snapshot, run):
    plain = make_pool(project, snapshot, name="Plain", run_ids=[run.pk])
    pool = make_pool(project, snapshot, depth=10, run_ids=[run.pk], plan=PoolPlan("move_to_front", pairs=2))
    assert "Pairs to add" not in plain_words(lead.get(at("grow-pool", project, plain.pk)))
    assert "chosen from the grades so far" in plain_words(lead.get(at("grow-pool", project, pool.pk)))

    lead.post(at("grow-pool", project, pool.pk), {"depth": "10", "pairs": "1", "random": "2"})
    run_jobs()

    pool.refresh_from_db()
    assert pool.entry_count == 3 * 3 + 3 * 2


def test_the_pool_shows_how_it_was_chosen_and_what_was_sampled(lead, project, snapshot, run):
    pool = make_pool(project, snapshot, depth=10, run_ids=[run.pk], plan=PoolPlan("rrf", pairs=4, easy=2))

    page = plain_words(lead.get(at("pool", project, pool.pk)))

    assert "A budget of 4 pairs per query, by fused rank, from the top 10 of 1 run" in page
    assert '<span>Easy negatives</span><b class="at-end">6</b>' in page
    assert "This pool has no random passages" in page
    assert "A passage that several runs found is one pair." in page


def test_provenance_shows_sampled_pairs_last(lead, project, snapshot, run):
    pool = make_pool(project, snapshot, depth=2, run_ids=[run.pk], plan=PoolPlan(random=2))

    page = plain_words(lead.get(at("provenance", project, pool.pk)))

    assert page.count("<td>random</td>") == 2
    assert page.index(">b01<") < page.index("<td>random</td>")


def test_what_is_missed_is_estimated_on_request_and_shown_with_its_interval(
    lead, project, snapshot, run, monkeypatch, django_assert_num_queries
):
    pool = make_pool(project, snapshot, depth=10, run_ids=[run.pk], plan=PoolPlan(random=20))
    pairs = pool.entries.values_list("query", "version", "version__block__outside_id")
    grades = {(query, version): int(block < "b15") for query, version, block in pairs}
    monkeypatch.setattr(pools, "grade_sources", [lambda asked: grades])

    lead.post(at("missing", project, pool.pk))
    assert "Estimate what First pool misses" in plain_words(lead.get(at("pool", project, pool.pk)))
    run_jobs()

    page = plain_words(lead.get(at("pool", project, pool.pk)))
    assert "<dd>15 <small>15 to 15</small></dd>" in page
    assert "<dd>66.7 % <small>66.7 to 66.7</small></dd>" in page
    assert "60 judged of 60 random passages, 15 of them relevant, and 30 relevant passages in the pool" in page
    with django_assert_num_queries(8):
        lead.get(at("pool", project, pool.pk))


def test_before_anybody_judged_the_estimate_says_so(lead, project, snapshot, run):
    pool = make_pool(project, snapshot, depth=10, run_ids=[run.pk], plan=PoolPlan(random=2))
    lead.post(at("missing", project, pool.pk))
    run_jobs()

    assert "0 of 6 random passages judged" in plain_words(lead.get(at("pool", project, pool.pk)))


def test_annotators_cannot_see_what_the_pool_misses(client, project, snapshot, run):
    pool = make_pool(project, snapshot, depth=10, run_ids=[run.pk], plan=PoolPlan(random=2))
    client.force_login(make_member(project, Role.ANNOTATOR))

    assert "What the pool misses" not in plain_words(client.get(at("pool", project, pool.pk)))
    assert client.post(at("missing", project, pool.pk)).status_code == 403


def test_no_page_shows_a_run_deeper_than_its_snapshot(lead, project, snapshot):
    engine = make_run(project, snapshot)
    assert engine.depth == 1_000

    assert "bm25@1, 3 queries, 30 deep" in plain_words(lead.get(at("new-pool", project)))
    assert "at most 30 results per query" in plain_words(lead.get(at("run", project, engine.pk)))
    for page in (at("runs", project), at("system", project, engine.system_id)):
        assert '<td class="num" data-label="Depth">30</td>' in plain_words(lead.get(page))


def test_a_run_that_ranks_the_whole_snapshot_is_deep_enough_for_any_depth(lead, project):
    make_queries(project)
    small = make_snapshot(project, {"a": "red key", "b": "green window"})
    run = import_lines(project, small, trec([(q, b, 1.0) for q in ("Q01", "Q02", "Q03") for b in "ab"])).run

    estimate = plain_words(lead.get(at("estimate", project), {"snapshot": small.pk, "runs": run.pk, "depth": 5}))

    assert "6</b> pairs at most" in estimate
    assert "fewer than the depth" not in estimate


def test_a_project_with_nothing_to_choose_from_is_offered_the_systems_that_are_built_in(lead, project, snapshot):
    before = lead.get(at("new-pool", project))
    estimate = plain_words(lead.get(at("estimate", project), {"snapshot": snapshot.pk, "built_in": "on", "depth": 5}))
    answer = lead.post(at("new-pool", project), {"snapshot": snapshot.pk, "name": "Mine", "built_in": "on", "depth": 5})

    assert before.context["form"]["built_in"].value() is True
    assert "30</b> pairs at most" in estimate
    assert "TF-IDF cosine <span" in estimate
    pool = Pool.objects.get()
    assert answer.url == at("pool", project, pool.pk)
    assert sorted(link.run.system.kind for link in pool.pool_runs.all()) == ["bm25", "tfidf"]
    assert "built_in" not in lead.get(at("new-pool", project)).context["form"].fields


def test_next_to_a_run_the_systems_that_are_built_in_are_offered_unticked(lead, project, snapshot, run):
    form = lead.get(at("new-pool", project)).context["form"]
    lead.post(at("new-pool", project), described(snapshot, run))

    assert form["built_in"].value() is False
    assert not System.objects.filter(project=project, kind="bm25").exists()


def test_a_refused_pool_leaves_no_system_behind(lead, project, snapshot):
    fields = {"snapshot": snapshot.pk, "name": "Mine", "built_in": "on", "depth": 5, "difficulty": "hard"}

    assert "No query was chosen" in plain_words(lead.post(at("new-pool", project), fields))
    assert not System.objects.filter(project=project).exists()


def test_without_a_snapshot_the_passages_are_frozen_on_the_way(lead, project):
    make_queries(project)
    here = at("new-pool", project)
    empty = plain_words(lead.get(here))
    corpus = make_corpus(project)
    page = plain_words(lead.get(here))
    freeze = reverse("corpus:freeze", args=[project.slug, corpus.slug])

    answer = lead.post(freeze, {"then": here})

    assert "No documents yet" in empty
    assert f'action="{freeze}"' in page
    assert f"Freeze 3 passages of {corpus.name}" in page
    assert answer.url == here
    assert "is frozen: 3 passages" in plain_words(lead.get(here))


def test_freezing_leads_to_no_other_site(lead, project):
    corpus = make_corpus(project)

    answer = lead.post(
        reverse("corpus:freeze", args=[project.slug, corpus.slug]), {"then": "https://elsewhere.example/"}
    )

    assert answer.url == reverse("corpus:snapshot", args=[project.slug, corpus.snapshots.get().pk])


def test_queries_are_counted_by_their_number_of_pairs():
    assert bins([1, 0, 4]) == [Bin(0, 0, 1), Bin(1, 1, 0), Bin(2, 2, 4)]


def test_many_sizes_share_at_most_twelve_bins_of_one_width():
    drawn = bins([0] * 5 + [1] * 30)

    assert len(drawn) == 10
    assert drawn[0] == Bin(5, 7, 3)
    assert sum(bar.queries for bar in drawn) == 30


def test_nothing_to_draw_is_nothing():
    assert bins([]) == bins([0, 0]) == []
    assert sizes_chart([]) == ""


def test_every_bar_says_in_words_what_it_shows():
    drawn = sizes_chart([0, 3])

    assert "<title>1 pairs: 3 queries</title>" in drawn
    assert "Pairs per query</th>" in drawn


def test_the_form_says_what_a_precision_costs_and_a_button_builds_that(lead, project, snapshot, run, monkeypatch):
    fields = described(snapshot, run, half_width="0.4")
    said = plain_words(lead.get(at("estimate", project), fields))
    assert "For P@10 of each run within ± 0.4:" in said
    assert 'Whole queries, 3 of them</span><b class="at-end">30 judgements' in said
    assert 'Sampled pairs of all queries</span><b class="at-end">6 judgements' in said
    assert "Assumed, since too few of these results are graded" in said
    assert "do not suffice" in plain_words(lead.get(at("estimate", project), {**fields, "half_width": "0.05"}))
    assert plain_words(lead.get(at("estimate", project), {**fields, "method": "sample", "pairs": "0"})) == said

    lead.post(at("new-pool", project), {**fields, "sample": "9", "method": "depth", "pairs": "0"})
    pool = Pool.objects.get()
    assert plan_of(pool.plan) == PoolPlan("sample", pairs=9, each=False)
    run_jobs()
    page = plain_words(lead.get(at("pool", project, pool.pk)))
    assert "A budget of 9 pairs in total, sampled at random, from the top 10" in page
    assert "has an estimate of P@10. Other measures cannot be estimated from it." in page
    assert "a random sample of what its runs found, which does not tell what they miss" in page

    known = {(query, text): int(place < 6) for query in pool_query_ids(pool) for place, text in enumerate(texts(run))}
    monkeypatch.setattr(budgets, "FEWEST_GRADES", 30)
    monkeypatch.setattr(pools, "grade_sources", [lambda pool: known])
    said = plain_words(lead.get(at("estimate", project), fields))
    assert "Computed from 30 grades of these results, of which 60 % are relevant." in said


def texts(run):
    """The block versions of the run's snapshot, in the order of the ids."""
    entries = run.snapshot.entries.order_by("version__block__outside_id")
    return list(entries.values_list("version_id", flat=True))
