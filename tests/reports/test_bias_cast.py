"""Five real runs of TREC CAsT 2021: what nobody judged, and each left out in turn."""

import numpy as np
import pytest
import pytrec_eval

from apps.metrics.columns import in_rank_order, place_within
from apps.metrics.files.reading import load_qrels, load_run
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.vocabulary import Vocabulary
from apps.reports.core.bias import Finds, LeftOutSystem, SystemMeans, means_of, moves, sole_finders, verdict, without
from apps.reports.core.unjudged_priority import Top, UnjudgedPriority, weighing

pytestmark = pytest.mark.once
NAMES = ("org_convdr", "org_convdr_bert", "org_manual_ance", "org_manual_ance_bert", "org_manual_bm25")
MEASURES = parse_measures("nDCG@10 AP")


@pytest.fixture(scope="module")
def cast(shared_data):
    """Judgements, rankings, ids of blocks, and the tops to rank 100."""
    folder, blocks = shared_data / "cast2021_runs", Vocabulary()
    judged = load_qrels(str(folder / "trec-cast-qrels-docs.2021.qrel"), blocks)
    files = [load_run(str(folder / f"{name}.run"), judged, blocks) for name in NAMES]
    runs = [file.ranked._replace(block=blocks.numbers_of(file.ids.take(file.ranked.block))) for file in files]
    ids = blocks.ids
    tops = []
    for run in runs:
        ordered = in_rank_order(run, ids)
        rank = place_within(ordered.query, len(judged.queries))
        tops.append(Top(ordered.query[rank < 100], ordered.block[rank < 100], rank[rank < 100]))
    return judged, runs, ids, tops


def left_out(cast, depth):
    """The report of these runs, each its own system, pooled to the depth."""
    judged, runs, ids, tops = cast
    near = [top.rank < depth for top in tops]
    finds = Finds(
        np.concatenate([top.query[kept] for top, kept in zip(tops, near, strict=True)]),
        np.concatenate([top.block[kept] for top, kept in zip(tops, near, strict=True)]),
        np.concatenate([np.full(kept.sum(), system) for system, kept in enumerate(near, 1)]),
    )
    sole = sole_finders(judged, finds)
    grounds = [judged, *(without(judged, sole == system) for system in range(1, len(runs) + 1))]
    means = [[means_of(measure_run(MEASURES, ground, run, ids)) for ground in grounds] for run in runs]
    standings = [
        SystemMeans(name, system, rows[0]) for system, (name, rows) in enumerate(zip(NAMES, means, strict=True), 1)
    ]
    out = [
        LeftOutSystem(system, name, int((sole == system).sum()), 0, [rows[system] for rows in means])
        for system, name in enumerate(NAMES, 1)
    ]
    return standings, out


def test_what_nobody_judged_is_what_the_readme_counts(cast):
    judged, runs, ids, _ = cast

    shares = [1 - means_of(measure_run([Measure("Judged", 10)], judged, run, ids))[0] for run in runs]

    assert [round(share, 2) for share in shares] == [0.30, 0.26, 0.23, 0.16, 0.14]


def by_hand(folder, depth):
    """nDCG@10 of each run without what it alone brought in, from plain sets and pytrec_eval."""
    qrels = read(folder / "trec-cast-qrels-docs.2021.qrel", 2, 3, int)
    runs = {name: read(folder / f"{name}.run", 2, 4, float) for name in NAMES}
    tops = {
        name: {(query, block) for query, found in run.items() for block in best(found)[:depth]}
        for name, run in runs.items()
    }
    values = {}
    for name, run in runs.items():
        others = set().union(*(top for other, top in tops.items() if other != name))
        own = tops[name] - others
        left = {
            query: {block: grade for block, grade in row.items() if (query, block) not in own}
            for query, row in qrels.items()
        }
        found = pytrec_eval.RelevanceEvaluator(left, {"ndcg_cut_10"}).evaluate(run)
        values[name] = sum(value["ndcg_cut_10"] for value in found.values()) / len(qrels)
    return values


def read(path, block, value, kind):
    rows = {}
    for line in path.read_text().splitlines():
        fields = line.split()
        rows.setdefault(fields[0], {})[fields[block]] = kind(fields[value])
    return rows


def best(found):
    return sorted(found, key=lambda block: (found[block], block), reverse=True)


def test_leaving_one_out_is_what_plain_sets_and_trec_eval_find(cast, shared_data):
    standings, out = left_out(cast, 10)

    found = moves(standings, out, 0)

    assert [round(move.before, 4) for move in found] == [0.3444, 0.3911, 0.4938, 0.5138, 0.3764]
    expected = by_hand(shared_data / "cast2021_runs", 10)
    assert {move.tag: move.after for move in found} == pytest.approx(expected)
    assert [(move.rank_before, move.rank_after) for move in found] == [(5, 5), (3, 5), (2, 2), (1, 2), (4, 5)]
    assert verdict(found, "nDCG@10") == (
        "No run moves more than 2 places when its own family is left out; "
        "leaving out org_manual_bm25 costs it 0.129 nDCG@10."
    )


def test_the_order_of_all_neighbours_is_open_and_the_widest_swings_are_first(cast):
    judged, _, _, tops = cast

    race = UnjudgedPriority(judged, tops, weighing(MEASURES[0], 4))

    assert race.means == pytest.approx([0.3444, 0.3911, 0.4938, 0.5138, 0.3764], abs=5e-5)
    assert [NAMES[pair.better] for pair in race.neighbours] == [NAMES[3], NAMES[2], NAMES[1], NAMES[4]]
    assert not any(pair.is_settled for pair in race.neighbours)
    first = race.first(50)
    assert len(first.block) == 50
    assert (np.diff(first.swing) <= 1e-12).all()
    assert first.swing[0] == race.swings.max()
