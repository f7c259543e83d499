"""How many queries are asked, with the other side played by a function."""

import json
import threading

import numpy as np
import pytest

from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote import make_remote
from apps.retrieval.core.engines.remote.base import (
    NAMED,
    RemoteError,
    RemoteHit,
    RemoteQuery,
    RemoteReport,
    Reply,
    merged,
)
from apps.retrieval.core.engines.remote.search import (
    LONGEST_WAIT,
    Pace,
    RateLimiter,
    RemoteConnection,
    ranked,
    search_all,
)
from apps.retrieval.core.ranking import is_ranked

ENGINE = make_remote(
    "http",
    {"url": "https://a.example/", "body": '{"q": "{{query}}"}', "ids": "hits[*][0]", "scores": "hits[*][1]"},
)
BLOCKS = {"a": 0, "b": 1, "c": 2, "d": 3}
QUICK = Pace(at_once=2, tries=3, first_wait=0.01, stop_after=3)


def words_of(request):
    return json.loads(request.body)["q"]


def answer(*hits, seconds=0.5):
    return Reply(200, {}, json.dumps({"hits": hits}).encode(), seconds)


def line(send, pace=QUICK):
    return RemoteConnection(send, lambda ids: {key: BLOCKS[key] for key in ids if key in BLOCKS}, pace)


def queries(*texts):
    return [RemoteQuery(f"Q{number}", text) for number, text in enumerate(texts, 1)]


def test_every_query_gets_its_own_ranking_in_the_requested_order():
    answers = search_all(ENGINE, line(lambda request: answer([words_of(request), 1.0])), queries("b", "a", "c"), 10)

    assert answers.answered == [0, 1, 2]
    assert [answers.hits.of(number)[0].tolist() for number in range(3)] == [[1], [0], [2]]
    assert (answers.failed, answers.stopped, answers.report.values()) == ([], "", {})


def test_time_is_that_of_the_answer_alone():
    calls = []

    def send(request):
        calls.append(request)
        if len(calls) == 1:
            raise RemoteError("late", is_passing=True)
        return answer(seconds=0.5)

    answers = search_all(ENGINE, line(send), queries("a"), 10)

    assert answers.hits.seconds[0] == pytest.approx(0.5, abs=0.1)
    assert answers.report.values() == {"retries": 1}


def test_a_query_that_fails_does_not_take_the_others_with_it():
    def send(request):
        if words_of(request) == "bad":
            raise RemoteError("It broke.", is_passing=True)
        return answer(["a", 1])

    answers = search_all(ENGINE, line(send), queries("a", "bad", "b"), 10)

    assert answers.answered == [0, 2]
    assert answers.failed == [("Q2", "It broke.")]
    assert len(answers.hits.offsets) == 3
    assert answers.report.retries == 2


def test_a_permanent_error_is_not_retried():
    asked = []

    def send(request):
        asked.append(request)
        raise RemoteError("Refused.")

    search_all(ENGINE, line(send), queries("a"), 10)

    assert len(asked) == 1


def test_no_more_requests_are_sent_after_too_many_failures_in_a_row():
    asked = []

    def send(request):
        asked.append(words_of(request))
        raise RemoteError("Refused.")

    answers = search_all(ENGINE, line(send, Pace(at_once=1, stop_after=3)), queries(*"abcdefgh"), 10)

    assert asked == ["a", "b", "c"]
    assert answers.stopped == "Refused."
    assert len(answers.failed) == 3


def test_what_would_meet_every_query_stops_at_once():
    def send(request):
        raise RemoteError("No access.", is_final=True)

    answers = search_all(ENGINE, line(send, Pace(at_once=1)), queries("a", "b"), 10)

    assert (len(answers.failed), answers.stopped) == (1, "No access.")


def test_failures_in_a_row_are_counted_over_the_parts_of_a_run():
    def send(request):
        raise RemoteError("Refused.")

    opened = line(send, Pace(at_once=1, stop_after=3))
    assert search_all(ENGINE, opened, queries("a", "b"), 10).stopped == ""
    assert search_all(ENGINE, opened, queries("c"), 10).stopped == "Refused."


def test_the_other_requests_wait_as_long_as_retry_after_says():
    calls = []

    def send(request):
        calls.append(request)
        if len(calls) == 1:
            raise RemoteError("Busy.", is_passing=True, wait=30)
        return answer()

    opened = line(send, Pace(at_once=1, tries=2, first_wait=0.01))
    slept = []
    opened.limiter.sleep = lambda seconds: slept.append(seconds) or True
    search_all(ENGINE, opened, queries("a"), 10)

    assert len(calls) == 2
    assert max(slept) == pytest.approx(30, abs=1)


def test_a_wait_that_is_too_long_is_a_failure():
    calls = []

    def send(request):
        calls.append(request)
        raise RemoteError("Busy.", is_passing=True, wait=3_600)

    answers = search_all(ENGINE, line(send), queries("a"), 10)

    assert (len(calls), answers.failed) == (1, [("Q1", "Busy.")])


def test_concurrent_requests_stay_within_the_limit():
    now, most, lock, both = [0], [0], threading.Lock(), threading.Barrier(2, timeout=10)

    def send(request):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        both.wait()
        with lock:
            now[0] -= 1
        return answer()

    search_all(ENGINE, line(send, Pace(at_once=2)), queries(*"abcdef"), 10)

    assert most[0] == 2


def test_requests_per_second_stay_within_the_limit():
    opened, waits = line(lambda request: answer(), Pace(at_once=1)), []
    opened.limiter = RateLimiter(2, clock=lambda: 0.0)
    opened.limiter.sleep = lambda seconds: waits.append(seconds) or True

    search_all(ENGINE, opened, queries("a", "b", "c"), 10)

    assert [wait for wait in waits if wait] == [0.5, 1.0]


def test_stopping_the_work_stops_the_requests():
    asked = []

    def send(request):
        asked.append(request)
        return answer()

    def beat():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_all(ENGINE, line(send, Pace(at_once=1, per_second=50)), queries(*"abcdefghijklmnopqrstuvwxyz"), 10, beat)

    assert len(asked) < 5


# What becomes of the hits


def rank(*hits, k=10):
    report = RemoteReport()
    positions, scores = ranked("Q1", [RemoteHit(*hit) for hit in hits], BLOCKS, k, report)
    assert is_ranked(np.asarray(positions, dtype=np.int32), scores)
    return positions.tolist(), scores.tolist(), report.values()


def test_scores_decide_and_ties_fall_by_position():
    assert rank(("a", 1.0), ("b", 2.0), ("c", 1.0)) == ([1, 2, 0], [2.0, 1.0, 1.0], {})


def test_without_scores_the_order_is_preserved():
    assert rank(("c", None), ("a", None)) == ([2, 0], [1.0, 0.5], {})


def test_unknown_blocks_are_left_out_and_the_ranks_close_up():
    assert rank(("x", None), ("a", None), ("y", None), ("b", None)) == (
        [0, 1],
        [1.0, 0.5],
        {"unknown": 2, "unknown_queries": 1, "first_unknown": [["Q1", "x"], ["Q1", "y"]]},
    )


def test_of_a_block_that_comes_twice_the_first_counts():
    assert rank(("a", 1.0), ("b", 0.5), ("a", 9.0)) == ([0, 1], [1.0, 0.5], {"repeated": 1})


def test_what_is_beyond_the_depth_is_cut():
    assert rank(("a", 1.0), ("b", 0.5), ("c", 0.1), k=2) == ([0, 1], [1.0, 0.5], {"cut": 1})


def test_an_empty_result_is_an_empty_ranking():
    assert rank() == ([], [], {})


def test_reports_add_up_and_name_the_first():
    one, other = RemoteReport(), RemoteReport()
    for number in range(NAMED):
        one.add_unknown("Q1", f"x{number}")
    other.add_unknown("Q2", "y" * 500)
    other.add_incomplete("Q2", "time ran out")

    total = merged(merged(None, one.values()), other.values())

    assert (total["unknown"], total["unknown_queries"], total["incomplete"]) == (NAMED + 1, 2, 1)
    assert len(total["first_unknown"]) == NAMED
    assert other.first_unknown == [["Q2", "y" * 120]]


def test_a_pace_is_read_from_plain_values_and_back():
    assert Pace.of({}) == Pace()
    assert Pace.of({"at_once": 8.0, "per_second": 5}).values() == {**Pace().values(), "at_once": 8, "per_second": 5.0}


@pytest.mark.parametrize("values", [{"at_once": 0}, {"at_once": 33}, {"tries": True}, {"read": "1"}, {"speed": 1}])
def test_a_pace_out_of_bounds_is_refused(values):
    with pytest.raises(BadParameters):
        Pace.of(values)


def test_waits_double_less_up_to_half_and_are_the_querys_own():
    pace = Pace(first_wait=1.0)
    waits = [pace.wait_before(attempt, "Q1") for attempt in (2, 3, 4)]

    assert all(top / 2 <= wait <= top for wait, top in zip(waits, (1, 2, 4), strict=True))
    assert waits == [pace.wait_before(attempt, "Q1") for attempt in (2, 3, 4)]
    assert waits[0] != pace.wait_before(2, "Q2")
    assert pace.wait_before(60, "Q1") <= LONGEST_WAIT


def test_a_gate_spaces_requests_evenly():
    now = [100.0]
    limiter = RateLimiter(4, clock=lambda: now[0])

    assert [limiter.reserve() for _ in range(3)] == [0.0, 0.25, 0.5]

    now[0] = 200.0
    assert limiter.reserve() == 0.0


def test_an_open_gate_lets_everybody_through():
    limiter = RateLimiter(0, clock=lambda: 1.0)

    assert [limiter.reserve() for _ in range(3)] == [0.0, 0.0, 0.0]


def test_a_held_gate_lets_nobody_begin():
    limiter = RateLimiter(2, clock=lambda: 10.0)
    limiter.pause(5)

    assert [limiter.reserve(), limiter.reserve()] == [5.0, 5.5]


def test_a_stopped_gate_wakes_those_who_wait():
    limiter = RateLimiter(0)
    assert limiter.sleep(0)

    limiter.stop()

    assert not limiter.sleep(3600)
    assert not limiter.sleep(0)
