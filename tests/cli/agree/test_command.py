import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

from apps.metrics.agreement.overall import COEFFICIENTS
from apps.metrics.statistics.bootstrap import DEFAULT_SEED
from tests.metrics.agreement.labels import KRIPPENDORFF, LONG, WIDE, agree, agree_json, writer


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return writer(tmp_path)


# What it prints


def test_json_has_the_documented_layout(file, capsys):
    found = agree_json(capsys, file(LONG))

    assert (found["n_items"], found["n_annotators"], found["n_labels"]) == (4, 2, 8)
    assert list(found["coefficients"]) == list(COEFFICIENTS)
    percent = found["coefficients"]["percent_agreement"]
    assert (percent["value"], percent["n"], percent["method"]) == (0.75, 4, "Wilson")
    assert percent["low"] < percent["high"]
    (pair,) = found["pairs"]
    assert (pair["annotators"], pair["n"]) == (["ann", "bob"], 4)
    assert pair["cohen_kappa"] == found["coefficients"]["cohen_kappa"]
    assert (found["level"], found["headline"]) == ("ordinal", "krippendorff_alpha_ordinal")
    assert (found["confidence"], found["seed"], found["resamples"]) == (0.95, DEFAULT_SEED, 200)


def test_long_and_wide_files_give_the_same_result(file, capsys):
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
        **dict.fromkeys(["value", "low", "high", "standard_error", "analytic", "clusters"]),
        "n": 0,
        "method": "",
        "reason": "Cohen's κ is for two annotators and here are 4: see each pair, or Conger's κ for all together.",
    }


def test_one_category_throughout_has_a_share_and_no_coefficient(file, capsys):
    found = agree_json(capsys, file("item,a,b\nx,1,1\ny,1,1\nz,1,1\n"))

    own = found["coefficients"]
    assert own["percent_agreement"]["value"] == 1.0
    assert own["percent_agreement"]["low"] < 0.5
    assert own["cohen_kappa"]["reason"] == "Both used only one category; chance explains all of their agreement."
    assert {one["value"] for key, one in own.items() if key != "percent_agreement"} == {None}


def test_later_passes_are_agreement_with_oneself(file, capsys):
    rows = ["item,annotator,label,pass", "a,ann,1,1", "a,ann,1,2", "b,ann,0,1", "b,ann,2,2", "a,bob,1,1", "b,bob,0,1"]
    rows += ["a,bob,1,3", "c,ann,0,2", "c,bob,0,1"]

    found = agree_json(capsys, file("\n".join(rows)))

    together, ann, bob = found["self_agreement"]
    assert (together["annotator"], together["n"]) == (None, 3)
    assert (ann["annotator"], ann["n"], ann["percent_agreement"]["value"]) == ("ann", 2, 0.5)
    assert (bob["annotator"], bob["n"], bob["percent_agreement"]["value"]) == ("bob", 1, 1.0)
    assert bob["cohen_kappa"]["reason"].startswith("They share only one item")
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
    assert "percentile bootstrap over items and half an imagined one" in " ".join(shown.split())
    assert "--cluster COLUMN names the column of the query" in " ".join(shown.split())


def test_the_table_states_which_column_clusters(file, capsys):
    assert agree(file("item,query,ann,bob\na,q1,1,2\nb,q1,0,0\nc,q2,1,1\nd,q3,2,2\n")) == 0

    shown, told = capsys.readouterr()
    assert "over the 3 clusters of column query, by leaving out each in turn" in " ".join(shown.split())
    assert "labels.csv: 3 clusters are too few for a trustworthy interval; 15 or more are enough." in told


def test_the_label_model_is_a_diagnosis_by_request(file, capsys):
    name = file(KRIPPENDORFF)

    assert "label_model" not in agree_json(capsys, name, "--missing", "*")
    model = agree_json(capsys, name, "--missing", "*", "--label-model")["label_model"]

    assert model["is_converged"] is True
    assert [one["annotator"] for one in model["annotators"]] == ["A", "B", "C", "D"]
    assert sum(one["value"] for one in model["prevalence"]) == pytest.approx(1)
    assert agree(name, "--missing", "*", "--label-model") == 0
    assert "a diagnosis and never gold: converged after" in capsys.readouterr().out


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
    assert (found["cluster"], found["n_clusters"]) == ("query", 135)
    assert ends_of(found) == (0.709, 0.819)


def test_ratings_of_chorus_are_less_certain_over_queries_than_over_pairs(shared_data, file, capsys):
    """A bootstrap over queries by others: .704 to .821; of the first 20 queries: .36 to .91."""
    ratings = shared_data / "chorus_ratings" / "Broad_Query_Set_individual_ratings.csv"
    columns = ("--columns", "item,item,skip,skip,rating,rating,rating,skip")

    over_pairs = agree_json(capsys, str(ratings), *columns, "--no-cluster")
    rows = list(csv.reader(ratings.read_text().splitlines()))
    first = list(dict.fromkeys(row[0] for row in rows[1:]))[:20]
    with Path("first.csv").open("w", newline="") as out:
        csv.writer(out).writerows(row for row in rows if row[0] in {"query", *first})
    of_few = agree_json(capsys, "first.csv", *columns)

    assert ends_of(over_pairs) == pytest.approx((0.754, 0.785), abs=0.002)
    low, high = ends_of(of_few)
    assert low < 0.36 < 0.91 < high


def ends_of(found: dict) -> tuple[float, float]:
    alpha = found["coefficients"]["krippendorff_alpha_ordinal"]
    return round(alpha["low"], 3), round(alpha["high"], 3)


# The machine


def test_the_command_needs_no_django_and_no_scipy():
    code = "import sys, apps.cli.agree.command; print([name in sys.modules for name in ('django', 'scipy')])"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout == "[False, False]\n"


def test_json_has_each_usual_coefficient_under_its_documented_name(file, capsys):
    found = agree_json(capsys, file("item,ann,bob\na,yes,yes\nb,yes,yes\n"))

    assert list(found)[:3] == ["n_items", "n_annotators", "n_labels"]
    assert list(found["coefficients"]) == [
        "percent_agreement", "cohen_kappa", "weighted_kappa_linear", "weighted_kappa_quadratic", "fleiss_kappa",
        "conger_kappa", "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "krippendorff_alpha_interval",
        "krippendorff_alpha_ratio", "gwet_ac1", "gwet_ac2_quadratic",
    ]  # fmt: skip
    assert all(one["reason"] and one["low"] is None for one in found["coefficients"].values() if one["value"] is None)
    assert found["coefficients"]["cohen_kappa"]["value"] is None
    assert found["pairs"][0]["annotators"] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("weight", "this column is not read: weight; every label counts alike, so no weight is in a figure."),
        ("notes", "this column is not read: notes."),
    ],
)
def test_a_column_that_is_in_no_figure_is_named(file, capsys, column, said):
    rows = "".join(f"{item},{who},{label},3\n" for item, who, label in ["1a1", "1b2", "2a2", "2b2", "3a1", "3b1"])

    assert agree(file(f"item,annotator,label,{column}\n{rows}", "labels.csv")) == 0

    assert capsys.readouterr().err == f"labels.csv: {said}\n"


def test_a_column_that_somebody_skips_is_not_named(file, capsys):
    rows = "".join(f"{item},{who},{label},3\n" for item, who, label in ["1a1", "1b2", "2a2", "2b2", "3a1", "3b1"])

    assert agree(file(f"i,a,l,weight\n{rows}", "labels.csv"), "--columns", "item,annotator,label,skip") == 0

    assert capsys.readouterr().err == ""
