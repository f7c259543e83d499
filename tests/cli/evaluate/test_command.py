import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from apps.config.commandline import main as karat
from apps.goldsets.formats.content import SliceRow
from apps.goldsets.formats.folder import zip_folder
from tests.cli.evaluate.releases import CONTENT, many_questions, write_release
from tests.conftest import REPO

RUN = "Q1 Q0 a 1 2.0 mine\nQ1 Q0 d 2 1.0 mine\nQ2 Q0 c 1 2.0 mine\nQ3 Q0 d 1 1.5 mine\n"
GATES = """
[[gate]]
name = "Good enough"
figure = "RR"
at_least = 0.9

[[gate]]
name = "Walls"
figure = "nDCG@10"
at_least = 0.5
slice = { field = "domain", value = "walls" }
"""


@pytest.fixture
def at(tmp_path, monkeypatch, release_folder):
    """A folder to work in, with a release, a run and gates."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.run").write_text(RUN)
    (tmp_path / "gates.toml").write_text(GATES)
    return tmp_path


pytestmark = pytest.mark.usefixtures("two_decide")


def evaluate(*options, release="doors-v2"):
    return karat(["eval", release, "--quiet", *options])


def endpoint(port, path="search"):
    address = f"http://127.0.0.1:{port}/{path}?n={{{{k}}}}"
    places = ["--ids", "hits[*].doc.id", "--scores", "hits[*].score"]
    return ["--endpoint", address, "--body", '{"q": {{query}}}', *places, "--tries", "1"]


def printed(capsys):
    return json.loads(capsys.readouterr().out)


def test_a_run_is_scored_against_the_dev_split(at, capsys):
    assert evaluate("--run", "mine.run", "--measures", "RR P@1", "--format", "json") == 0

    said = printed(capsys)
    assert said["release"] == {"name": "Doors v2", "digest": "d" * 64, "split": "dev"}
    assert said["queries"] == {"judged": 3, "with_relevant": 3, "in_run": 3, "missing": 0}
    assert said["runs"][0]["measures"]["RR"] == {
        "value": 1.0,
        "low": pytest.approx(0.1394, abs=1e-4),
        "high": 1.0,
        "n": 3,
        "method": "wilson-scaled",
        "reason": "",
    }
    assert (said["passed"], said["latency_ms"]) == (None, None)


def test_json_has_the_documented_layout(at, capsys):
    assert evaluate("--run", "mine.run", "--measures", "rr", "--gates", "gates.toml", "--format", "json") == 0

    found = printed(capsys)
    assert list(found) == [
        "release", "system", "passed", "state", "tier", "gates", "latency_ms", "queries", "runs", "confidence",
        "seed", "conventions",
    ]  # fmt: skip
    assert found["release"] == {"name": "Doors v2", "digest": "d" * 64, "split": "dev"}
    assert list(found["gates"][0]) == [
        "name",
        "state",
        "value",
        "low",
        "high",
        "n",
        "method",
        "reason",
        "bound",
        "words",
    ]
    assert (found["latency_ms"], list(found["runs"][0]["measures"])) == (None, ["RR", "nDCG@10"])


def test_a_run_whose_ids_hardly_fit_is_remarked(at, capsys):
    (at / "lower.run").write_text("q1 Q0 a 1 2.0 one\nQ2 Q0 c 1 2.0 two\n")
    (at / "other.run").write_text("Q1 Q0 A-1 1 2.0 one\n")

    assert evaluate("--run", "lower.run", "--baseline", "other.run") == 0

    assert capsys.readouterr().err.splitlines() == [
        "lower.run: contains the tags 'one' and 'two'; a file is one run, and is scored as one.",
        "lower.run: 1 of 2 judged queries nearly match: the ids differ by capitals, as Q1 is q1 in the run. "
        "--fit-ids reads them so.",
        "one (baseline): no block in the first ten was ever judged; check the block ids.",
        "one: nDCG@10, P@10, Recall@100 read 1 result: no ranking is deeper.",
    ]


def test_answers_and_runs_in_another_spelling_are_read_as_the_release_on_request(at, capsys):
    system = ("--command", r'printf "site/a\nsite/c\n"', "--measures", "Recall@2", "--format", "json", "--quiet")
    words = "2 of 4 judged blocks nearly match: the ids differ by the prefix site/, as a is site/a in the run."
    assert evaluate(*system) == 0
    printed = capsys.readouterr()
    assert f"printf: {words} --fit-ids reads them so." in printed.err
    assert json.loads(printed.out)["runs"][0]["measures"]["Recall@2"]["value"] == 0
    assert evaluate(*system, "--fit-ids") == 0
    printed = capsys.readouterr()
    assert f"printf: {words} They are read so." in printed.err
    assert json.loads(printed.out)["runs"][0]["measures"]["Recall@2"]["value"] > 0

    (at / "padded.run").write_text("q01 Q0 A 1 2.0 one\nq02 Q0 C 1 2.0 one\n")
    assert evaluate("--run", "padded.run", "--fit-ids", "--measures", "P@1", "--format", "json") == 0
    printed = capsys.readouterr()
    assert "2 of 3 judged queries nearly match: the ids differ by capitals and leading zeros" in printed.err
    assert "They are read so." in printed.err
    assert json.loads(printed.out)["runs"][0]["measures"]["P@1"]["value"] > 0


def test_a_measure_that_reads_beyond_the_depth_gives_a_warning_before_the_first_request(at, capsys):
    assert evaluate("--command", "echo a", "--depth", "20", "--measures", "RR P@20 Recall@100") == 0

    assert capsys.readouterr().err == (
        "karat eval: Recall@100 reads no more than the 20 requested results; --depth 100 requests all.\n"
    )


def test_variants_of_a_question_count_as_one(at, capsys):
    content = many_questions(24)
    rows = [
        row._replace(metadata={"variant_of": f"Q{number - number % 4:03}"} if number % 4 else {})
        for number, row in enumerate(content.query_rows)
    ]
    write_release(at / "worded", content=replace(content, query_rows=rows))
    write_release(at / "plain", content=content)
    (at / "half.run").write_text("".join(f"Q{number:03} Q0 {'ab'[number // 4 % 2]} 1 1.0 h\n" for number in range(24)))

    told, options = {}, ["--run", "half.run", "--measures", "nDCG@10", "--format", "json"]
    for release in ("plain", "worded"):
        assert evaluate(*options, release=release) == 0
        told[release] = printed(capsys)["runs"][0]["measures"]["nDCG@10"]

    widths = {release: one["high"] - one["low"] for release, one in told.items()}
    assert told["plain"]["value"] == told["worded"]["value"]
    assert widths["worded"] > 1.5 * widths["plain"]


def test_a_run_without_a_line_or_a_judged_query_is_refused(at, capsys):
    (at / "mine.run").write_text("")
    assert evaluate("--run", "mine.run") == 3
    assert capsys.readouterr().err == "karat eval: mine.run: contains no results.\n"

    (at / "mine.run").write_text("q1 Q0 a 1 2.0 one\n")
    assert evaluate("--run", "mine.run") == 3
    assert "mine.run: answers none of the judged queries. Judged is 'Q1', the run has 'q1'" in capsys.readouterr().err


def test_exit_code_is_0_when_all_gates_pass_and_1_when_one_fails(at, capsys):
    assert evaluate("--run", "mine.run", "--gates", "gates.toml") == 0
    assert "2 of 2 gates passed." in capsys.readouterr().out

    (at / "mine.run").write_text("Q1 Q0 d 1 1.0 mine\n")
    assert evaluate("--run", "mine.run", "--gates", "gates.toml") == 1
    assert "FAIL  Good enough: RR is 0.3333" in capsys.readouterr().out


def test_a_gate_that_cannot_be_decided_does_not_pass(at, capsys):
    (at / "gates.toml").write_text('[[gate]]\nname = "Fast"\nfigure = "latency_p95"\nat_most = 300\n')

    assert evaluate("--run", "mine.run", "--gates", "gates.toml") == 4
    assert "Fast: Not known yet: the run has no times." in capsys.readouterr().out

    with (at / "gates.toml").open("a") as file:
        file.write('not_known = "warn"\n')
    assert karat(["eval", "doors-v2", "--run", "mine.run", "--gates", "gates.toml"]) == 0
    assert "The command ends with 0: Fast is not known yet and only warns." in capsys.readouterr().out


def test_gates_are_corrected_for_their_number_on_request(at, capsys):
    (at / "gates.toml").write_text(GATES.replace("at_least", 'on = "interval"\nat_least'))
    for options, words in (((), ", 95 % interval "), (("--correct-gates",), ", 97.5 % interval ")):
        evaluate("--run", "mine.run", "--gates", "gates.toml", *options)
        assert words in capsys.readouterr().out


def test_three_queries_decide_no_gate(at, capsys, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(at)

    assert evaluate("--run", "mine.run", "--gates", "gates.toml") == 4
    said = capsys.readouterr().out
    assert "0 of 2 gates passed; 2 not known yet." in said
    assert "Good enough: Not known yet: RR is 1.0000, 95 % interval 0.1395 to 1.0000, n = 3; " in said


def test_a_baseline_is_compared_with(at, capsys):
    (at / "base.run").write_text(RUN)
    (at / "gates.toml").write_text('[[gate]]\nname = "Safe"\nfigure = "RR"\nno_worse_than = "baseline"\n')

    assert evaluate("--run", "mine.run", "--gates", "gates.toml", "--baseline", "base.run") == 0
    assert evaluate("--run", "mine.run", "--gates", "gates.toml") == 4


def test_an_endpoint_is_queried_timed_and_scored(at, port, capsys):
    assert evaluate(*endpoint(port), "--measures", "Success@5", "--format", "json", "--depth", "5") == 0

    said = printed(capsys)
    assert said["queries"]["in_run"] == 3
    assert said["latency_ms"]["n"] == 3
    assert not (at / ".karat-eval").exists()


def test_latency_says_how_it_was_measured(at, port, capsys):
    assert evaluate(*endpoint(port), "--measures", "RR", "--at-once", "1") == 0
    said = capsys.readouterr().out
    assert re.search(r"Latency in ms: .*, n = 3; one at a time, over HTTP, until the whole answer is read\.\n", said)

    assert evaluate("--command", "echo a", "--measures", "RR", "--markdown", "report.md") == 0
    for said in (capsys.readouterr().out, (at / "report.md").read_text()):
        assert "n = 3; up to 4 at a time, the program is started for each query.\n" in said


def test_a_command_is_run_once_a_query_and_saved_as_a_run(at, capsys):
    line = f"{sys.executable} -c \"print('a\\t2'); print('d\\t1')\" {{query}}"

    assert evaluate("--command", line, "--save-run", "kept.run", "--measures", "RR") == 0
    assert (at / "kept.run").read_text().splitlines()[:2] == [
        f"Q1 Q0 a 1 2.0 {(sys.executable).rsplit('/', 1)[-1]}",
        f"Q1 Q0 d 2 1.0 {(sys.executable).rsplit('/', 1)[-1]}",
    ]


def test_a_system_is_called_as_it_was_named(at, capsys):
    told = ("--name", "search-v2", "--measures", "RR", "--format", "json")

    assert evaluate("--command", "echo a", "--save-run", "kept.run", *told) == 0
    assert printed(capsys)["system"] == "search-v2"
    assert {line.split()[-1] for line in (at / "kept.run").read_text().splitlines()} == {"search-v2"}
    assert evaluate("--run", "kept.run", "--name", "live", "--measures", "RR", "--format", "json") == 0
    assert printed(capsys)["system"] == "live"


def test_after_a_failure_answers_are_kept_and_the_same_command_fetches_the_rest(at, capsys):
    program = at / "find.py"
    code = "import sys\nif sys.argv[1] == 'green wall': sys.exit('index is being built')\nprint('c')\n"
    program.write_text(code)
    line = f"{sys.executable} {program} {{query}}"

    assert evaluate("--command", line) == 3
    said = capsys.readouterr().err
    assert "1 of 3 queries have no answer" in said
    assert "Q2: The command ended with code 1: index is being built." in said

    program.write_text("import sys\nassert sys.argv[1] == 'green wall'\nprint('c')\n")
    assert evaluate("--command", line) == 0


def test_a_system_that_answers_nothing_is_reported_once_and_nothing_is_stored(at, capsys):
    assert evaluate("--command", f"{sys.executable} -c 1/0", "--quiet") == 3

    said = capsys.readouterr().err
    assert said == (
        "karat eval: 3 of 3 queries have no answer, so nothing was scored. "
        "Q1, Q2, Q3: The command ended with code 1: ZeroDivisionError: division by zero.\n"
    )
    assert not (at / ".karat-eval").exists()


def test_queries_that_failed_and_that_were_not_sent_add_up(at, monkeypatch, capsys):
    release = write_release(at / "many", content=many_questions(38))

    assert evaluate("--command", "/nowhere/find {query}", "--at-once", "1", release=str(release)) == 3

    said = capsys.readouterr().err
    failed, unasked = map(int, re.search(r"nothing was scored: (\d+) failed, (\d+) were not sent\.", said).groups())
    named = re.search(r"sent\. ([^:]*): The command", said).group(1)
    more = re.search(r" and (\d+) more", named)
    assert failed + unasked == 38
    assert named.count("Q") + (int(more.group(1)) if more else 0) == failed


def test_failures_for_more_reasons_than_are_listed_are_counted(at, capsys):
    code = "import sys; sys.exit('no ' + sys.argv[1])"
    release = write_release(at / "many", content=many_questions(5))

    assert evaluate("--command", f'{sys.executable} -c "{code}" {{query}}', "--tries", "1", release=str(release)) == 3

    said = capsys.readouterr().err
    assert "5 of 5 queries have no answer, so nothing was scored. Q000: The command ended with code 1: no Q000." in said
    assert "2 more for other reasons." in said


def test_every_mistake_in_a_file_of_gates_is_listed(at, capsys):
    (at / "gates.toml").write_text(
        '[[gate]]\nname = "a"\nfigure = "ndcg_cut_10"\nat_least = 0.4\n\n[[gate]]\nname = "b"\nfigure = "P@5"\n'
    )

    assert evaluate("--run", "mine.run", "--gates", "gates.toml") == 3

    first, second = capsys.readouterr().err.splitlines()
    assert "gates.toml, line 3, gate 1 (a), figure" in first
    assert "here it is nDCG@10" in first
    assert "gates.toml, line 8, gate 2 (b), figure = 'P@5': A gate has one of" in second


def test_every_mistake_in_a_run_is_listed(at, capsys):
    (at / "broken.run").write_text("Q1 Q0 a\nQ1 Q0 b 1 high t\n")

    assert evaluate("--run", "broken.run") == 3

    assert capsys.readouterr().err.splitlines() == [
        "karat eval: broken.run, line 1, line: 'Q1 Q0 a': 3 fields where there must be six: query, Q0, block, rank, "
        "score, tag.",
        "karat eval: broken.run, line 2, score: 'high' is not a number.",
    ]


def test_a_stopped_command_says_that_it_can_go_on(at, capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("apps.cli.evaluate.requested.Progress.__call__", stop)

    assert evaluate("--command", "echo a") == 130
    assert "Run the same command again to continue." in capsys.readouterr().err


def test_the_smoke_tier_sends_a_sample(tmp_path, monkeypatch, capsys):
    release = write_release(tmp_path / "many", content=many_questions(80))
    monkeypatch.chdir(tmp_path)

    assert evaluate("--command", "echo a", "--tier", "smoke", "--format", "json", release=str(release)) == 0
    assert printed(capsys)["queries"]["judged"] == 50


def test_the_smoke_tier_sends_the_slices_that_its_gates_name_too(tmp_path, monkeypatch, capsys):
    many = many_questions(80)
    picked = [query.query_id for query in many.query_rows]
    canary = SliceRow("canary", "canary", tuple((one, ()) for one in picked[:60]))
    release = write_release(tmp_path / "many", content=replace(many, slice_rows=[canary]))
    monkeypatch.chdir(tmp_path)
    gate = '[[gate]]\nname = "Canary"\nfigure = "RR"\nat_least = 1\nslice = "canary"\ntier = "smoke"\n'
    (tmp_path / "gates.toml").write_text(gate)

    options = ["--command", "echo a", "--tier", "smoke", "--gates", "gates.toml", "--format", "json"]
    assert evaluate(*options, release=str(release)) == 0

    said = printed(capsys)
    assert 60 < said["queries"]["judged"] < 80
    assert said["gates"][0]["n"] == 60


def with_slices(at) -> None:
    rows = [SliceRow("canary", "canary", (("Q1", ()), ("Q3", ()))), SliceRow("challenge", "challenge", (("Q2", ()),))]
    write_release(at / "sliced", content=replace(CONTENT, slice_rows=rows))


def test_a_slice_is_asked_and_scored_alone(at, capsys):
    with_slices(at)

    assert evaluate("--run", "mine.run", "--slice", "canary", "--format", "json", release="sliced") == 0

    said = printed(capsys)
    assert said["release"] == {"name": "Doors v2", "digest": "d" * 64, "split": "dev", "slice": "canary"}
    assert said["queries"]["judged"] == 2
    assert evaluate("--run", "mine.run", "--slice", "canary", release="sliced") == 0
    assert capsys.readouterr().out.startswith("mine on Doors v2, dev split, canary slice: 2 queries.")


def test_gates_on_another_slice_are_not_checked_and_named(at, capsys):
    with_slices(at)
    text = '[[gate]]\nname = "{0}"\nfigure = "RR"\nat_least = 0.9\nslice = "{0}"\n'
    (at / "gates.toml").write_text(text.format("canary") + text.format("challenge"))
    options = ["--run", "mine.run", "--slice", "canary", "--gates", "gates.toml", "--format", "json"]

    assert evaluate(*options, release="sliced") == 0

    out, err = capsys.readouterr()
    assert [gate["name"] for gate in json.loads(out)["gates"]] == ["canary"]
    assert "not checked, since they are on another slice: challenge." in err


def test_gates_that_are_all_on_another_slice_check_nothing(at, capsys):
    with_slices(at)
    (at / "gates.toml").write_text('[[gate]]\nname = "C"\nfigure = "RR"\nat_least = 0.9\nslice = "challenge"\n')

    assert evaluate("--run", "mine.run", "--slice", "canary", "--gates", "gates.toml", release="sliced") == 5

    out, err = capsys.readouterr()
    assert "Nothing was checked: no gate is on what was measured." in out
    assert "gates.toml has no gate of the full tier and the canary slice, so nothing is checked; add a gate." in err


@pytest.mark.parametrize(("tier", "code"), [("smoke", 5), ("full", 0)])
def test_a_tier_without_a_gate_checks_nothing(at, capsys, tier, code):
    options = ["--run", "mine.run", "--gates", "gates.toml", "--tier", tier]

    assert evaluate(*options) == code
    assert ("run it with --tier full" in capsys.readouterr().err) is (code == 5)

    assert evaluate(*options, "--format", "json") == code
    found = printed(capsys)
    assert (found["passed"], found["state"]) == ((False, "nothing") if code else (True, "passed"))


@pytest.mark.parametrize(
    "where", ['slice = "challenge"', 'slice = { field = "domain", value = "tax" }', 'slice = "rotating"']
)
def test_a_gate_without_a_single_query_checks_nothing(at, capsys, where):
    (at / "gates.toml").write_text(f'[[gate]]\nname = "C"\nfigure = "RR"\nat_least = 0.1\n{where}\n')

    assert evaluate("--run", "mine.run", "--gates", "gates.toml") == 5
    assert "C: Nothing checked: " in capsys.readouterr().out


def test_a_gate_that_failed_or_is_not_known_counts_before_one_that_checks_nothing(at, capsys):
    nothing = '[[gate]]\nname = "N"\nfigure = "RR"\nat_least = 0.1\nslice = "challenge"\n'
    failed = '[[gate]]\nname = "F"\nfigure = "RR"\nat_least = 1\n'
    unknown = '[[gate]]\nname = "U"\nfigure = "cost"\nat_most = 1\n'
    warns = unknown.replace("U", "W") + 'not_known = "warn"\n'
    (at / "mine.run").write_text("Q1 Q0 d 1 1.0 mine\n")

    for others, code in ((failed + unknown, 1), (failed, 1), (unknown, 4), (unknown + warns, 4), (warns, 5), ("", 5)):
        (at / "gates.toml").write_text(nothing + others)
        assert evaluate("--run", "mine.run", "--gates", "gates.toml") == code


def test_a_slice_that_the_release_has_not_is_refused(at, capsys):
    assert evaluate("--run", "mine.run", "--slice", "canary") == 3

    said = capsys.readouterr().err
    assert "Doors v2 has no slice called canary. It has none." in said
    assert "karat export --slices" in said


def test_the_deep_tier_takes_every_split(at, capsys):
    assert evaluate("--run", "mine.run", "--tier", "deep", "--format", "json") == 0
    assert printed(capsys)["queries"] == {"judged": 4, "with_relevant": 4, "in_run": 3, "missing": 1}


def test_reports_contain_gates_scores_strata_and_their_inputs(at):
    options = ["--gates", "gates.toml", "--html", "report.html", "--markdown", "report.md"]

    assert evaluate("--run", "mine.run", *options) == 0
    said = (at / "report.md").read_text()
    assert "2 of 2 gates passed." in said
    assert said.index("## Gates") < said.index("## By domain")
    assert "2 strata of fewer than 5 queries are left out." in said
    assert "d" * 64 in said
    for role, name in (("run", "mine.run"), ("gates", "gates.toml")):
        digest = hashlib.sha256((at / name).read_bytes()).hexdigest()
        assert f"| {role} | `{name}` | `{digest}` |" in said
    page = (at / "report.html").read_text()
    assert "<svg" in page
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)[^\s\"]*", page) == []


def test_gates_precede_figures_and_small_strata_are_left_out(at, capsys):
    release = write_release(at / "many", content=many_questions(12, on_walls=4))
    (at / "mine.run").write_text("".join(f"Q{n:03} Q0 a 1 1.0 mine\n" for n in range(12)))

    assert evaluate("--run", "mine.run", "--gates", "gates.toml", "--measures", "RR", release=str(release)) == 0

    said = capsys.readouterr().out
    assert said.index("2 of 2 gates passed.") < said.index("measure ")
    assert re.search(r"^RR +keys +mine +1\.0000 .* 8$", said, re.M)
    assert "walls" not in said.split("2 gates passed.")[1].split("measure", 1)[1]
    assert "domain: 1 stratum of fewer than 5 queries is left out." in said

    evaluate("--run", "mine.run", "--measures", "RR", "--format", "json", release=str(release))
    assert list(printed(capsys)["runs"][0]["strata"]["domain"]) == ["keys", "walls"]


def test_a_report_that_cannot_be_written_is_code_3(at, capsys):
    assert evaluate("--run", "mine.run", "--html", "nowhere/report.html") == 3
    assert "nowhere/report.html: cannot be written" in capsys.readouterr().err


def test_a_zip_serves_too(at, release_folder):
    with (at / "doors.zip").open("wb") as stream:
        zip_folder(release_folder, stream)

    assert evaluate("--run", "mine.run", release="doors.zip") == 0


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_rows_contain_measures_and_gates(at, capsys, form):
    assert evaluate("--run", "mine.run", "--gates", "gates.toml", "--measures", "RR", "--format", form) == 0

    mark = {"csv": ",", "tsv": "\t"}[form]
    rows = [line.split(mark)[:3] for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["kind", "name", "state"],
        ["measure", "RR", ""],
        ["measure", "nDCG@10", ""],
        ["gate", "Good enough", "passed"],
        ["gate", "Walls", "passed"],
    ]


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--run", "mine.run", "--measures", "nDGC@10"], 2, "not a measure"),
        (["--command", "find 'x"], 2, "split into words"),
        (["--command", "echo a", "--token-from", "KARAT_NO_SUCH_TOKEN"], 2, "is empty"),
        (["--endpoint", "http://localhost/find"], 2, None),
        (["--run", "nowhere.run"], 3, "nowhere.run"),
        (["--run", "mine.run", "--gates", "mine.run"], 3, "not TOML"),
        (["--run", "mine.run", "--split", "test"], 3, "answers none of the judged queries"),
        (["--command", "/nowhere/find {query}"], 3, "cannot be run"),
    ],
)
def test_exit_codes_distinguish_usage_from_data(at, capsys, options, code, sentence):
    if options[0] == "--endpoint":
        options = [*options, "--body", '{"q": 1}']

    assert evaluate(*options) == code
    assert sentence is None or sentence in capsys.readouterr().err


def test_all_wrong_measures_are_reported_at_once(at, capsys):
    assert evaluate("--run", "mine.run", "--measures", "nDGC@10 P") == 2

    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("karat eval: 'nDGC@10' is not a measure")
    assert second.startswith("karat eval: P needs a cutoff")


def test_a_folder_that_is_not_a_release_gives_exit_code_3(at, capsys):
    (at / "empty").mkdir()

    assert evaluate("--run", "mine.run", release="empty") == 3
    assert "it is not an export of Karat" in capsys.readouterr().err


@pytest.mark.slow
def test_no_django_is_loaded_and_progress_goes_to_standard_error(at):
    code = (
        "import sys; from apps.config.commandline import main; code = main(sys.argv[1:]); "
        "sys.exit(9 if 'django' in sys.modules else code)"
    )
    line = [sys.executable, "-c", code, "eval", str(at / "doors-v2"), "--command", "echo a", "--format", "json"]

    ended = subprocess.run(line, capture_output=True, cwd=at, env={"PYTHONPATH": str(REPO), "PATH": "/usr/bin:/bin"})

    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["queries"]["in_run"] == 3
    assert "3 of 3 queries answered" in ended.stderr.decode()
