"""Pools of what systems found that cut passages of their own: the blocks that these cover."""

import pytest
from django.urls import reverse

from apps.retrieval.actions.pools import PoolRefused, grow_pool, request_pool
from apps.retrieval.core.sampling import PoolPlan
from apps.retrieval.models import PoolEntry
from apps.retrieval.selectors.pools import run_shares
from tests.factories import AT, lead_of
from tests.retrieval.factories import import_results, make_pool, make_queries, make_run, make_snapshot
from tests.running_jobs import run_jobs

RULES = {
    "R-1": "The red key opens the north door of the pump house and no other door.",
    "R-2": "The green window on the landing stays shut from October until the end of March.",
    "R-3": "Whoever leaves last switches off the heating and locks the door with the red key.",
    "R-4": "Meters are read on the first working day of every month.",
}


@pytest.fixture
def rules(project):
    make_queries(project)
    return make_snapshot(project, RULES)


def result(query: str, rank: int, text: str) -> dict:
    return {"qid": query, "rank": rank, "text": text}


def pairs(pool) -> dict:
    """The rank at which each run found the blocks of each query."""
    rows = PoolEntry.objects.filter(pool=pool).values_list(
        "query__outside_id", "version__block__outside_id", "found_by"
    )
    return {(query, block): [rank for _, rank in found] for query, block, found in rows}


def both(*blocks: str) -> str:
    return " ".join(RULES[block] for block in blocks)


def test_a_pool_takes_the_blocks_that_returned_passages_cover_at_their_ranks(project, rules):
    """The first passage holds two blocks, the second touches one, the third completes it."""
    words = RULES["R-3"].split()
    run = import_results(
        project,
        rules,
        result("Q01", 1, both("R-1", "R-4")),
        result("Q01", 2, " ".join(words[:7])),
        result("Q01", 3, " ".join(words[7:])),
        result("Q01", 4, RULES["R-2"]),
        result("Q02", 1, "a text from elsewhere, which nobody has ever imported here"),
    ).run

    pool = make_pool(project, rules, run_ids=[run.pk], depth=3)

    assert pairs(pool) == {("Q01", "R-1"): [1], ("Q01", "R-4"): [1], ("Q01", "R-3"): [3]}
    assert pool.summary["without"] == 2


def test_the_pool_says_what_each_system_contributed(project, rules):
    run = import_results(project, rules, result("Q01", 1, both("R-1", "R-2"))).run
    bm25 = make_run(project, rules)

    shares = {one.run.pk: one for one in run_shares(make_pool(project, rules, run_ids=[run.pk, bm25.pk]))}

    assert (shares[run.pk].found, shares[run.pk].alone) == (2, 1)
    assert shares[run.pk].found + shares[bm25.pk].alone == len(pairs(bm25.pool_runs.get().pool))


@pytest.mark.parametrize(
    "plan", [PoolPlan(method="rrf", pairs=1, each=True), PoolPlan(method="bandit", pairs=3, each=False)]
)
def test_a_budget_is_spent_on_what_passages_cover(project, rules, plan):
    run = import_results(project, rules, result("Q01", 1, both("R-1", "R-4")), result("Q02", 1, RULES["R-2"])).run

    pool = make_pool(project, rules, run_ids=[run.pk], plan=plan)

    assert len(pairs(pool)) == (2 if plan.each else 3)


def test_random_samples_below_the_pool_know_what_passages_covered(project, rules):
    run = import_results(project, rules, *(result("Q01", rank, RULES[f"R-{rank}"]) for rank in (1, 2, 3, 4))).run

    pool = make_pool(project, rules, run_ids=[run.pk], depth=1, plan=PoolPlan(random=1, edge=2))

    sampled = PoolEntry.objects.filter(pool=pool, query__outside_id="Q01", sampled__stratum="edge")
    assert sampled.count() == 2
    assert pairs(pool)["Q01", "R-1"] == [1]


def test_a_pool_grows_by_a_run_of_own_passages(project, rules):
    pool = make_pool(project, rules)
    before = set(pairs(pool))
    run = import_results(project, rules, result("Q03", 1, RULES["R-4"])).run

    grow_pool(project=project, pool_id=pool.pk, run_ids=[run.pk], actor=lead_of(project), at=AT)
    run_jobs()

    assert set(pairs(pool)) == before | {("Q03", "R-4")}


def test_a_random_sample_of_results_takes_no_run_of_own_passages_and_says_why(project, rules):
    run = import_results(project, rules, result("Q01", 1, RULES["R-1"])).run
    plan = PoolPlan(method="sample", pairs=2, each=False)

    with pytest.raises(PoolRefused, match=r"A random sample estimates P@k of our passages, not of those"):
        request_pool(
            project=project,
            name="Sample",
            snapshot_id=rules.pk,
            run_ids=[run.pk],
            depth=5,
            plan=plan,
            actor=lead_of(project),
            at=AT,
        )


def test_the_form_offers_the_run_and_its_estimate_says_how_it_counts(client, project, rules):
    client.force_login(lead_of(project))
    run = import_results(project, rules, result("Q01", 1, RULES["R-1"]), result("Q02", 1, RULES["R-2"])).run

    form = client.get(f"{reverse('retrieval:new-pool', args=[project.slug])}?snapshot={rules.pk}")
    estimate = client.get(
        reverse("retrieval:estimate", args=[project.slug]),
        {"snapshot": rules.pk, "runs": run.pk, "depth": 5, "method": "depth"},
    ).content.decode()

    assert run in form.context["form"].fields["runs"].queryset
    assert "<b>2</b> pairs, about" in estimate
    assert "cut its own passages: the pool takes ours that these cover, one for each as counted here" in estimate
