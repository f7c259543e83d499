"""`karat agree --by`: agreement on each stratum of items, and the files of strata that are refused."""

import csv
import gzip
import io
import sys

import pytest

from apps.metrics.agreement.overall import COEFFICIENTS, FURTHER
from tests.metrics.agreement.labels import LONG, agree, agree_json, refused, writer

STRATA = "item,domain,level\na,tax,easy\nb,tax,\nc,tax,hard\nd,law,easy\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return writer(tmp_path)


def of_stratum(rows: list[str]) -> str:
    """The heading of LONG and its rows about these items."""
    heading, *labels = LONG.splitlines()
    return "\n".join([heading, *(label for label in labels if label[0] in rows)])


def test_a_stratum_has_the_figures_of_its_items_alone(file, capsys):
    found = agree_json(capsys, file(LONG), "--by", file(STRATA, "strata.csv"))
    alone = agree_json(capsys, file(of_stratum(["a", "b", "c"]), "tax.csv"))

    own = {(one["field"], one["stratum"]): one for one in found["by_stratum"]}
    tax = own["domain", "tax"]
    assert (tax["n_items"], tax["n_annotators"], tax["n_labels"], tax["n_items_shared"]) == (3, 2, 6, 3)
    assert (list(tax["coefficients"]), list(tax["further"])) == (list(COEFFICIENTS), list(FURTHER))
    assert tax["coefficients"] == alone["coefficients"]


def test_strata_are_sorted_by_size_within_their_field(file, capsys):
    found = agree_json(capsys, file(LONG), "--by", file(STRATA, "strata.csv"))

    names = [(one["field"], one["stratum"], one["n_items"]) for one in found["by_stratum"]]
    assert names == [("domain", "tax", 3), ("domain", "law", 1), ("level", "easy", 2), ("level", "hard", 1)]


def test_without_strata_the_json_is_as_it_was(file, capsys):
    name = file(LONG)

    plain = agree_json(capsys, name)
    with_strata = agree_json(capsys, name, "--by", file(STRATA, "strata.csv"))

    assert "by_stratum" not in plain
    assert {key: value for key, value in with_strata.items() if key != "by_stratum"} == plain


def test_categories_are_those_of_the_whole_file(file, capsys):
    """Of the categories that nobody chose in the stratum Gwet's AC knows all the same."""
    found = agree_json(capsys, file(LONG), "--by", file("item,s\na,x\nd,x\n", "strata.csv"))

    (own,) = found["by_stratum"]
    assert own["coefficients"]["gwet_ac1"]["value"] == 1.0
    assert own["coefficients"]["gwet_ac1"]["low"] < 0.5
    assert own["further"]["brennan_prediger"]["value"] == 1.0


def test_annotators_who_labelled_nothing_there_do_not_count(file, capsys):
    name = file("item,ann,bob,eva\na,1,1,\nb,0,1,\nc,1,1,1\nd,0,0,1\n")

    found = agree_json(capsys, name, "--by", file("item,s\na,x\nb,x\nc,y\nd,y\n", "strata.csv"))

    x, y = found["by_stratum"]
    assert (x["n_annotators"], y["n_annotators"]) == (2, 3)
    assert x["coefficients"]["conger_kappa"]["value"] == x["coefficients"]["cohen_kappa"]["value"]
    assert y["coefficients"]["cohen_kappa"]["reason"].startswith("Cohen's κ is for two annotators and here are 3")


def test_table_and_rows_contain_the_strata(file, capsys):
    name, strata = file(LONG), file(STRATA, "strata.csv")

    assert agree(name, "--by", strata) == 0
    table = capsys.readouterr().out
    assert agree("--format", "csv", name, "--by", strata) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))

    assert [line.split()[:3] for line in table.splitlines() if line.startswith(("tax", "law"))] == [
        ["tax", "3", "3"],
        ["law", "1", "1"],
    ]
    kappa = next(row for row in rows if row["second"] == "tax" and row["figure"] == "cohen_kappa")
    assert (kappa["scope"], kappa["first"], kappa["n"]) == ("stratum", "domain", "3")


def test_strata_may_be_gzipped_come_from_standard_input_or_be_divided_by_tabs(file, capsys, tmp_path, monkeypatch):
    name = file(LONG)
    plain = agree_json(capsys, name, "--by", file(STRATA, "strata.csv"))
    (tmp_path / "strata.gz").write_bytes(gzip.compress(STRATA.encode()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STRATA.encode())))

    assert agree_json(capsys, name, "--by", "strata.gz") == plain
    assert agree_json(capsys, name, "--by", "-") == plain
    assert agree_json(capsys, name, "--by", file(STRATA.replace(",", "\t"), "strata.tsv")) == plain


@pytest.mark.parametrize("name", ["item_id", "id"])
def test_the_column_of_items_may_be_called_otherwise(file, capsys, name):
    labels = file(LONG)
    plain = agree_json(capsys, labels, "--by", file(STRATA, "strata.csv"))

    assert agree_json(capsys, labels, "--by", file(STRATA.replace("item", name, 1), "strata.csv")) == plain


def test_items_in_only_one_file_are_counted(file, capsys):
    assert agree(file(LONG), "--by", file("item,s\na,x\nb,x\nz,x\n", "strata.csv")) == 0

    assert capsys.readouterr().err.splitlines() == [
        "strata.csv: items in it without a label: 1.",
        "strata.csv: labelled items that it does not name, and that are in no stratum: 2.",
    ]


@pytest.mark.parametrize(
    ("strata", "said"),
    [
        ("", "strata.csv: the file is empty; its first line must name the columns"),
        ("item,s\n", "strata.csv: names the columns but contains no rows."),
        (
            "query,s\na,x\n",
            "strata.csv, line 1, item: this column is missing; looked for item, item_id, id; the file has query, s",
        ),
        ("item\na\n", "strata.csv, line 1: has no column besides item, such as stratum."),
        ("item,s\nz,x\n", "strata.csv, item: names none of the labelled items."),
        ("item,s\n,x\n", "strata.csv, line 2, item: the row names no item."),
        ("item,s\na,x\na,y\n", "strata.csv, line 3, item: 'a' appears twice, first in line 2."),
        ("item,s\na,x,y\n", "strata.csv, line 2: the row has 3 cells, the header has 2"),
    ],
)
def test_strata_that_cannot_be_read_are_refused_with_the_place(file, capsys, strata, said):
    assert refused(capsys, file(LONG), "--by", file(strata, "strata.csv")) == said


def test_every_mistake_is_reported_at_once(file, capsys):
    said = refused(capsys, file(LONG), "--by", file("item,s\n,x\na,x\na,y\n", "strata.csv"))

    assert [line.split(":")[0] for line in said.splitlines()] == [
        "strata.csv, line 2, item",
        "strata.csv, line 4, item",
    ]


def test_one_standard_input_cannot_be_both_files(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LONG.encode())))

    assert refused(capsys, "-", "--by", "-") == "standard input: cannot be both FILE and --by."


def test_a_file_that_is_not_there_is_refused(file, capsys):
    said = refused(capsys, file(LONG), "--by", "none.csv")

    assert said == "none.csv: the file cannot be opened: No such file or directory"
