import gzip
import io
from types import SimpleNamespace

import pytest

from apps.common.files.tables import opened
from apps.common.files.tabular import read_rows


def rows(path) -> list[list[str]]:
    with opened(path) as (source, delimiter):
        return [cells for _, cells in read_rows(source, delimiter=delimiter)]


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "a\tb\n1\t2\n", "a;b\n1;2\n", "\ufeffa,b\r\n1,2"])
def test_the_first_line_says_what_divides_the_columns(tmp_path, text):
    path = tmp_path / "table"
    path.write_bytes(text.encode())

    assert rows(path) == [["a", "b"], ["1", "2"]]


def test_a_table_may_be_gzipped(tmp_path):
    path = tmp_path / "table"
    path.write_bytes(gzip.compress(b"a;b\n1;2\n"))

    assert rows(path) == [["a", "b"], ["1", "2"]]


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a\tb,c\n1\t2\n")))

    assert rows("-") == [["a", "b,c"], ["1", "2"]]
