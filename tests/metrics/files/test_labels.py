"""Which files `karat agree` reads, what it makes of them, and what it refuses."""

import gzip
import io
import json
import sys

import pytest

from tests.metrics.agreement.labels import LONG, agree, agree_json, refused, writer


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return writer(tmp_path)


# What it reads


def test_files_may_be_gzipped_and_divided_by_tabs_or_semicolons(file, capsys, tmp_path):
    plain = agree_json(capsys, file(LONG))
    for name, text in (("labels.tsv", LONG.replace(",", "\t")), ("labels.txt", LONG.replace(",", ";"))):
        assert agree_json(capsys, file(text, name)) == plain
    (tmp_path / "labels.gz").write_bytes(gzip.compress(LONG.encode()))

    assert agree_json(capsys, "labels.gz") == plain


@pytest.mark.parametrize(
    "heading",
    ["item_id,annotator_id,label", "id,rater,rating", "Item;Worker;Grade", "ITEM\tJUDGE\tJUDGEMENT"],
)
def test_the_columns_of_a_long_file_may_have_any_usual_name(file, capsys, heading):
    plain = agree_json(capsys, file(LONG))
    mark = next(mark for mark in ",;\t" if mark in heading)

    assert agree_json(capsys, file(LONG.replace("item,annotator,label", heading).replace(",", mark), "other")) == plain


def test_the_documented_name_of_a_column_goes_before_others(file, capsys):
    plain = agree_json(capsys, file("item,annotator,label\na,ann,1\na,bob,1\nb,ann,0\nb,bob,1\n"))
    rows = "id,item,annotator,worker,label,rating\n1,a,ann,x,1,9\n2,a,bob,x,1,9\n3,b,ann,x,0,9\n4,b,bob,x,1,9\n"

    assert agree_json(capsys, file(rows, "other")) == plain


@pytest.mark.parametrize("heading", ["query,doc,rater,grade", "query_id,docid,judge,rating"])
def test_a_query_and_a_block_together_are_the_item(file, capsys, heading):
    plain = agree_json(capsys, file(LONG))
    rows = "".join(f"q1,{line}\n" for line in LONG.splitlines()[1:])

    assert agree_json(capsys, file(f"{heading}\n{rows}", "other"), "--no-cluster") == plain


def test_a_wide_file_may_name_query_and_block_too(file, capsys):
    plain = agree_json(capsys, file("item,ann,bob\nq1 / 7,1,2\nq1 / 8,0,0\n"))

    assert agree_json(capsys, file("query,doc,ann,bob\nq1,7,1,2\nq1,8,0,0\n", "other"), "--no-cluster") == plain


# The clusters of items


GROUPED = "query,doc,ann,bob,topic area\nq1,a,1,2,x\nq1,b,0,0,x\nq2,a,2,2,y\nq3,c,0,1,y\nq3,d,1,1,y\n"
AREA = ("--columns", "item,item,rating,rating,skip", "--cluster", "topic area")


@pytest.mark.parametrize(
    ("text", "more", "name", "count"),
    [
        (GROUPED, ("--columns", "item,item,rating,rating,skip"), "query", 3),
        (GROUPED, AREA, "topic area", 2),
        ("item,query,ann,bob\na,q1,1,2\nb,q1,0,0\nc,q2,1,1\n", (), "query", 2),
        ("item,topic_id,ann,bob\na,q1,1,2\nb,q1,0,0\nc,q2,1,1\n", ("--cluster", "TOPIC_ID"), "topic_id", 2),
        ("query,ann,bob\na,1,2\nb,0,0\nc,1,1\n", (), None, None),
        ("item,query,topic,annotator,label\na,q,t,ann,1\na,q,t,bob,1\nb,q,t,ann,0\n", (), None, None),
        (LONG, (), None, None),
    ],
)
def test_the_column_of_the_clusters_is_the_named_one_or_has_a_querys_name(file, capsys, text, more, name, count):
    path = file(text)

    assert agree(path, *more, "--format", "json") == 0
    out, told = capsys.readouterr()
    found = json.loads(out)
    assert (found["cluster"], found["n_clusters"]) == (name, count)
    assert (f"over the {count} clusters of column {name}" in told) == (name is not None)
    assert ("too few for a trustworthy interval" in told) == (name is not None)
    methods = {one["method"] for one in found["coefficients"].values()}
    assert ("jackknife over clusters" in methods) == (name is not None)


def test_a_column_may_be_the_cluster_where_the_file_has_no_heading(file, capsys):
    text = GROUPED.split("\n", 1)[1]
    columns = ("--no-heading", "--columns", "item,item,rating,rating,skip")

    assert agree_json(capsys, file(text), *columns, "--cluster", "column 5")["n_clusters"] == 2
    assert agree_json(capsys, file(text), *columns)["n_clusters"] is None


def test_an_item_without_a_cluster_is_one_of_its_own(file, capsys):
    text = "item,query,ann,bob\na,q1,1,2\nb,q1,0,0\nc,,1,1\nd,,1,2\n"

    assert agree_json(capsys, file(text))["n_clusters"] == 3


def test_values_do_not_depend_on_clusters(file, capsys):
    with_clusters, without = (agree_json(capsys, file(GROUPED), *AREA[:2], *more) for more in ((), ("--no-cluster",)))

    for key, one in with_clusters["coefficients"].items():
        assert one["value"] == pytest.approx(without["coefficients"][key]["value"])
        assert one["reason"] == without["coefficients"][key]["reason"]


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        (
            GROUPED,
            ("--cluster", "qery"),
            "labels.csv, line 1, --cluster: no column is called 'qery'; the file has query, doc, ann, bob, topic area.",
        ),
        (LONG, ("--cluster", "label"), "labels.csv, line 1, --cluster: 'label' has another role already;"),
        (
            "item,query,ann,bob\na,q1,1,2\n",
            ("--columns", "item,rating,rating,rating", "--cluster", "query"),
            "labels.csv, line 1, --cluster: 'query' has another role already;",
        ),
        (
            "item,query,annotator,label\na,q1,ann,1\na,q2,bob,1\n",
            (),
            "labels.csv, line 3, query: 'a' has 'q2' here and 'q1' in line 2; an item is in one cluster",
        ),
        ("item,query,ann\na,q1,1\nb,q1,0\n", (), "labels.csv, line 1: agreement takes two annotators:"),
    ],
)
def test_a_cluster_that_cannot_be_used_is_refused_with_its_place(file, capsys, text, more, said):
    assert refused(capsys, file(text), *more).startswith(said)


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        ("topic,passage,ann,bob\nq1,a,1,2\nq1,b,0,1\n", "item,item,rating,rating", "column passage: words"),
        ("item,text,ann,bob,why\nx,Red,1,2,sure\ny,Blue,0,1,\n", "item,skip,rating,rating,skip", "columns text, why: "),
    ],
)
def test_columns_of_words_beside_numbers_are_answered_with_the_option_that_reads_them(
    file, capsys, text, columns, said
):
    name = file(text)

    told = refused(capsys, name)

    assert told.startswith(f"labels.csv: {said}")
    assert told.endswith(f"no labels, add --columns {columns}.")
    assert agree(name, "--columns", columns) == 0


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

    assert agree(file("x,ann,yes\ny,bob,yes\nz,ann,no\n")) == 0
    err = capsys.readouterr().err
    assert err.startswith("labels.csv: annotators are called ann, yes, as labels are; if the first line is a row and")


# What it refuses

REPEATED = "item,annotator,label\na,ann,1\na,bob,1\na,ann,0\nb,ann,1\nb,bob,0\n"


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", [], "labels.csv: the file is empty."),
        ("item,annotator,label\n", [], "labels.csv: contains no label."),
        (
            "item,annotator,stars\na,b,1\n",
            [],
            "labels.csv, line 1, label: this column is missing; looked for label, rating, grade, judgement, judgment; "
            "the file has item, annotator, stars.",
        ),
        (
            "item,rater,worker,label\na,b,c,1\n",
            [],
            "labels.csv, line 1, annotator: rater and worker may both be the annotator; --columns gives each column "
            "a role.",
        ),
        ("item,a,a\nx,1,1\n", [], "labels.csv, line 1: two columns are called 'a';"),
        ("item,a\nx,1\n", [], "labels.csv, line 1: agreement takes two annotators:"),
        ("item,a,b\nx,1\n", [], "labels.csv, line 2: 'x': the row has 2 cells, the first one 3."),
        ("item,annotator,label\n,ann,1\n", [], "labels.csv, line 2, item: the row names no item."),
        ("item,annotator,label\na,,1\n", [], "labels.csv, line 2, annotator: the row names no annotator."),
        ("item,annotator,label,pass\na,ann,1,0\n", [], "labels.csv, line 2, pass: '0' is not a whole number from 1."),
        ("item,a,b\nx,1,2\ny,2,NA\n", [], "labels.csv, line 3, label: 'NA' is not a number as others are."),
        (
            "q,ann,bob\nq1,3,d1\nq2,3,1\n",
            [],
            "labels.csv, line 2, label: 'd1' is not a number as others are. If it means no answer, add --missing d1;"
            " if it is a category, --level nominal; if its column contains no labels, --columns gives each column a "
            "role.",
        ),
        (
            "query,judge,grade\nq,ann,3\n",
            [],
            "labels.csv, line 1, item: this column is missing; looked for item, item_id, id; the file has query, ",
        ),
        ("item|ann|bob\nx|1|2\n", [], "labels.csv, line 1: the file is divided by |; write commas, tabs or"),
        ("x,1,1\ny,1,2\n", [], "labels.csv, line 1: two columns are called '1'; a file without a heading needs --no-h"),
        (
            "x,ann,1\nx,bob,2\ny,ann,1\n",
            [],
            "labels.csv: its columns are called ann, 1, as labels are; if the first line is a row and no heading, "
            "add --no-heading and --columns.",
        ),
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
            "labels.csv, line 4, item: 'ann' labelled 'a' in line 2 already. Add a column pass, or choose",
        ),
        (
            "item,annotator,label,pass\na,ann,1,1\na,ann,0,1\n",
            [],
            "labels.csv, line 3, item: 'ann' labelled 'a' in line 2 already, also in pass 1.",
        ),
        ("a,b,1\n", ["--no-heading"], "labels.csv: without a heading, --columns must give each column a role."),
        ("a,b,1\n", ["--columns", "item,label"], "labels.csv, line 1: the row has 3 columns, --columns names 2."),
        ("a,b,1\n", ["--columns", "item,item,label"], "labels.csv: --columns names no annotator."),
        (
            "a,b,1\n",
            ["--columns", "item,label,label"],
            "labels.csv: --columns names label twice; only one column can have it.",
        ),
        ("a,b,1\n", ["--columns", "item,rating,label"], "labels.csv: --columns names rating, for a wide file,"),
        ('item,a,b\nx,"1,2\n', [], "labels.csv, line 2: the quoting is broken here"),
    ],
)
def test_a_bad_file_is_exit_code_two_and_a_sentence_with_the_line(file, capsys, text, options, said):
    assert refused(capsys, file(text), *options).startswith(said)


def test_every_mistake_is_reported_up_to_a_limit(file, capsys):
    rows = "".join(f"{item},1,maybe\n" for item in range(12))

    told = refused(capsys, file("item,a,b\n" + rows)).splitlines()

    assert len(told) == 11
    assert told[0].startswith("labels.csv, line 2, label: 'maybe'")
    assert told[-1] == "labels.csv: 2 more mistakes."


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
