from apps.common.errors import InputError
from apps.common.files.faults import MOST_GROUPS, ErrorList, FaultGroups, fault


def group_of(*errors: InputError) -> list[tuple[str, int, list[int]]]:
    groups = FaultGroups()
    for error in errors:
        groups.add(error)
    return [(group.message, group.count, group.lines) for group in groups]


def test_the_same_message_is_one_group_with_its_first_lines():
    found = group_of(*(fault("a.md", line, "", f"# Part {line}", "this is not JSON") for line in range(1, 84)))

    assert found == [("this is not JSON", 83, [1, 2, 3, 4, 5])]


def test_values_numbers_and_quoted_words_do_not_divide_a_group():
    found = group_of(
        fault("a.csv", 2, "block_id", "b1", "the block is in the file twice, first in line 1"),
        fault("a.csv", 9, "block_id", "b7", "the block is in the file twice, first in line 8"),
        fault("a.csv", 4, "query", "q4", "'q4' is not a query of this project"),
        fault("a.csv", 5, "query", "q" * 100, f"'{'q' * 100}' is not a query of this project"),
        fault("a.csv", 6, "rank", "x", "x is not a whole number"),
        fault("a.csv", 7, "rank", "y", "y is not a whole number"),
    )

    assert [(count, lines) for _, count, lines in found] == [(2, [2, 9]), (2, [4, 5]), (2, [6, 7])]


def test_another_field_is_another_mistake_and_the_largest_group_is_first():
    found = group_of(
        fault("a.csv", 1, "text", "", "is missing"),
        fault("a.csv", 1, "title", "", "is missing"),
        fault("a.csv", 2, "title", "", "is missing"),
    )

    assert [count for _, count, _ in found] == [2, 1]


def test_the_number_of_groups_is_bounded():
    words = ["".join(chr(97 + int(digit)) for digit in str(number)) for number in range(2 * MOST_GROUPS)]

    assert len(group_of(*(fault("a", 1, word, "", "is wrong") for word in words))) == MOST_GROUPS


def test_two_readers_of_one_file_make_one_list():
    first, second = ErrorList(limit=2), ErrorList()
    for line in (1, 5, 9):
        first.add(fault("a.csv", line, "text", "", "is missing"))
    second.add(fault("a.csv", 3, "text", "", "is missing"))

    second.absorb(first)

    assert (second.total, len(second.listed)) == (4, 3)
    assert second.groups.as_json() == [
        {"field": "text", "message": "is missing", "value": "", "count": 4, "lines": [1, 3, 5, 9]}
    ]
