"""`karat eval --comment`: what is written for a pull request, and what never is."""

import pytest

from apps.cli.evaluate.comment import link_to
from apps.cli.evaluate.released import read_release
from apps.config.commandline import main as karat
from tests.cli.evaluate.releases import write_release
from tests.cli.evaluate.test_triples import ALONE

RUN = "Q1 Q0 d 1 2.0 mine\nQ2 Q0 x 1 2.0 mine\nQ3 Q0 d 1 1.5 mine\nQ9 Q0 lost 1 1.5 mine\n"
GATES = '[[gate]]\nname = "Good enough"\nfigure = "nDCG@10"\nat_least = 0.95\n'
pytestmark = pytest.mark.usefixtures("two_decide")


@pytest.fixture
def at(tmp_path, monkeypatch, release_folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.run").write_text(RUN)
    (tmp_path / "gates.toml").write_text(GATES)
    return tmp_path


def commented(at, *options, gates="gates.toml"):
    """The exit code and the comment."""
    words = ["eval", "doors-v2", "--run", "mine.run", "--quiet", "--comment", "comment.md", "--gates", gates, *options]
    return karat(words), (at / "comment.md").read_text()


def test_a_failed_gate_names_what_came_first_for_the_worst_queries(at):
    code, text = commented(at)

    assert code == 1
    assert text.splitlines()[0].startswith("**Failed:** gate `Good enough` of `mine` on `Doors v2`: nDCG@10 is ")
    assert text.splitlines()[2:] == [
        "| Query | Worst queries | nDCG@10 | What came first |",
        "| --- | --- | ---: | --- |",
        "| `Q2` | `green wall` | 0.00 | `x`, not judged |",
        "| `Q1` | `red key` | 0.28 | `d: the key to the window`, grade 1 |",
        "| `Q3` | `the window` | 0.83 | `d: the key to the window`, grade 3 |",
    ]


def test_the_sentence_is_that_of_the_command(at, capsys):
    _, text = commented(at)

    words = capsys.readouterr().out.split("Good enough: ", 1)[1].splitlines()[0]
    assert words in text


def test_queries_of_the_test_side_are_counted_and_never_named(at):
    code, text = commented(at, "--split", "all")

    assert code == 1
    assert "3 of 4 queries may be named. One is on the test side, and only counted." in text
    assert not any(secret in text for secret in ("Q9", "door ", "lost"))

    code, text = commented(at, "--split", "test")
    assert not any(secret in text for secret in ("Q9", "lost", "| Query"))


def test_a_query_that_could_not_be_better_is_not_among_the_worst(at):
    (at / "mine.run").write_text("Q1 Q0 a 1 2.0 mine\nQ1 Q0 d 2 1.0 mine\nQ2 Q0 x 1 2.0 mine\n")

    _, text = commented(at)

    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")] == ["Q2", "Q3"]


def test_with_a_baseline_the_table_shows_what_it_had(at):
    (at / "live.run").write_text("Q2 Q0 c 1 2.0 live\n")

    _, text = commented(at, "--baseline", "live.run")

    assert "| `Q2` | `green wall` | 0.76 | 0.00 | `x`, not judged |" in text


def test_a_gate_on_speed_names_the_slowest_queries(at):
    (at / "gates.toml").write_text('[[gate]]\nname = "Quick"\nfigure = "latency_p95"\nat_most = 0.000001\n')
    words = ["eval", "doors-v2", "--program", "echo a", "--quiet", "--comment", "c.md", "--gates", "gates.toml"]

    assert karat(words) == 1

    text = (at / "c.md").read_text()
    assert "| Query | Worst queries | ms | What came first |" in text
    assert "`a: red key opens the red door`, not judged |" in text


def test_on_questions_and_answers_the_passage_of_the_system_is_named(at):
    write_release(at / "answers", content=ALONE)
    (at / "gates.toml").write_text(f'{GATES.replace("nDCG@10", "Success@1")}hit = "evidence"\n')
    (at / "found.jsonl").write_text('{"qid": "T-0001", "rank": 1, "document_id": "shed", "text": "no such thing"}\n')

    code = karat(
        ["eval", "answers", "--results", "found.jsonl", "--quiet", "--comment", "c.md", "--gates", "gates.toml"]
    )

    assert code == 1
    assert "`shed: no such thing` |" in (at / "c.md").read_text()


def test_the_link_leads_to_the_version_where_the_address_is_known(at, release_folder):
    release = read_release(release_folder)

    assert link_to(release, "https://karat.example.org/", "hut") == (
        "https://karat.example.org/p/hut/versions/doors/v2/"
    )
    assert link_to(release, "", "") == ""
    assert link_to(release._replace(reference=""), "https://karat.example.org", "hut") == ""
    _, text = commented(at, "--server", "https://karat.example.org", "--project", "hut")
    assert text.endswith("\n\n[Open in Karat](https://karat.example.org/p/hut/versions/doors/v2/)\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--comment", "c.md"], "--comment says what the gates say: name their file with --gates."),
        (["--server", "https://karat.example.org"], "The link in the comment needs both --server and --project."),
        (["--server", "javascript:1", "--project", "hut"], "--server begins with https:// or http://."),
    ],
)
def test_options_that_do_not_go_together_are_refused(at, capsys, options, words):
    assert karat(["eval", "doors-v2", "--run", "mine.run", *options]) == 2
    assert words in capsys.readouterr().err


def test_a_comment_that_cannot_be_written_is_refused(at, capsys):
    assert karat(["eval", "doors-v2", "--run", "mine.run", "--gates", "gates.toml", "--comment", "no/c.md"]) == 3
    assert "no/c.md: cannot be written" in capsys.readouterr().err
