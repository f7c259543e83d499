import re
from datetime import timedelta
from itertools import combinations
from xml.etree import ElementTree

from apps.evaluation.pages.leaderboard_charts import CHARACTER, LINE, Milestone, TrendPoint, Worth, cost_quality, trend
from apps.evaluation.pages.trends import latency_places
from tests.factories import AT


def point(run, weeks):
    return TrendPoint("BM25", run, AT + timedelta(weeks=weeks), 0.5, (0.4, 0.6), 12)


def milestone(label, weeks):
    return Milestone(label, AT + timedelta(weeks=weeks))


def words_of(chart, name):
    return [node.text for node in ElementTree.fromstring(chart).iter(name)]


def places(chart, names):
    """Where each name is written: left, right and baseline in pixels."""
    found = {}
    for node in ElementTree.fromstring(chart).iter("text"):
        if node.text in names:
            x, wide = float(node.get("x")), CHARACTER * len(node.text)
            left = {"end": x - wide, "middle": x - wide / 2}.get(node.get("text-anchor"), x)
            found[node.text] = (left, left + wide, float(node.get("y")))
    return found


def test_a_trend_says_where_weeks_passed_without_a_run():
    chart = trend("nDCG@10", [point("one", 0), point("two", 3), point("three", 14)], [])

    assert [words for words in words_of(chart, "title") if "without" in words] == ["11 weeks without a run"]


def test_a_trend_names_each_year_once():
    chart = trend("nDCG@10", [point("one", 0), point("two", 1), point("three", 50), point("four", 51)], [])

    assert [words for words in words_of(chart, "text") if words in {"2026", "2027"}] == ["2026", "2027"]


def test_versions_between_the_same_two_runs_share_a_line_and_its_words():
    versions = [milestone("v1", 1), milestone("v2", 2), milestone("v3", 3), milestone("v4", 9), milestone("v5", 9)]

    chart = trend("nDCG@10", [point("one", 0), point("two", 8)], versions)

    assert [words for words in words_of(chart, "text") if words.startswith("v")] == ["v1 to v3", "v4, v5"]


def test_names_of_runs_with_close_values_do_not_overlap():
    names = ["bm25", "bm25-stopwords-off", "bm25-long-blocks", "tf-idf"]
    runs = [Worth(name, 1.0 + 0.01 * at, 0.5 + 0.002 * at, (0.4, 0.6), 12, False) for at, name in enumerate(names)]

    written = places(cost_quality("nDCG@10", "cost", [*runs, Worth("far", 3.0, 0.9, (0.8, 0.95), 12, True)]), names)

    assert sorted(written) == sorted(names)
    for one, other in combinations(written.values(), 2):
        assert one[1] <= other[0] or other[1] <= one[0] or abs(one[2] - other[2]) >= LINE


def test_a_name_at_the_edge_does_not_cross_the_whisker_of_its_neighbour():
    edge, neighbour = Worth("bm25-long-blocks-damped@1", 0.2, 0.87, (0.8, 0.92), 64, True), (0.802, 0.917)
    runs = [
        edge,
        Worth("bm25@1", 1.2, 0.86, neighbour, 64, False),
        Worth("tf-idf@1", 3.7, 0.85, (0.79, 0.91), 64, False),
    ]

    chart = cost_quality("nDCG@10", "latency", runs)

    start, end, y = places(chart, [edge.run])[edge.run]
    whiskers = [node.get("d") for node in ElementTree.fromstring(chart).iter("path") if node.get("class") == "whisker"]
    for x, low, high in (map(float, re.match(r"M([\d.]+) ([\d.]+)V([\d.]+)", d).groups()) for d in whiskers):
        assert not (start < x < end and high < y - LINE / 2 < low)


def test_the_mark_of_the_front_is_drawn_above_one_that_hides_it():
    chart = cost_quality(
        "nDCG@10", "cost", [Worth("on", 1.0, 0.5, None, 12, True), Worth("off", 1.0, 0.5, None, 12, False)]
    )

    assert [node.get("class") for node in ElementTree.fromstring(chart).iter("circle")] == ["open", "point"]


def test_latencies_of_one_table_have_the_same_places():
    assert latency_places([0.217, 12.0, None]) == 2
    assert latency_places([12.0, 240.0]) == 1
    assert latency_places([140.0, 1_250.0]) == 0
    assert latency_places([None]) == 2
