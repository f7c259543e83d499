"""What the client shows in a notebook, and the frames that it makes where pandas or polars is."""

import sys

import pytest

from apps.cli.client.tables import Comparison, Table, leaderboard

SCRIPT = "<script>alert('a & b')</script>"


def scored(number, run, **scores):
    figures = [{"measure": name, "value": value, "low": 0.1, "high": 0.9, "n": 5} for name, value in scores.items()]
    return {"id": number, "run": run, "tag": f"run-{run}", "scores": figures}


def board(*evaluations, measure=""):
    return leaderboard(evaluations, measure, title="gold/v1", lowest_first=lambda name: name == "Cost")


@pytest.mark.parametrize("columns", [(), ("first.text", "blocks", SCRIPT)], ids=["every column", "chosen columns"])
def test_no_text_of_a_table_is_markup(columns):
    row = {"query": SCRIPT, "blocks": [SCRIPT], "first": {"text": SCRIPT}, SCRIPT: SCRIPT}

    shown = Table([row], title=SCRIPT, columns=columns)._repr_html_()

    assert "<script" not in shown
    assert shown.count("&lt;script&gt;alert(&#x27;a &amp; b&#x27;)&lt;/script&gt;") >= 4


def test_no_text_of_a_comparison_is_markup():
    shown = Comparison({"baseline": SCRIPT, "candidate": 2, "verdict": SCRIPT, "measures": [{"measure": SCRIPT}]})

    assert "<script" not in shown._repr_html_()
    assert shown._repr_html_().count("&lt;script&gt;") == 3


def test_a_cell_shows_what_is_missing_and_cuts_what_is_long():
    shown = Table([{"a": None, "b": 0.25, "c": 3, "d": True, "e": ["x", "y"], "f": "long " * 100}])._repr_html_()

    assert all(cell in shown for cell in (">–<", ">0.2500<", ">3<", ">True<", ">x, y<"))
    assert "…</td>" in shown
    assert len(shown) < 800


def test_a_long_table_says_how_many_rows_it_does_not_show():
    shown = Table({"n": number} for number in range(1_350))._repr_html_()

    assert shown.count("<td>") == 100
    assert "1,250 more rows are not shown." in shown
    assert "not shown" not in Table([{"n": 1}])._repr_html_()


ROWS = [{"id": 1, "first": None, "blocks": []}, {"id": 2, "first": {"text": "t", "pages": [3]}, "blocks": ["a"]}]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_frame_has_a_column_for_each_part_of_a_row(package):
    pytest.importorskip(package)

    frame = getattr(Table(ROWS), f"to_{package}")()

    assert list(frame.columns) == ["id", "blocks", "first.text", "first.pages"]
    assert list(frame["id"]) == [1, 2]
    assert list(frame["first.text"])[1] == "t"
    assert len(getattr(Table(columns=("id",)), f"to_{package}")()) == 0
    assert list(getattr(Comparison({"measures": [{"measure": "RR"}]}), f"to_{package}")()["measure"]) == ["RR"]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_without_the_package_the_error_names_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ImportError, match=f"{package} must be installed"):
        getattr(Table(), f"to_{package}")()


def test_of_each_run_and_measure_the_newest_score_counts():
    rows = board(scored(4, 1, RR=0.3), scored(3, 2, RR=0.5, P=0.2), scored(2, 1, RR=0.9, P=0.4))

    assert [(row["tag"], row["evaluation"], row["RR"], row["P"]) for row in rows] == [
        ("run-2", 3, 0.5, 0.2),
        ("run-1", 4, 0.3, 0.4),
    ]
    assert (rows[0]["low"], rows[0]["high"], rows[0]["n"]) == (0.1, 0.9, 5)


def test_a_leaderboard_is_best_first_and_runs_without_the_measure_are_last():
    runs = scored(1, 1, RR=0.2, Cost=9.0), scored(2, 2, RR=0.4, Cost=30.0), scored(3, 3, P=1.0)

    assert [row["run"] for row in board(*runs)] == [2, 1, 3]
    assert [row["run"] for row in board(*runs, measure="Cost")] == [1, 2, 3]
    assert board(*runs, measure="Cost").columns[3] == "Cost"
    assert board() == []
    assert "<table>" in board()._repr_html_()
