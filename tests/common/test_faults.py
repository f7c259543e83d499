from apps.common.files.faults import ErrorList, as_line, as_row, errors_as_csv, fault


def test_an_error_list_keeps_the_first_and_counts_the_rest():
    errors = ErrorList(limit=2)
    for line in (1, 2, 3):
        errors.add(fault("a.csv", line, "", "", "is wrong"))

    assert [error.line for error in errors] == [1, 2]
    assert (errors.total, errors.unlisted) == (3, 1)


def test_a_line_names_file_line_field_and_value():
    assert as_line(fault("a.csv", 7, "grade", "x", "is not a number")) == ("a.csv, line 7, grade: 'x': is not a number")


def test_a_shown_value_is_one_short_printable_line():
    error = fault("a.csv", 1, "text", "a\nb\x1b" + "c" * 200, "is too long")

    assert error.value.startswith("a�b�c")
    assert len(error.value) == 80


def test_the_download_has_its_columns_and_no_formula():
    rows = [as_row(fault("=cmd.csv", 2, "id", "-1", "is bad"))]

    assert errors_as_csv(rows) == "\ufefffile,line,field,value,message\n'=cmd.csv,2,id,'-1,is bad\n"
