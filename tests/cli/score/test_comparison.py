"""`karat score` with a baseline, strata, attributes, kinds of intervals and reports."""

import csv
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from threading import Thread

import numpy as np
import pytest

from tests.cli.score.test_command import score

QUERIES = [f"Q{n:02}" for n in range(1, 13)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Twelve queries, a baseline, and a run that is better on ten of them, worse on Q01 and equal on Q02."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("".join(f"{query} 0 a 1\n{query} 0 b 0\n" for query in QUERIES))
    good, bad = ("a", "b"), ("b", "a")
    write_run(tmp_path / "base", {query: good if query in ("Q01", "Q02") else bad for query in QUERIES})
    write_run(tmp_path / "new", {query: bad if query == "Q01" else good for query in QUERIES})
    rows = [f"{query},{'odd' if n % 2 else 'even'},{'' if n > 8 else 'x'}\n" for n, query in enumerate(QUERIES, 1)]
    (tmp_path / "strata.csv").write_text("query,stratum,part\n" + "".join(rows))
    return tmp_path


def write_run(path, rankings):
    lines = [
        f"{query} Q0 {block} {rank} {9 - rank} {path.name}\n"
        for query, blocks in rankings.items()
        for rank, block in enumerate(blocks, 1)
    ]
    path.write_text("".join(lines))


def scored(capsys, *arguments: str, code: int = 0) -> str:
    given = ["--qrels", "qrels", "--run", "new", "--measures", "RR P@1", *arguments]
    assert score(*given) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def scored_json(capsys, *arguments: str) -> dict:
    return json.loads(scored(capsys, "--format", "json", *arguments))


def ends_of(figure: dict) -> tuple[float, float] | None:
    return None if figure["low"] is None else (figure["low"], figure["high"])


def test_a_baseline_is_scored_first_and_the_difference_is_paired(files, capsys):
    found = scored_json(capsys, "--compare", "base")

    (comparison,) = found["comparisons"]
    row = comparison["measures"]["RR"]
    assert [run["tag"] for run in found["runs"]] == ["base", "new"]
    assert (comparison["baseline"], comparison["candidate"]) == ("base", "new")
    assert row["difference"]["value"] == pytest.approx(0.375)
    assert (row["better"], row["equal"], row["worse"], row["difference"]["n"]) == (10, 1, 1, 12)
    assert row["difference"]["low"] < 0.375 < row["difference"]["high"]
    assert row["regressions"] == 1
    assert row["regressed"] == [{"query": "Q01", "baseline": 1.0, "candidate": 0.5, "difference": -0.5}]
    assert row["wilcoxon"]["n"] == 11


def test_evidence_counts_queries_as_the_judgements_have_them_and_may_be_looked_at_often(files, capsys):
    """The run is worse on the first query only, so the evidence is weaker where that one comes last."""
    lines = (files / "qrels").read_text().splitlines(keepends=True)

    first = scored_json(capsys, "--compare", "base")["comparisons"][0]["measures"]["P@1"]["anytime"]
    table = " ".join(scored(capsys, "--compare", "base").split())
    (files / "qrels").write_text("".join([*lines[2:], *lines[:2]]))
    last = scored_json(capsys, "--compare", "base")["comparisons"][0]["measures"]["P@1"]["anytime"]

    assert first["evidence"] == pytest.approx(last["evidence"])
    assert first["strongest"] < last["strongest"]
    assert last["strongest_holm"] >= 20
    assert (last["settled_after"], last["is_settled"]) == (9, True)
    assert "cannot decide yet: the evidence after Holm over 2 is 3.8, and 20 is needed." in table
    assert "Evidence may be looked at as often as you like, and settles from 20 on." in table
    assert "Interval and p are right for one look, at a number of queries set before." in table


def test_all_differences_of_all_runs_are_one_family(files, capsys):
    write_run(files / "other", {query: ("b", "a") if query > "Q03" else ("a", "b") for query in QUERIES})

    alone = scored_json(capsys, "--compare", "base")
    both = scored_json(capsys, "--compare", "base", "--run", "other")

    assert (alone["family"], both["family"]) == (2, 4)
    first, second = (found["comparisons"][0]["measures"]["RR"] for found in (alone, both))
    assert first["p"] == second["p"]
    assert first["p_holm"] < second["p_holm"]


def test_a_baseline_that_is_a_run_too_is_scored_once(files, capsys):
    found = scored_json(capsys, "--run", "base", "--compare", "base")

    assert [run["tag"] for run in found["runs"]] == ["base", "new"]


def test_a_baseline_needs_another_run(files, capsys):
    assert score("--qrels", "qrels", "--run", "base", "--compare", "base") == 2

    assert "name another run with --run" in capsys.readouterr().err


def test_a_measure_without_a_value_for_every_query_has_no_paired_difference(files, capsys):
    write_run(files / "new", {"Q01": ("a", "b")})

    found = scored_json(capsys, "--compare", "base", "--measures", "RR Judged@5")["comparisons"][0]

    assert list(found["measures"]) == ["RR"]
    assert found["left_out"] == ["Judged@5"]


def test_a_failure_more_is_a_regression_though_the_value_rose(files, capsys):
    found = scored_json(capsys, "--compare", "base", "--measures", "FailureRate@1")

    row = found["comparisons"][0]["measures"]["FailureRate@1"]
    assert row["difference"]["value"] < 0
    assert (row["better"], row["worse"]) == (10, 1)
    assert [one["query"] for one in row["regressed"]] == ["Q01"]


def test_every_column_of_strata_divides_the_queries(files, capsys):
    found = scored_json(capsys, "--by", "strata.csv")["runs"][0]["strata"]

    assert {name: stratum["n"] for name, stratum in found["stratum"].items()} == {"even": 6, "odd": 6}
    assert {name: stratum["n"] for name, stratum in found["part"].items()} == {"x": 8}
    assert found["stratum"]["odd"]["measures"]["P@1"]["value"] == pytest.approx(5 / 6)
    assert found["stratum"]["odd"]["measures"]["P@1"]["n"] == 6


def test_the_mean_of_a_stratum_is_that_of_its_queries_scored_alone(files, capsys):
    inside = scored_json(capsys, "--by", "strata.csv")["runs"][0]["strata"]["stratum"]["odd"]["measures"]
    (files / "qrels").write_text("".join(f"{query} 0 a 1\n" for query in QUERIES[::2]))

    assert inside == scored_json(capsys)["runs"][0]["measures"]


def test_queries_of_the_strata_that_nobody_judged_are_remarked(files, capsys):
    (files / "strata.csv").write_text("query,stratum\nQ01,x\nQ99,x\n")

    score("--qrels", "qrels", "--run", "new", "--by", "strata.csv")

    assert "strata.csv: 1 of its queries was never judged." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query\nQ01\n", "strata.csv, line 1: has no column besides query, such as stratum."),
        ("query,stratum\nQ99,x\n", "strata.csv, query: names none of the judged queries."),
        ("query,stratum\nQ01,x\nQ01,y\n", "strata.csv, line 3, query: 'Q01' appears twice, first in line 2."),
    ],
)
def test_strata_that_cannot_be_used_are_rejected(files, capsys, text, said):
    (files / "strata.csv").write_text(text)

    assert scored(capsys, "--by", "strata.csv", code=2) == f"karat score: {said}\n"


@pytest.mark.parametrize("heading", ["query_id,stratum,part", "qid;stratum;part", "query-id\tstratum\tpart"])
def test_the_column_of_queries_may_have_any_usual_name_and_delimiter(files, capsys, heading):
    text = (files / "strata.csv").read_text()
    plain = scored(capsys, "--by", "strata.csv", "--format", "json")
    mark = next(mark for mark in ",;\t" if mark in heading)
    (files / "strata.txt").write_text(text.replace("query,stratum,part", heading).replace(",", mark))

    assert scored(capsys, "--by", "strata.txt", "--format", "json") == plain


def test_strata_may_come_from_standard_input(files, capsys, monkeypatch):
    plain = scored(capsys, "--by", "strata.csv", "--format", "json")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((files / "strata.csv").read_bytes())))

    assert scored(capsys, "--by", "-", "--format", "json") == plain
    assert scored(capsys, "--by", "-", "--blocks", "-", code=2) == "karat score: Only one file can be standard input.\n"


def test_every_mistake_of_the_strata_is_reported(files, capsys):
    (files / "strata.csv").write_text("query,stratum\nQ01,x\n,x\nQ02\nQ01,y\n")

    assert scored(capsys, "--by", "strata.csv", code=2).splitlines() == [
        "karat score: strata.csv, line 3, query: the row names no query.",
        "karat score: strata.csv, line 4: 'Q02': the row has 1 cells, the header has 2",
        "karat score: strata.csv, line 5, query: 'Q01' appears twice, first in line 2.",
    ]


def test_intervals_are_left_out_on_request(files, capsys):
    with_them, without = (scored_json(capsys, *option, "--compare", "base") for option in ((), ("--no-ci",)))

    for found, has in ((with_them, True), (without, False)):
        assert (ends_of(found["runs"][0]["measures"]["RR"]) is not None) is has
        assert (ends_of(found["comparisons"][0]["measures"]["RR"]["difference"]) is not None) is has
        assert found["confidence"] == (0.95 if has else None)


def test_strata_that_explain_everything_leave_a_narrow_interval(files, capsys):
    rows = "".join(f"{query},{'worse' if query == 'Q01' else 'fine'}\n" for query in QUERIES)
    (files / "strata.csv").write_text("query,group\n" + rows)

    widths = []
    for option in ((), ("--stratify", "group")):
        found = scored_json(capsys, "--by", "strata.csv", *option)
        low, high = ends_of(found["runs"][0]["measures"]["RR"])
        widths.append(high - low)

    assert widths[1] < widths[0] / 2
    assert found["stratified"] == "group"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--stratify", "domain"], "there is no such column. Name the file of strata with --by."),
        (["--by", "strata.csv", "--stratify", "domain"], "there is no such column. strata.csv has stratum, part."),
        (["--measures", "ILD(by='kind')@5"], "--blocks FILE"),
        (["--measures", "CorpusCoverage(by='kind')@5"], "--blocks FILE"),
    ],
)
def test_what_is_lacking_is_named(files, capsys, arguments, said):
    assert said in scored(capsys, *arguments, code=2)


def test_attributes_of_blocks_feed_the_measures_that_need_them(files, capsys):
    (files / "blocks.csv").write_text("block,kind\na,policy\nb,form\n")

    found = scored_json(capsys, "--blocks", "blocks.csv", "--measures", "CorpusCoverage(by='kind')@1")

    assert found["runs"][0]["measures"]["CorpusCoverage(by='kind')@1"]["value"] == 0.5


def test_times_and_domains_of_queries_feed_the_decayed_measure(files, capsys):
    (files / "blocks.csv").write_text("block,time\na,2026-01-01\nb,2026-01-01\n")
    (files / "queries.csv").write_text(
        "query,time,domain\n" + "".join(f"{query},2026-01-01,tax\n" for query in QUERIES)
    )

    given = ["--blocks", "blocks.csv", "--query-attributes", "queries.csv"]
    found = scored_json(capsys, *given, "--measures", "nDCG@10 TD_nDCG(rate=0.1)@10")["runs"][0]["measures"]

    assert found["TD_nDCG(rate=0.1)@10"]["value"] == pytest.approx(found["nDCG@10"]["value"])


def test_facets_are_in_the_second_column(files, capsys):
    (files / "qrels").write_text("Q01 1 a 1\nQ01 2 a 1\nQ01 2 b 1\n")

    found = scored_json(capsys, "--measures", "STREC@1 alpha_nDCG@5")["runs"][0]["measures"]

    assert found["STREC@1"]["value"] == 0.5


def test_csv_gains_columns_only_where_they_are_needed(files, capsys):
    plain = scored(capsys, "--format", "csv").splitlines()[0]
    text = scored(capsys, "--format", "csv", "--by", "strata.csv", "--compare", "base")
    rows = list(csv.DictReader(io.StringIO(text)))

    assert plain == "run,query,measure,value,low,high,n"
    assert list(rows[0]) == [*plain.split(","), "stratum", "against", "p", "p_holm"]
    assert [row["run"] for row in rows if row["against"] == "base"] == ["new", "new"]
    assert {row["stratum"] for row in rows} == {"", "stratum=even", "stratum=odd", "part=x"}


def test_the_table_shows_differences_and_drops(files, capsys):
    out = scored(capsys, "--compare", "base", "--by", "strata.csv")

    assert "new against base" in out
    assert "Fell by more than 0.1 RR: Q01 −0.500." in out
    assert "corrected by Holm over 2 differences" in " ".join(out.split())


def test_reports_contain_the_digest_of_every_input(files, capsys):
    scored(capsys, "--compare", "base", "--by", "strata.csv", "--html", "r.html", "--markdown", "r.md")

    for name in ("qrels", "base", "new", "strata.csv"):
        digest = hashlib.sha256((files / name).read_bytes()).hexdigest()
        assert digest in (files / "r.html").read_text()
        assert digest in (files / "r.md").read_text()


def test_the_digest_of_standard_input_is_that_of_its_bytes(files):
    packed = gzip.compress((files / "new").read_bytes())
    command = [
        sys.executable,
        "-m",
        "apps.config.commandline",
        "score",
        "--qrels",
        "qrels",
        "--run",
        "-",
        "--html",
        "r.html",
    ]

    subprocess.run(
        command, input=packed, check=True, env={**os.environ, "PYTHONPATH": sys.path[0]}, capture_output=True
    )

    assert hashlib.sha256(packed).hexdigest() in (files / "r.html").read_text()


def test_a_pipe_is_read_once_and_has_no_digest(files, capsys):
    os.mkfifo("pipe")
    feed = Thread(target=(files / "pipe").write_bytes, args=[(files / "strata.csv").read_bytes()])
    feed.start()

    scored(capsys, "--by", "pipe", "--markdown", "r.md")

    feed.join()
    assert "| strata | `pipe` | `none: a pipe is read only once` |" in (files / "r.md").read_text()


def test_the_same_files_and_seed_give_the_same_bytes(files, capsys):
    outputs = []
    for _ in range(2):
        printed = scored(capsys, "--compare", "base", "--by", "strata.csv", "--html", "r.html", "--markdown", "r.md")
        outputs.append((printed, (files / "r.html").read_bytes(), (files / "r.md").read_bytes()))

    assert outputs[0] == outputs[1]


def test_a_report_that_cannot_be_written_is_exit_code_two(files, capsys):
    said = scored(capsys, "--html", "nowhere/r.html", code=2)

    assert said == "karat score: nowhere/r.html: cannot be written: No such file or directory.\n"


def test_measures_are_listed_without_any_file(capsys):
    with pytest.raises(SystemExit) as ended:
        score("--list-measures")

    out = capsys.readouterr().out
    assert ended.value.code == 0
    assert "nDCG@10  0 to 1\n    Sum of gain" in out
    assert "needs facets" in out


def test_runs_of_cast_2021_have_the_figures_of_their_readme(shared_data, capsys):
    """README of cast2021_runs: nDCG@10 and MAP over 158 turns."""
    folder = shared_data / "cast2021_runs"
    known = {
        "org_convdr": (0.3444, 0.2024),
        "org_convdr_bert": (0.3911, 0.2203),
        "org_manual_ance": (0.4938, 0.2667),
        "org_manual_ance_bert": (0.5138, 0.2936),
        "org_manual_bm25": (0.3764, 0.2161),
    }
    runs = [word for name in known for word in ("--run", str(folder / f"{name}.run"))]
    given = ["--qrels", str(folder / "trec-cast-qrels-docs.2021.qrel"), *runs, "--no-ci", "--format", "json"]

    assert score(*given, "--measures", "nDCG@10 AP") == 0

    found = json.loads(capsys.readouterr().out)
    means = [[one["value"] for one in run["measures"].values()] for run in found["runs"]]
    assert found["queries"]["judged"] == 158
    np.testing.assert_array_equal(np.round(means, 4), list(known.values()))
    judged = [round(run["judged@10"], 2) for run in found["runs"]]
    assert judged == [0.70, 0.74, 0.77, 0.84, 0.86]


# A difference on a handful of queries


@pytest.fixture
def handful(files):
    """Two of twelve queries differ: one way each."""
    good, bad = ("a", "b"), ("b", "a")
    write_run(files / "new", {query: good if query in ("Q01", "Q03") else bad for query in QUERIES})
    return files


def test_the_table_says_on_how_few_queries_a_difference_rests(handful, capsys):
    said = " ".join(scored(capsys, "--compare", "base").split())

    assert "RR: 1 better, 1 worse, 10 equal, only 2 of 12 queries differ (exact sign test p = 1.000)." in said
    assert "the interval is less reliable than it claims" in said


def test_json_has_the_exact_sign_test_and_what_the_difference_rests_on(handful, capsys):
    row = scored_json(capsys, "--compare", "base")["comparisons"][0]["measures"]["RR"]

    assert (row["rests_on"], row["sign"]) == (2, {"value": 1, "p": 1.0, "n": 2})


def test_a_report_says_on_how_few_queries_a_difference_rests(handful, capsys):
    scored(capsys, "--compare", "base", "--html", "r.html", "--markdown", "r.md")

    for name in ("r.html", "r.md"):
        said = " ".join((handful / name).read_text().replace("\N{NO-BREAK SPACE}", " ").split())
        assert said.count("only 2 of 12 queries differ (exact sign test p = 1.000)") >= 2
        assert "the interval is less reliable than it claims" in said


def test_a_difference_on_many_queries_has_no_such_note(files, capsys):
    assert "queries differ" not in scored(capsys, "--compare", "base")
    assert scored_json(capsys, "--compare", "base")["comparisons"][0]["measures"]["RR"]["rests_on"] is None
