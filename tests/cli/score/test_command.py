import argparse
import csv
import gzip
import io
import json
import os
import subprocess
import sys
from collections import Counter

import pytest
import pytrec_eval

from apps.cli.score import command
from tests.conftest import REPO
from tests.metrics.oracle import trec_values

QRELS = """\
Q1 0 a 2
Q1 0 b 0
Q2 0 a 1
Q2 0 c 1
Q3 0 c 0
"""
RUN = """\
Q1 Q0 b 1 2.0 bm25
Q1 Q0 a 2 1.0 bm25
Q2 Q0 c 1 9.5 bm25
Q2 Q0 x 2 9.0 bm25
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


def score(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="karat")
    command.add_parser(parser.add_subparsers(required=True))
    args = parser.parse_args(["score", *arguments])
    return args.run(args)


def score_json(capsys, *arguments: str) -> dict:
    assert score("--qrels", "qrels", "--run", "run", "--format", "json", *arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_bounds_show_what_the_unjudged_results_leave_open(files, capsys):
    """x is unjudged, and second of Q2, where one of two relevant blocks is found: with it, two of three are."""
    known = {"judged": 0.75, "low": (0.5 + 0.5 + 0.0) / 3, "high": (0.5 + 2 / 3 + 0.0) / 3}

    assert score_json(capsys, "--bounds", "--measures", "AP P@1")["runs"][0]["if_judged"] == {
        "AP": pytest.approx(known),
        "P@1": {"judged": 1.0, "low": None, "high": None},
    }
    assert score("--qrels", "qrels", "--run", "run", "--bounds", "--measures", "AP P@1", "--format", "csv") == 0
    heading, ap, p1, _ = csv.reader(capsys.readouterr().out.splitlines())
    assert heading[-3:] == ["judged", "if_judged_low", "if_judged_high"]
    assert [float(cell) for cell in ap[-3:]] == pytest.approx(list(known.values()))
    assert p1[-3:] == ["1.0", "", ""]
    assert score("--qrels", "qrels", "--run", "run", "--bounds", "--measures", "AP P@1", "--no-ci") == 0
    heading, ap, p1, _judged, *notes = capsys.readouterr().out.splitlines()
    assert heading.endswith("judged  if all were judged")
    assert ap.endswith("0.7500    0.3333 to 0.3889")
    assert p1.endswith("1.0000")
    assert "If all were judged: the lowest and the highest mean" in " ".join(notes)


def test_the_counts_of_a_run_are_trec_evals(files, capsys):
    """num_ret, num_rel and num_rel_ret, summed over the queries. x is among the results, and not relevant."""
    qrels = {"Q1": {"a": 2, "b": 0}, "Q2": {"a": 1, "c": 1}, "Q3": {"c": 0}}
    run = {"Q1": {"b": 2.0, "a": 1.0}, "Q2": {"c": 9.5, "x": 9.0}}
    for level in (1, 2):
        judge = pytrec_eval.RelevanceEvaluator(qrels, {"num_ret", "num_rel", "num_rel_ret"}, relevance_level=level)
        theirs = Counter()
        for row in judge.evaluate(run).values():
            theirs.update(row)

        ours = score_json(capsys, "--rel-level", str(level))["runs"][0]["results"]

        assert list(ours.values()) == [theirs["num_ret"], theirs["num_rel"], theirs["num_rel_ret"]]
    assert score("--qrels", "qrels", "--run", "run", "--no-ci") == 0
    assert "bm25 returns 4 results, with 2 of 3 relevant blocks." in capsys.readouterr().out


def test_without_unjudged_blocks_there_is_no_word_on_bounds(files, capsys):
    assert "if_judged" not in score_json(capsys, "--measures", "AP")["runs"][0]


def test_json_has_the_documented_layout(files, capsys):
    found = score_json(capsys, "--measures", "nDCG@10 AP", "--per-query")

    assert found["queries"] == {"judged": 3, "with_relevant": 2, "in_run": 2, "missing": 1}
    (run,) = found["runs"]
    assert run["tag"] == "bm25"
    assert list(run["measures"]) == ["nDCG@10", "AP"]
    assert run["measures"]["AP"]["value"] == (0.5 + 0.5 + 0.0) / 3
    assert run["measures"]["AP"]["low"] < run["measures"]["AP"]["high"]
    assert run["judged@10"] == 0.75
    assert run["per_query"]["Q2"]["AP"] == 0.5
    assert run["per_query"]["Q3"] == {"nDCG@10": 0.0, "AP": 0.0}


def test_values_equal_trec_eval(files, capsys):
    qrels = {"Q1": {"a": 2, "b": 0}, "Q2": {"a": 1, "c": 1}, "Q3": {"c": 0}}
    run = {"Q1": {"b": 2.0, "a": 1.0}, "Q2": {"c": 9.5, "x": 9.0}}
    names = ["nDCG@10", "AP", "RR", "P@10"]

    found = score_json(capsys, "--measures", " ".join(names), "--per-query")

    theirs = trec_values(qrels, run)
    for query, row in found["runs"][0]["per_query"].items():
        assert row == pytest.approx({name: theirs[query][name] for name in names}, abs=1e-12)


def test_measures_keep_the_name_they_were_requested_by(files, capsys):
    found = score_json(capsys, "--measures", "R@100,P(rel=2)@5")

    assert list(found["runs"][0]["measures"]) == ["R@100", "P(rel=2)@5"]


def test_the_relevance_level_applies_where_a_measure_names_none(files, capsys):
    found = score_json(capsys, "--measures", "RR RR(rel=1)@10", "--rel-level", "2", "--per-query")

    assert found["queries"]["with_relevant"] == 1
    assert found["runs"][0]["per_query"]["Q2"] == {"RR": 0.0, "RR(rel=1)@10": 1.0}
    assert "Relevant from grade 1 or 2" in found["conventions"]


def test_without_intervals_there_are_none(files, capsys):
    found = score_json(capsys, "--no-ci")

    assert found["confidence"] is None
    assert {measure["low"] for measure in found["runs"][0]["measures"].values()} == {None}


def test_several_runs_are_counted_together_and_apart(files, capsys):
    (files / "other").write_text("Q3 Q0 c 1 1.0 other\n")

    found = score_json(capsys, "--run", "other")

    assert found["queries"]["missing"] == 3
    assert [run["queries"]["missing"] for run in found["runs"]] == [1, 2]


def test_runs_that_share_a_tag_are_distinguished_by_file(files, capsys):
    (files / "run2").write_text(RUN)

    found = score_json(capsys, "--run", "run2")

    assert [run["tag"] for run in found["runs"]] == ["bm25 (run)", "bm25 (run2)"]


@pytest.mark.parametrize("place", [2, 60_000], ids=["near", "far"])
def test_a_file_that_contains_two_tags_gives_a_warning(files, capsys, place):
    lines = [f"Q1 Q0 x{number} {number} 1.0 bm25\n" for number in range(1, place)]
    (files / "run").write_text("".join(lines) + "Q1 Q0 a 1 2.0 dense\n")

    assert score("--qrels", "qrels", "--run", "run", "--measures", "RR", "--no-ci") == 0

    said = "run: contains the tags 'bm25' and 'dense'; a file is one run, and is scored as one."
    assert said in capsys.readouterr().err.splitlines()


def test_the_same_run_twice_is_distinguished_by_number(files, capsys):
    found = score_json(capsys, "--run", "run")

    assert [run["tag"] for run in found["runs"]] == ["bm25 (run, 1)", "bm25 (run, 2)"]


def test_scoring_twice_prints_the_same_bytes(files, capsys):
    score("--qrels", "qrels", "--run", "run", "--format", "json")
    first = capsys.readouterr().out
    score("--qrels", "qrels", "--run", "run", "--format", "json")

    assert capsys.readouterr().out == first


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_csv_and_tsv_have_one_row_a_value(files, capsys, form, delimiter):
    score("--qrels", "qrels", "--run", "run", "--measures", "AP RR", "--per-query", "--format", form)

    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter=delimiter))
    assert list(rows[0]) == ["run", "query", "measure", "value", "low", "high", "n"]
    assert rows[0] == {
        "run": "bm25", "query": "Q1", "measure": "AP", "value": "0.5", "low": "", "high": "", "n": "",
    }  # fmt: skip
    assert [row["measure"] for row in rows if row["query"] == "all"] == ["AP", "RR", "judged@10"]
    assert len(rows) == 3 * 2 + 3


def test_a_tag_that_looks_like_a_formula_is_made_safe_in_csv(files, capsys):
    (files / "run").write_text("Q1 Q0 b 1 2.0 =1+1\n")

    score("--qrels", "qrels", "--run", "run", "--format", "csv")

    assert capsys.readouterr().out.splitlines()[1].startswith("'=1+1,")


def test_the_table_states_its_conventions(files, capsys):
    score("--qrels", "qrels", "--run", "run", "--measures", "AP nDCG@10", "--per-query")

    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == ["measure", "run", "mean", "95", "%", "interval", "n"]
    assert "Equal scores rank by id, descending. Judged queries missing from a run count as zero." in out
    assert "3 queries judged, 2 with a relevant block." in out
    assert "bm25 lacks 1 of them." in out
    assert "judged@10" in out
    assert "bm25, query" in out


def test_data_is_on_standard_output_and_remarks_are_not(files, capsys):
    (files / "run").write_text("Q1 Q0 B 1 2.0 t\nq02 Q0 b 1 2.0 t\n")

    assert score("--qrels", "qrels", "--run", "run", "--format", "json") == 0

    captured = capsys.readouterr()
    assert json.loads(captured.out)["runs"][0]["judged@10"] == 0
    assert "1 of 2 judged queries nearly match" in captured.err


@pytest.mark.parametrize(("theirs", "judged"), [("q02", "Q2"), ("tax-1", "Q1")])
def test_a_run_of_other_queries_is_refused_with_an_id_of_each_side(files, capsys, theirs, judged):
    (files / "run").write_text(f"{theirs} Q0 b 1 2.0 t\n")

    assert score("--qrels", "qrels", "--run", "run") == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f"karat score: run: answers none of the judged queries. Judged is '{judged}', the run has '{theirs}': "
        "ids must agree letter by letter.\n"
    )


OTHER_SPELLING = RUN.replace("Q1", "q01").replace("Q2", "q02").replace(" a ", " A.md ").replace(" c ", " C.md ")
PADDED = "the ids differ by capitals and leading zeros, as Q1 is q01 in the run."


def test_a_run_in_another_spelling_is_refused_with_the_rule_that_would_fit(files, capsys):
    (files / "run").write_text(OTHER_SPELLING)

    assert score("--qrels", "qrels", "--run", "run") == 2

    assert capsys.readouterr().err == (
        "karat score: run: answers none of the judged queries. 2 of 3 judged queries nearly match: "
        f"{PADDED} --fit-ids reads them so.\n"
    )


def test_with_fit_ids_a_run_in_another_spelling_has_the_figures_of_the_run_that_agrees(files, capsys):
    (files / "padded").write_text(OTHER_SPELLING.replace(" A.md ", " a ").replace(" C.md ", " c "))
    assert score("--qrels", "qrels", "--run", "run") == 0
    figures = capsys.readouterr().out

    assert score("--qrels", "qrels", "--run", "padded", "--fit-ids") == 0

    printed = capsys.readouterr()
    assert printed.out == figures
    assert f"padded: 2 of 3 judged queries nearly match: {PADDED} They are read so." in printed.err
    assert score("--qrels", "qrels", "--run", "run", "--fit-ids") == 0
    assert capsys.readouterr().out == figures


def test_blocks_with_a_prefix_are_remarked_with_the_rule_and_fitted_on_request(files, capsys):
    (files / "run").write_text("Q1 Q0 site/a 1 2.0 t\nQ2 Q0 site/c 1 2.0 t\nQ2 Q0 site/x 2 1.0 t\n")
    words = "2 of 3 judged blocks nearly match: the ids differ by the prefix site/, as a is site/a in the run."

    assert score("--qrels", "qrels", "--run", "run", "--measures", "P@1") == 0
    assert f"run: {words} --fit-ids reads them so." in capsys.readouterr().err

    assert score("--qrels", "qrels", "--run", "run", "--measures", "P@1", "--fit-ids", "--format", "json") == 0
    printed = capsys.readouterr()
    assert f"run: {words} They are read so." in printed.err
    assert json.loads(printed.out)["runs"][0]["measures"]["P@1"]["value"] == pytest.approx(2 / 3)


def test_block_ids_that_never_agree_are_remarked(files, capsys):
    (files / "run").write_text("Q1 Q0 B 1 2.0 t\n")

    score("--qrels", "qrels", "--run", "run")

    assert "no block in the first ten was ever judged; check the block ids." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        ("RR P@2", ""),
        ("RR P@2 Recall@100", "run: Recall@100 reads 2 results: no ranking is deeper.\n"),
        ("P@3 R@100", "run: P@3, R@100 read 2 results: no ranking is deeper.\n"),
    ],
)
def test_a_cutoff_deeper_than_any_ranking_is_remarked(files, capsys, measures, said):
    assert score("--qrels", "qrels", "--run", "run", "--measures", measures) == 0

    assert capsys.readouterr().err == said


def test_undefined_values_are_null(files, capsys):
    found = score_json(capsys, "--measures", "Judged@5", "--per-query")

    assert found["runs"][0]["per_query"]["Q3"] == {"Judged@5": None}
    assert found["runs"][0]["measures"]["Judged@5"]["n"] == 2


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("run", "Q1 Q0 a 1 abc t\n", "karat score: run, line 1, score: 'abc' is not a number.\n"),
        (
            "run",
            "Q1 Q0 a 1 2 t\nQ1 Q0 b 2 1 t\nQ1 Q0 a 3 0 t\n",
            "karat score: run, line 3, block: 'a' appears twice for query 'Q1', first in line 1.\n",
        ),
        ("qrels", "Q1 0 a 0.5\n", "karat score: qrels, line 1, grade: '0.5' is not a whole number; grades are whole"),
        ("qrels", "\n", "karat score: qrels: contains no judgements.\n"),
        ("run", "", "karat score: run: contains no results.\n"),
        ("run", "# nothing found\n\n", "karat score: run: contains no results.\n"),
    ],
)
def test_a_bad_file_is_exit_code_two_and_a_sentence(files, capsys, name, text, said):
    (files / name).write_text(text)

    assert score("--qrels", "qrels", "--run", "run") == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(said)


def test_every_mistake_of_a_file_is_reported_up_to_ten(files, capsys):
    (files / "run").write_text("Q1 Q0 a 1 1.0 t\n" + "Q1 Q0 b one 2.0 t\n" + "Q1 Q0 c 1 high t\n" * 10)

    assert score("--qrels", "qrels", "--run", "run") == 2

    told = capsys.readouterr().err.splitlines()
    assert told[0] == "karat score: run, line 2, rank: 'one' is not a whole number."
    assert told[9] == "karat score: run, line 11, score: 'high' is not a number."
    assert told[10:] == ["karat score: run: 1 more mistake."]


@pytest.mark.parametrize(
    ("measures", "run", "is_told"),
    [
        ("AP", RUN, True),
        ("AP(judged_only=True) Judged@10", RUN, False),
        ("AP", RUN.replace("Q2 Q0 x", "Q2 Q0 a"), False),
    ],
)
def test_unjudged_blocks_are_mentioned_where_they_lower_the_score_of_a_run(files, capsys, measures, run, is_told):
    (files / "run").write_text(run)

    assert score("--qrels", "qrels", "--run", "run", "--measures", measures) == 0

    said = " ".join(capsys.readouterr().out.split())
    told = (
        "judged@10 of bm25 is below 100 %: unjudged counts as not relevant, so its true figures may be better or worse."
    )
    assert (told in said) == is_told


def test_an_unknown_measure_is_exit_code_two(files, capsys):
    assert score("--qrels", "qrels", "--run", "run", "--measures", "NDGC@10") == 2

    assert capsys.readouterr().err.startswith("karat score: 'NDGC@10' is not a measure Karat knows; nearest: nDCG@10,")


def test_all_wrong_measures_are_reported_at_once(files, capsys):
    assert score("--qrels", "qrels", "--run", "run", "--measures", "NDGC@10 RR P") == 2

    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("karat score: 'NDGC@10' is not a measure Karat knows")
    assert second == "karat score: P needs a cutoff, such as P@10."


def test_only_one_file_can_be_standard_input(files, capsys):
    assert score("--qrels", "-", "--run", "-") == 2

    assert capsys.readouterr().err == "karat score: Only one file can be standard input.\n"


@pytest.mark.parametrize(
    "arguments", [["--confidence", "95"], ["--rel-level", "0"], ["--seed", "x"], ["--format", "xml"]]
)
def test_a_wrong_option_is_exit_code_two(files, arguments):
    with pytest.raises(SystemExit) as caught:
        score("--qrels", "qrels", "--run", "run", *arguments)

    assert caught.value.code == 2


def test_files_may_be_gzipped(files, capsys):
    (files / "qrels").write_bytes(gzip.compress(QRELS.encode()))

    assert score_json(capsys)["queries"]["judged"] == 3


def test_a_score_loads_only_what_it_uses(files):
    unused = ["django", "scipy", "tomllib", "importlib.metadata", "pyarrow", "apps.metrics.comparison", "apps.reports"]
    code = (
        "import sys; from apps.config.commandline import main; main(['score', '--qrels', 'qrels', '--run', 'run']); "
        f"print([name for name in {unused} if name in sys.modules])"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.splitlines()[-1] == "[]"


def test_a_grade_beyond_the_exponential_gain_is_refused_with_the_reason(files, capsys, recwarn):
    (files / "qrels").write_text("Q1 0 a 2000\nQ1 0 b 1\n")

    assert score("--qrels", "qrels", "--run", "run", "--measures", "nDCG(dcg='exp-log2')@10 nDCG@10") == 2

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("karat score: nDCG(dcg='exp-log2')@10 gains 2^grade − 1, and grade 2000 is above 1,000")
    assert not [one for one in recwarn if issubclass(one.category, RuntimeWarning)]


def test_the_highest_grade_of_the_exponential_gain_is_scored(files, capsys, recwarn):
    (files / "qrels").write_text("Q1 0 a 1000\nQ1 0 b 1\n")

    found = score_json(capsys, "--measures", "nDCG(dcg='exp-log2')@10")

    assert found["runs"][0]["measures"]["nDCG(dcg='exp-log2')@10"]["value"] == pytest.approx(0.6309, abs=1e-4)
    assert not [one for one in recwarn if issubclass(one.category, RuntimeWarning)]


@pytest.mark.parametrize(("judged", "retrieved"), [("7", "007"), ("DOC-0012", "doc-12")])
@pytest.mark.parametrize("measures", ["nDCG@10", "nDCG@10 alpha_nDCG@10"])
def test_block_ids_that_were_written_another_way_are_named_as_query_ids_are(files, capsys, judged, retrieved, measures):
    """Part of the ids are the same, as of 007, 042 and 123: nothing else would tell."""
    (files / "qrels").write_text(f"Q1 1 {judged} 2\nQ1 1 x 1\nQ2 2 x 1\n")
    (files / "run").write_text(f"Q1 Q0 {retrieved} 1 2 t\nQ1 Q0 x 2 1 t\nQ2 Q0 x 1 1 t\n")

    assert score("--qrels", "qrels", "--run", "run", "--measures", measures) == 0

    assert f"as {judged} is {retrieved} in the run. --fit-ids reads them so." in capsys.readouterr().err


def test_returned_blocks_are_not_mentioned_as_similar_ids(files, capsys):
    (files / "qrels").write_text("Q1 0 7 2\nQ1 0 x 1\n")
    (files / "run").write_text("Q1 Q0 07 1 2 t\nQ1 Q0 7 2 1 t\n")

    assert score("--qrels", "qrels", "--run", "run") == 0

    assert "not the same block" not in capsys.readouterr().err


def test_scoring_by_grades_loads_no_django_no_scipy_and_no_masked_arrays(files):
    """Each takes longer to load than four lines to score."""
    slow = ["django", "scipy", "numpy.ma"]
    code = (
        f"import sys; from apps.config.commandline import main; main(); print([n for n in {slow} if n in sys.modules])"
    )
    arguments = ["score", "--qrels", "qrels", "--run", "run"]

    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": REPO}
    )

    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr


def test_means_are_weighted_by_a_file_in_every_format(files, capsys):
    """P@1 is 0, 1 and 0; with the weights 1, 6 and 2 the mean is 6 / 9, and 81 / 41 equal weights say as much."""
    (files / "weights.tsv").write_text("qid\tweight\nQ1\t1\nQ2\t6\nQ3\t2\nQ9\t5\n")
    options = ["--weights", "weights.tsv", "--measures", "P@1 AP"]

    body = score_json(capsys, *options)
    assert score("--qrels", "qrels", "--run", "run", *options) == 0
    table = capsys.readouterr()
    assert score("--qrels", "qrels", "--run", "run", *options, "--format", "csv", "--html", "r.html") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))

    weighted = body["runs"][0]["weighted"]["P@1"]
    assert (weighted["value"], weighted["n"], body["effective_queries"]) == (pytest.approx(6 / 9), 3, 81 / 41)
    assert weighted["low"] is None  # less than two equal weights
    assert body["runs"][0]["measures"]["P@1"]["value"] == pytest.approx(1 / 3)
    assert "weighted mean" in table.out
    assert "The weights of 3 queries say as much as 2.0 equal ones" in " ".join(table.out.split())
    assert "weights.tsv: 1 of its queries is not measured here." in table.err
    assert [float(row["value"]) for row in rows if row["query"] == "weighted"] == pytest.approx([6 / 9, (0.5 + 3) / 9])
    assert "P@1, weighted" in (files / "r.html").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,weight\nQ1,1\nQ2,much\nQ3,-1\n", ["line 3, weight: 'much' is not a number", "line 4, weight: '-1'"]),
        ("query,weight\nQ1,1\nQ2,1\n", ["query: 'Q3' has no weight. Write 0 to leave it out."]),
        ("query,weight\nQ1,0\nQ2,0\nQ3,0\n", ["every judged query has the weight 0"]),
        ("query,traffic\nQ1,1\n", ["line 1, weight: the table has no column weight"]),
        ("query,weight\nQ1,1\nQ1,2\nQ2,1\nQ3,1\n", ["'Q1' appears twice, first in line 2"]),
    ],
)
def test_weights_that_cannot_be_are_refused_with_their_line(files, capsys, text, said):
    (files / "weights").write_text(text)

    assert score("--qrels", "qrels", "--run", "run", "--weights", "weights") == 2

    err = capsys.readouterr().err
    for words in said:
        assert words in err
