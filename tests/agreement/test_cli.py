import argparse
import csv
import gzip
import io
import json
import os
import subprocess
import sys

import pytest

from apps.agreement import cli
from apps.agreement.coefficients import COEFFICIENTS, SEED
from tests.conftest import REPO

LONG = """\
item,annotator,label
a,ann,1
a,bob,1
b,ann,0
b,bob,2
c,ann,2
c,bob,2
d,ann,0
d,bob,0
"""
WIDE = """\
item,ann,bob
a,1,1
b,0,2
c,2,2
d,0,0
"""
KRIPPENDORFF = """\
unit,A,B,C,D
1,1,1,*,1
2,2,2,3,2
3,3,3,3,3
4,3,3,3,3
5,2,2,2,2
6,1,2,3,4
7,4,4,4,4
8,1,1,2,1
9,2,2,2,2
10,*,5,5,5
11,*,*,1,1
12,*,3,*,*
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Writes a file of labels and stands beside it."""
    monkeypatch.chdir(tmp_path)

    def write(text: str, name: str = "labels.csv") -> str:
        (tmp_path / name).write_text(text)
        return name

    return write


def agree(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="karat")
    cli.add_parser(parser.add_subparsers(required=True))
    args = parser.parse_args(["agree", "--resamples", "200", *arguments])
    return args.run(args)


def agree_json(capsys, *arguments: str) -> dict:
    assert agree("--format", "json", *arguments) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments: str) -> str:
    assert agree(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err.replace("karat agree: ", "").strip()


# What it prints


def test_json_has_the_documented_layout(file, capsys):
    found = agree_json(capsys, file(LONG))

    assert (found["n_items"], found["n_annotators"], found["n_labels"]) == (4, 2, 8)
    assert list(found["coefficients"]) == list(COEFFICIENTS)
    percent = found["coefficients"]["percent_agreement"]
    assert (percent["value"], percent["n"], percent["method"]) == (0.75, 4, "Wilson")
    assert len(percent["ci"]) == 2
    (pair,) = found["pairs"]
    assert (pair["annotators"], pair["n"]) == (["ann", "bob"], 4)
    assert pair["cohen_kappa"] == found["coefficients"]["cohen_kappa"]
    assert (found["level"], found["headline"]) == ("ordinal", "krippendorff_alpha_ordinal")
    assert (found["confidence"], found["seed"], found["resamples"]) == (0.95, SEED, 200)


def test_long_and_wide_files_say_the_same(file, capsys):
    assert agree_json(capsys, file(LONG)) == agree_json(capsys, file(WIDE, "wide.csv"))


def test_krippendorffs_example_is_reproduced(file, capsys):
    found = agree_json(capsys, file(KRIPPENDORFF), "--missing", "*", "--level", "interval")

    alphas = {key: one["value"] for key, one in found["coefficients"].items() if "alpha" in key}
    assert {key.removeprefix("krippendorff_alpha_"): round(value, 3) for key, value in alphas.items()} == {
        "nominal": 0.743,
        "ordinal": 0.815,
        "interval": 0.849,
        "ratio": 0.797,
    }
    assert (found["n_items"], found["n_items_shared"], found["n_labels"]) == (12, 11, 41)
    assert found["headline"] == "krippendorff_alpha_interval"


def test_what_is_undefined_is_null_with_a_reason(file, capsys):
    found = agree_json(capsys, file(KRIPPENDORFF), "--missing", "*")

    assert found["coefficients"]["cohen_kappa"] == {
        "value": None,
        "reason": "Cohen's κ is for two annotators and here are 4: see each pair, or Conger's κ for all together.",
    }


def test_one_category_throughout_has_a_share_and_no_coefficient(file, capsys):
    found = agree_json(capsys, file("item,a,b\nx,1,1\ny,1,1\nz,1,1\n"))

    own = found["coefficients"]
    assert own["percent_agreement"]["value"] == 1.0
    assert own["percent_agreement"]["ci"][0] < 0.5
    assert own["cohen_kappa"]["reason"] == "Both used one category only; chance explains all of their agreement."
    assert {one["value"] for key, one in own.items() if key != "percent_agreement"} == {None}


def test_later_passes_are_agreement_with_oneself(file, capsys):
    rows = ["item,annotator,label,pass", "a,ann,1,1", "a,ann,1,2", "b,ann,0,1", "b,ann,2,2", "a,bob,1,1", "b,bob,0,1"]
    rows += ["a,bob,1,3", "c,ann,0,2", "c,bob,0,1"]

    found = agree_json(capsys, file("\n".join(rows)))

    together, ann, bob = found["self_agreement"]
    assert (together["annotator"], together["n"]) == (None, 3)
    assert (ann["annotator"], ann["n"], ann["percent_agreement"]["value"]) == ("ann", 2, 0.5)
    assert (bob["annotator"], bob["n"], bob["percent_agreement"]["value"]) == ("bob", 1, 1.0)
    assert bob["cohen_kappa"]["reason"].startswith("They share one item only")
    assert (found["n_labels"], found["n_labels_again"]) == (9, 3)
    assert found["coefficients"]["percent_agreement"]["value"] == 1.0


def test_csv_and_tsv_have_a_row_a_figure(file, capsys):
    name = file(LONG)
    rows = {}
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        assert agree("--format", form, name) == 0
        rows[form] = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter=delimiter))

    assert rows["csv"] == rows["tsv"]
    scopes = [row["scope"] for row in rows["csv"]]
    assert list(dict.fromkeys(scopes)) == ["all", "pair", "category"]
    kappa = next(row for row in rows["csv"] if row["figure"] == "cohen_kappa")
    assert float(kappa["low"]) <= float(kappa["value"]) <= float(kappa["high"])


def test_names_that_look_like_formulas_are_made_safe_in_csv(file, capsys):
    assert agree("--format", "csv", file("item,=1+1,bob\na,1,1\nb,0,1\nc,0,0\n")) == 0

    assert "'=1+1" in capsys.readouterr().out


def test_the_table_marks_the_fitting_coefficient_and_states_how(file, capsys):
    assert agree(file(KRIPPENDORFF), "--missing", "*") == 0

    shown = capsys.readouterr().out
    assert "12 items, 4 annotators, 41 labels; 11 items have labels of two annotators or more." in shown
    assert "krippendorff_alpha_ordinal *     0.8154" in shown
    assert "cohen_kappa, weighted_kappa_linear, weighted_kappa_quadratic: undefined." in shown
    assert "BCa bootstrap over items, 200 resamples" in shown


def test_the_label_model_is_a_diagnosis_by_request(file, capsys):
    name = file(KRIPPENDORFF)

    assert "label_model" not in agree_json(capsys, name, "--missing", "*")
    model = agree_json(capsys, name, "--missing", "*", "--label-model")["label_model"]

    assert model["is_converged"] is True
    assert [one["annotator"] for one in model["annotators"]] == ["A", "B", "C", "D"]
    assert sum(one["value"] for one in model["prevalence"]) == pytest.approx(1)
    assert agree(name, "--missing", "*", "--label-model") == 0
    assert "a diagnosis and never gold: came to rest after" in capsys.readouterr().out


# What it reads


def test_files_may_be_gzipped_and_divided_by_tabs_or_semicolons(file, capsys, tmp_path):
    plain = agree_json(capsys, file(LONG))
    for name, text in (("labels.tsv", LONG.replace(",", "\t")), ("labels.txt", LONG.replace(",", ";"))):
        assert agree_json(capsys, file(text, name)) == plain
    (tmp_path / "labels.gz").write_bytes(gzip.compress(LONG.encode()))

    assert agree_json(capsys, "labels.gz") == plain


def test_a_dash_is_standard_input(file, capsys, monkeypatch):
    plain = agree_json(capsys, file(LONG))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LONG.encode())))

    assert agree_json(capsys, "-") == plain


def test_columns_are_what_somebody_says(file, capsys):
    plain = agree_json(capsys, file(LONG))
    rows = LONG.splitlines()[1:]
    bare = "\n".join(f"{number}\t" + row.replace(",", "\t") for number, row in enumerate(rows))
    found = agree_json(capsys, file(bare, "bare"), "--no-heading", "--columns", "skip,item,annotator,label")
    assert found == plain

    products = "query,doc,name,r1,r2\nq,a,x,1,1\nq,b,y,0,2\nr,a,z,2,2\n"
    wide = agree_json(capsys, file(products, "wide"), "--columns", "item,item,skip,rating,rating")

    assert (wide["n_items"], wide["pairs"][0]["annotators"]) == (3, ["r1", "r2"])


def test_words_take_their_order_from_the_categories(file, capsys):
    text = "item,ann,bob\na,low,low\nb,high,middle\nc,middle,middle\nd,high,high\n"
    name = file(text)

    nominal = agree_json(capsys, name)
    ordinal = agree_json(capsys, name, "--level", "ordinal", "--categories", "low,middle,high")

    assert nominal["level"] == "nominal"
    assert nominal["coefficients"]["weighted_kappa_linear"]["reason"] == "The labels are words without an order."
    assert ordinal["categories"] == ["low", "middle", "high"]
    assert ordinal["coefficients"]["weighted_kappa_linear"]["value"] == pytest.approx(1 - (1 / 4) / (14 / 16))
    assert ordinal["coefficients"]["krippendorff_alpha_interval"]["reason"] == "The labels are no numbers."


def test_a_category_that_nobody_chose_counts_for_gwet_when_listed(file, capsys):
    name = file("item,a,b\nx,0,0\ny,3,3\nz,1,3\n")

    seen = agree_json(capsys, name)
    assert capsys.readouterr().err == ""
    whole = agree_json(capsys, name, "--categories", "0,1,2,3")

    assert seen["coefficients"]["gwet_ac1"]["value"] < whole["coefficients"]["gwet_ac1"]["value"]
    assert seen["coefficients"]["cohen_kappa"]["value"] == whole["coefficients"]["cohen_kappa"]["value"]


def test_remarks_go_to_standard_error(file, capsys):
    assert agree(file("item,a,b\nx,yes,yes\ny,no,NA\nz,no,no\n")) == 0
    err = capsys.readouterr().err
    assert err == "labels.csv: 'NA' is counted as a category; if it means no answer, add --missing NA.\n"

    assert agree(file("item,annotator,label\nx,Ann,0\nx,ann,0\ny,Ann,3\ny,ann,0\n")) == 0
    err = capsys.readouterr().err.splitlines()
    assert err[0].startswith("labels.csv: no label is 1, 2;")
    assert err[1].startswith("labels.csv: 'Ann' and 'ann' differ in upper and lower case only")


# What it refuses

REPEATED = "item,annotator,label\na,ann,1\na,bob,1\na,ann,0\nb,ann,1\nb,bob,0\n"


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", [], "labels.csv: the file is empty."),
        ("item,annotator,label\n", [], "labels.csv: holds no label."),
        (
            "item,annotator,grade\na,b,1\n",
            [],
            "labels.csv, line 1, label: this column is missing; the file has item, annotator, grade.",
        ),
        ("item,a,a\nx,1,1\n", [], "labels.csv, line 1: two columns are called 'a'."),
        ("item,a\nx,1\n", [], "labels.csv, line 1: agreement takes two annotators:"),
        ("item,a,b\nx,1\n", [], "labels.csv, line 2: the row has 2 cells, the first one 3."),
        ("item,annotator,label\n,ann,1\n", [], "labels.csv, line 2, item: the row names no item."),
        ("item,annotator,label\na,,1\n", [], "labels.csv, line 2, annotator: the row names no annotator."),
        ("item,annotator,label,pass\na,ann,1,0\n", [], "labels.csv, line 2, pass: '0' is not a whole number from 1."),
        ("item,a,b\nx,1,2\ny,2,NA\n", [], "labels.csv, line 3, label: 'NA' is not a number as others are."),
        (
            "item,a,b\nx,1,2\ny,2,-\n",
            ["--level", "ratio"],
            "labels.csv, line 3, label: '-' is not a number, which the ratio level needs.",
        ),
        (
            "item,a,b\nx,1,2\ny,2,-3\n",
            ["--level", "ratio"],
            "labels.csv, line 3, label: '-3' is below 0; ratios start there.",
        ),
        (
            "item,a,b\nx,hi,lo\n",
            ["--level", "ordinal"],
            "labels.csv, line 2, label: 'hi' is not a number. Words take their order",
        ),
        (
            "item,a,b\nx,1,2\ny,2,7\n",
            ["--categories", "1,2,3"],
            "labels.csv, line 3, label: '7' is not one of the categories 1, 2, 3.",
        ),
        (
            REPEATED,
            [],
            "labels.csv, line 4, item: 'ann' labelled 'a' in line 2 already. A column pass tells them apart;",
        ),
        (
            "item,annotator,label,pass\na,ann,1,1\na,ann,0,1\n",
            [],
            "labels.csv, line 3, item: 'ann' labelled 'a' in line 2 already, also in pass 1.",
        ),
        ("a,b,1\n", ["--no-heading"], "labels.csv: without a heading, --columns has to say what each column holds."),
        ("a,b,1\n", ["--columns", "item,label"], "labels.csv, line 1: the row has 3 columns, --columns names 2."),
        ("a,b,1\n", ["--columns", "item,item,label"], "labels.csv: --columns names no annotator."),
        (
            "a,b,1\n",
            ["--columns", "item,label,label"],
            "labels.csv: --columns names label twice; one column can hold that.",
        ),
        ("a,b,1\n", ["--columns", "item,rating,label"], "labels.csv: --columns names rating, as a wide file has,"),
        ('item,a,b\nx,"1,2\n', [], "labels.csv, line 2: the quoting is broken here"),
    ],
)
def test_a_bad_file_is_exit_code_two_and_a_sentence_with_the_line(file, capsys, text, options, said):
    assert refused(capsys, file(text), *options).startswith(said)


def test_every_mistake_is_told_up_to_a_number(file, capsys):
    rows = "".join(f"{item},1,maybe\n" for item in range(12))

    told = refused(capsys, file("item,a,b\n" + rows)).splitlines()

    assert len(told) == 11
    assert told[0].startswith("labels.csv, line 2, label: 'maybe'")
    assert told[-1] == "… and more."


@pytest.mark.parametrize(("repeats", "value", "again"), [("first", 0.5, 0), ("last", 0.0, 0), ("passes", 0.5, 1)])
def test_repeats_are_what_somebody_says(file, capsys, repeats, value, again):
    found = agree_json(capsys, file(REPEATED), "--repeats", repeats)

    assert found["coefficients"]["percent_agreement"]["value"] == value
    assert found["n_labels_again"] == again


@pytest.mark.parametrize(
    "options",
    [["--confidence", "95"], ["--seed", "-1"], ["--resamples", "5"], ["--columns", "item,who"], ["--level", "cubic"]],
)
def test_a_wrong_option_is_exit_code_two(file, options):
    with pytest.raises(SystemExit) as stopped:
        agree(file(LONG), *options)

    assert stopped.value.code == 2


# Real data


@pytest.mark.once
def test_the_crowd_of_trec_2011_equals_its_readme(shared_data, capsys):
    votes = str(shared_data / "trec2011_crowd" / "votes")

    found = agree_json(capsys, votes, "--no-heading", "--columns", "skip,item,annotator,label")

    assert (found["n_labels"], found["n_items"], found["n_annotators"]) == (17_395, 2_165, 445)
    assert round(found["coefficients"]["percent_agreement"]["value"], 4) == 0.5789
    assert round(found["coefficients"]["krippendorff_alpha_nominal"]["value"], 4) == 0.1658


def test_ratings_of_chorus_equal_their_readme(shared_data, capsys):
    ratings = str(shared_data / "chorus_ratings" / "Broad_Query_Set_individual_ratings.csv")

    found = agree_json(capsys, ratings, "--columns", "item,item,skip,skip,rating,rating,rating,skip")

    assert (found["n_labels"], found["n_items"], found["n_annotators"]) == (9_564, 3_188, 3)
    assert [one["n_labels"] for one in found["by_category"]] == [4_623, 276, 445, 4_220]
    own = {key: round(one["value"], 4) for key, one in found["coefficients"].items() if one["value"] is not None}
    assert own["percent_agreement"] == 0.7967
    assert own["krippendorff_alpha_nominal"] == 0.6426
    assert own["krippendorff_alpha_ordinal"] == 0.7695
    assert own["krippendorff_alpha_interval"] == 0.7707


# The machine


def test_the_command_needs_no_django_and_no_scipy():
    code = "import sys, apps.agreement.cli; print([name in sys.modules for name in ('django', 'scipy')])"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout == "[False, False]\n"


@pytest.mark.once
def test_the_same_seed_prints_the_same_bytes_on_any_number_of_threads(file):
    rows = [f"{item},{item % 5},{(item * 7) % 5},{(item % 11) % 5}" for item in range(400)]
    name = file("item,a,b,c\n" + "\n".join(rows))
    code = f"import sys; from apps.config.cli import main; sys.exit(main(['agree', '--format', 'json', '{name}']))"
    shown = []
    for threads in ("1", "4"):
        own = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "PYTHONPATH": str(REPO)}
        shown.append(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=own).stdout)

    assert shown[0] == shown[1]
    assert json.loads(shown[0])["coefficients"]["conger_kappa"]["ci"]
