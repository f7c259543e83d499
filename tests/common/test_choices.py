"""Another value than those of a field is answered with the values there are."""

import pytest
from rest_framework import serializers

from apps.common.web.forms import MOST_NAMED, ChoiceField


class Meal(serializers.Serializer):
    kind = ChoiceField(["soup", "bread"])
    table = ChoiceField(range(MOST_NAMED + 1), required=False)


@pytest.mark.parametrize("sent", ["cake", "", 7, None, ["soup"]])
def test_what_may_be_sent_is_named(sent):
    meal = Meal(data={"kind": sent})

    assert not meal.is_valid()
    [error] = meal.errors["kind"]
    assert error.code == ("null" if sent is None else "invalid_choice")
    assert sent is None or error == f'"{sent}" is none of: soup, bread.'


def test_a_long_list_is_not_recited():
    meal = Meal(data={"kind": "soup", "table": 99})

    assert not meal.is_valid()
    assert meal.errors["table"] == ['"99" is not a valid choice.']
