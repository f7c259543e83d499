import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.files.csvsafe import restore_cell, safe_cell

SIGNS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", "＋1", "－1", "＠x"]
DANGEROUS = [*SIGNS, "  =1", "'=1", "''-1"]


@pytest.mark.parametrize("cell", DANGEROUS)
def test_a_dangerous_cell_begins_with_an_apostrophe(cell):
    assert safe_cell(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["", "plain", "'quoted'", "a=b", "1-2", "e-mail", "3 - 4"])
def test_a_harmless_cell_is_left_alone(cell):
    assert safe_cell(cell) == cell


@given(st.text() | st.text(alphabet="'=+-@＝＋－＠\t\r\n a"))
def test_safe_then_restore_is_the_identity(cell):
    assert restore_cell(safe_cell(cell)) == cell


@given(st.text(alphabet="'=+-@＝＋－＠\t\r\n a"))
def test_no_exported_cell_begins_with_a_formula_sign(cell):
    written = safe_cell(cell)

    assert not written.lstrip().startswith(tuple("=+-@＝＋－＠"))
    assert not written.startswith(("\t", "\r", "\n"))
