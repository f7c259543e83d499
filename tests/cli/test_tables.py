from apps.cli.arguments import aligned, delimited

ROWS = [["run", "mean"], ["bm25", "0.31"], ["a", "0.4000"]]


def test_columns_are_aligned_the_first_ones_to_the_left():
    assert aligned(ROWS).splitlines() == ["run     mean", "bm25    0.31", "a     0.4000"]
    assert aligned(ROWS, first_left=2).splitlines() == ["run   mean", "bm25  0.31", "a     0.4000"]


def test_a_heading_without_rows_is_nothing():
    assert (aligned(ROWS[:1]), aligned([])) == ("", "")


def test_a_cell_that_contains_the_delimiter_is_quoted():
    assert delimited([["run", "n"], ["a,b", 3]], ",") == 'run,n\n"a,b",3\n'
    assert delimited([["a,b", None]], "\t") == "a,b\t\n"
