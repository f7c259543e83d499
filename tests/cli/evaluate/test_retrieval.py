import json

import pytest

from apps.cli.evaluate.answers import AnswerFile, OtherRun, SystemAnswer
from apps.cli.evaluate.released import read_release
from apps.cli.evaluate.requested import retrieve
from apps.common.errors import InputError
from apps.retrieval.core.engines.remote.http_json import HttpJson
from apps.retrieval.core.engines.remote.search import Pace
from tests.remote_server import SECRET

QUICK = Pace(at_once=2, tries=2, first_wait=0.01, stop_after=2)


@pytest.fixture
def file(tmp_path):
    return AnswerFile(tmp_path / "kept" / "answers.jsonl", {"release": "doors", "k": 10})


@pytest.fixture
def queries(release_folder):
    return read_release(release_folder).queries


def endpoint(port, path="search"):
    return HttpJson(
        url=f"http://127.0.0.1:{port}/{path}?n={{{{k}}}}",
        body='{"q": {{query}}}',
        ids="hits[*].doc.id",
        scores="hits[*].score",
        strip="doc:",
    )


def test_every_query_is_sent_and_its_answer_saved(port, queries, file):
    told = []

    outcome = retrieve(endpoint(port), queries, file, k=10, pace=QUICK, progress=lambda *now: told.append(now))

    assert outcome.answers["Q1"].hits == (("a", 2.0), ("d", 1.0))
    assert (outcome.failed, outcome.stopped) == ({}, "")
    assert file.read() == outcome.answers
    assert (told[0], told[-1]) == ((0, 3), (3, 3))


def test_ties_are_by_id_descending(port, queries, file):
    outcome = retrieve(endpoint(port), queries, file, k=2, pace=QUICK)

    assert outcome.answers["Q2"].hits == (("c", 2.0), ("b", 1.0))
    assert outcome.answers["Q3"].hits == (("d", 2.0), ("c", 1.0))


def test_a_stopped_run_resumes_where_it_was(port, queries, file):
    file.add([SystemAnswer("Q1", (("kept", 9.0),), 0.5)])
    told = []

    outcome = retrieve(endpoint(port), queries, file, k=10, pace=QUICK, progress=lambda *now: told.append(now))

    assert outcome.answers["Q1"].hits == (("kept", 9.0),)
    assert told[0] == (1, 3)
    assert sorted(outcome.answers) == ["Q1", "Q2", "Q3"]


def test_a_line_that_a_kill_cut_short_is_sent_again(port, queries, file):
    file.add([SystemAnswer("Q1", (("kept", 9.0),), 0.5)])
    with file.path.open("a") as stream:
        stream.write('{"query_id": "Q2", "hi')

    outcome = retrieve(endpoint(port), queries, file, k=10, pace=QUICK)

    assert outcome.answers["Q2"].hits == (("c", 2.0), ("b", 1.0))
    assert len(file.path.read_text().splitlines()) == 4


def test_headers_sign_in(port, queries, file):
    headers = {"Authorization": f"Bearer {SECRET}"}

    assert not retrieve(endpoint(port, "locked"), queries, file, k=10, pace=QUICK, headers=headers).failed


def test_what_no_other_query_would_pass_stops_the_run(port, queries, file):
    outcome = retrieve(endpoint(port, "locked"), queries, file, k=10, pace=QUICK)

    assert "does not accept the secret" in outcome.stopped
    assert outcome.answers == {}


def test_answers_of_another_run_are_not_mixed_in(file, tmp_path):
    file.add([SystemAnswer("Q1", (), 0.5)])

    with pytest.raises(OtherRun, match="another release, system or depth"):
        AnswerFile(file.path, {"release": "doors", "k": 20}).read()


def test_a_foreign_file_is_named_with_its_line(file):
    file.add([])
    with file.path.open("a") as stream:
        stream.write(json.dumps({"query_id": "Q1"}) + "\n")

    with pytest.raises(InputError, match="line 2: is not an answer of karat eval"):
        file.read()


def test_a_removed_file_leaves_no_empty_folder(file):
    file.add([])
    file.remove()

    assert not file.path.parent.exists()
    assert file.read() == {}
