"""Long JSON lists are read object by object, with every mistake at its number."""

import io
import json

import pytest

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import NOT_JSON, read_list, read_objects
from apps.common.files.tabular import BLOCK_BYTES, Caps, TableFile


def source(text: str | bytes, **caps) -> TableFile:
    data = text if isinstance(text, bytes) else text.encode()
    return TableFile("export.json", io.BytesIO(data), Caps(**caps))


def objects(text: str | bytes, *, field: str = "", **caps) -> list[tuple[int, dict]]:
    errors = ErrorList()
    found = list(read_list(source(text, **caps), errors, field=field))
    assert not errors, list(errors)
    return found


def test_the_objects_of_a_list_have_numbers():
    assert objects('[{"a": 1}, {"b": {"c": [1, {"d": "]}"}]}}]') == [(1, {"a": 1}), (2, {"b": {"c": [1, {"d": "]}"}]}})]
    assert objects("\ufeff[\n]\n") == []


def test_a_list_may_be_below_a_field_of_one_object():
    text = '{"name": "pairs", "scorer": {"pairs": [{"no": 1}]}, "scale": [0, 1], "pairs": [{"a": "\\"[{"}], "rest": []}'

    assert objects(text, field="pairs") == [(1, {"a": '"[{'})]
    assert objects('{"name": "pairs"}', field="pairs") == []


def test_objects_may_lie_across_the_blocks_that_are_read():
    records = [{"text": f'é "{number}" \\ ' * 2_000, "deep": [[{"a": "{"}]]} for number in range(90)]
    text = json.dumps(records, ensure_ascii=False)
    assert len(text.encode()) > 4 * BLOCK_BYTES

    assert [record for _, record in objects(text)] == records
    assert [record for _, record in objects(json.dumps(records, indent=2))] == records


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1}, {"a": ', NOT_JSON),
        ('[{"a": 1}, {"a": "no end}]', NOT_JSON),
        ('[{"a": 1}]]', NOT_JSON),
        ('[{"a": 1}, 7, {"a": 2}]', "the list has a value that is no object"),
        ('[{"a": 1}, "b"]', "the list has a value that is no object"),
        ('[{"a": 1}, [1]]', "the list has a value that is no object"),
        ('[{"a": 1}, null]', "the list has a value that is no object"),
        (b'[{"a": 1}, {"a": "\xff"}]', "the file is not UTF-8; save it as UTF-8"),
    ],
)
def test_what_is_no_list_of_objects_is_refused_with_its_number(text, message):
    with pytest.raises(InputError) as refused:
        objects(text)

    assert refused.value.message == message
    assert refused.value.line in {1, 2}


def test_an_object_with_a_mistake_is_listed_and_the_others_are_read():
    errors = ErrorList()

    found = list(read_list(source('[{"a": 1, "a": 2}, {"b": 1}, {"c": NaN}]'), errors))

    assert found == [(2, {"b": 1})]
    assert [(error.line, error.message) for error in errors] == [
        (1, "the field 'a' appears twice"),
        (3, "NaN is not JSON; leave the field out or give a number"),
    ]


def test_a_record_that_does_not_end_is_not_collected_for_ever():
    with pytest.raises(InputError, match="longer than 1,000 bytes"):
        objects('[{"a": "' + "b" * 3 * BLOCK_BYTES + '"}]', line_bytes=1_000)


def test_lists_and_lines_are_told_apart():
    errors = ErrorList()

    assert list(read_objects(source('[{"a": 1}]'), errors)) == [(1, {"a": 1})]
    assert list(read_objects(source('{"a": 1}\n\n{"a": 2}\n'), errors)) == [(1, {"a": 1}), (3, {"a": 2})]
