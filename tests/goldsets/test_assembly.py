"""What a version gathers from its rounds: grades carried over say so, and give way to judgements of the pair itself."""

import pytest

from apps.goldsets.selectors.assembly import gather
from tests.goldsets.factories import Bench, draft, make_source
from tests.judging.same import carry, judged, judged_apart, make_same_pool

pytestmark = pytest.mark.django_db


def test_grades_carried_over_say_so_and_give_way_to_judgements_of_the_pair_itself():
    pool = make_same_pool()
    first = judged(pool)
    carried = carry(pool)
    apart = judged_apart(pool, "a-near", 2)
    bench = Bench(pool.project, pool.snapshot, pool, first, make_source(pool.project))

    found = gather(draft(bench, rounds=[carried, apart, first]))

    assert {pair.place.outside_id: (pair.grade, pair.resolution) for pair in found.pairs} == {
        "a": (3, "single"),
        "a-exact": (3, "carried"),
        "a-near": (2, "single"),
        "b": (1, "single"),
        "b-exact": (1, "carried"),
        "c": (0, "single"),
    }
    assert found.unresolved == []
