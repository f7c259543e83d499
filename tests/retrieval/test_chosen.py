"""Pools of chosen pairs."""

import pytest

from apps.corpus.models import SnapshotBlock
from apps.retrieval.actions.pools import ChoiceRefused, choose_pairs
from apps.retrieval.enums import PoolKind, PoolState
from tests.factories import AT, lead_of, make_project
from tests.retrieval.factories import make_queries, make_snapshot

pytestmark = pytest.mark.django_db


@pytest.fixture
def snapshot(project):
    return make_snapshot(project)


def choose(project, snapshot, pairs, **others):
    values = {"name": "Again", "actor": lead_of(project), "at": AT, **others}
    return choose_pairs(project=project, snapshot=snapshot, pairs=pairs, **values)


def blocks_of(snapshot):
    return list(SnapshotBlock.objects.filter(snapshot=snapshot).values_list("version_id", flat=True))


def test_a_pool_of_chosen_pairs_is_complete_and_contains_each_pair_once(project, snapshot):
    query, other, _ = make_queries(project)
    first, second, *_ = blocks_of(snapshot)

    pool = choose(project, snapshot, [(query.pk, second), (other.pk, first), (query.pk, second)], origin="round 3")

    assert (pool.kind, pool.state, pool.entry_count, pool.origin) == (
        PoolKind.CHOSEN, PoolState.COMPLETE, 2, "round 3",
    )  # fmt: skip
    assert sorted(pool.entries.values_list("query_id", "version_id")) == [(query.pk, second), (other.pk, first)]
    assert set(pool.pool_queries.values_list("query_id", flat=True)) == {query.pk, other.pk}


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("nothing", "No pair was chosen"),
        ("another's query", "query is not in this project"),
        ("another's block", "passage is not in the snapshot"),
        ("no name", "needs a name"),
        ("a taken name", "already a pool called Again"),
    ],
)
def test_pairs_that_cannot_be_a_pool_are_refused(project, snapshot, what, sentence):
    query, *_ = make_queries(project)
    block, *_ = blocks_of(snapshot)
    other = make_project("other")
    name, pairs = "Again", [(query.pk, block)]
    if what == "nothing":
        pairs = []
    elif what == "another's query":
        pairs = [(make_queries(other)[0].pk, block)]
    elif what == "another's block":
        pairs = [(query.pk, blocks_of(make_snapshot(other))[0])]
    elif what == "no name":
        name = "  "
    else:
        choose(project, snapshot, pairs)

    with pytest.raises(ChoiceRefused, match=sentence):
        choose(project, snapshot, pairs, name=name)
