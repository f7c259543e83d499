import sys

import pytest

from apps.cli.evaluate.program import CommandEngine, run_command
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.base import RemoteError, RemoteHit, RemoteQuery

PYTHON = sys.executable


def run_line(line, text="red key", k=10):
    engine = CommandEngine(line)
    return engine.read(run_command(engine.request(RemoteQuery("Q1", text), k), seconds=10)).hits


def prints(code: str) -> str:
    return f'{PYTHON} -c "{code}"'


def test_places_are_filled_in_one_pass_and_no_shell_reads_them():
    request = CommandEngine("find --id={query_id} -n {k} {query}").request(RemoteQuery("Q7", "a; rm {k} 'b'"), 5)

    assert request.path.split("\0") == ["find", "--id=Q7", "-n", "5", "a; rm {k} 'b'"]
    assert request.body is None


def test_without_a_place_the_words_come_on_standard_input():
    assert run_line(prints("print(input().upper())")) == [RemoteHit("RED KEY", None)]


def test_ids_one_per_line_keep_their_order():
    assert run_line(prints("print('b\\na')") + " {query}") == [RemoteHit("b", None), RemoteHit("a", None)]


def test_ids_come_with_scores_behind_a_tab():
    assert run_line(prints("print('b\\t2.5\\na\\t1')")) == [RemoteHit("b", 2.5), RemoteHit("a", 1.0)]


@pytest.mark.parametrize(
    ("printed", "hits"),
    [
        ("['b', 7]", [RemoteHit("b", None), RemoteHit("7", None)]),
        ("[{'id': 'b', 'score': 2}, {'id': 'a'}]", [RemoteHit("b", 2.0), RemoteHit("a", None)]),
        ("[]", []),
    ],
)
def test_json_is_read_too(printed, hits):
    assert run_line(prints(f"import json; print(json.dumps({printed}))")) == hits


def test_a_third_column_is_refused_with_its_line():
    with pytest.raises(RemoteError, match="Line 2 of the answer has 3 columns, separated by tabs"):
        run_line(prints("print('b\\t2.5\\na\\t1\\t8.5')"))


def test_only_a_line_feed_ends_a_line():
    assert run_line(prints("print('b\\u2028c\\r\\na')")) == [RemoteHit("b\u2028c", None), RemoteHit("a", None)]
    with pytest.raises(RemoteError, match="The id of item 1 has a character that is not allowed in an id"):
        run_line(prints("print('b\\ra\\rc')"))


def test_a_failure_is_reported_with_its_code_and_last_output():
    with pytest.raises(RemoteError, match="ended with code 3: no index"):
        run_line(prints("import sys; print('no index', file=sys.stderr); sys.exit(3)"))


def test_a_score_that_is_none_is_named():
    with pytest.raises(RemoteError, match="The score of item 1 is not a number"):
        run_line(prints("print('b\\thigh')"))


def test_a_program_that_takes_too_long_is_ended():
    engine = CommandEngine(prints("import time; time.sleep(60)"))

    with pytest.raises(RemoteError, match=r"had not ended after 0\.2 seconds"):
        run_command(engine.request(RemoteQuery("Q1", "x"), 1), seconds=0.2)


def test_a_program_that_is_not_there_ends_the_run():
    with pytest.raises(RemoteError, match="cannot be run") as caught:
        run_line("/nowhere/search {query}")
    assert caught.value.is_final


@pytest.mark.parametrize(("line", "sentence"), [("", "is empty"), ("find 'x", "split into words")])
def test_a_line_that_is_not_a_command_is_rejected(line, sentence):
    with pytest.raises(BadParameters, match=sentence):
        CommandEngine(line)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("/usr/bin/find-blocks {query}", "find-blocks"),
        ("find.sh {query}", "find.sh"),
        ("python3 x.py", "x"),
        ("/opt/python3.12 -u tools/dense.v2.py {query}", "dense.v2"),
        ("python3 -m search.cli {query}", "search.cli"),
        ("node find.js {query}", "find"),
        ("python3 -c 'print(1)'", "python3"),
        ("bash", "bash"),
    ],
)
def test_a_program_is_called_after_the_script_that_it_runs(line, name):
    assert CommandEngine(line).called == name
