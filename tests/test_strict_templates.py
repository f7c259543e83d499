"""Templates that use a name missing from their context."""

import pytest
from django.template import Context, Engine

from tests.strict_templates import UnknownName

ENGINE = Engine(builtins=["apps.common.templatetags.karat"])


class Row:
    name = "BM25"


def rendered(text: str) -> str:
    return ENGINE.from_string(text).render(Context({"row": Row(), "nothing": None, "rows": [1, 2]}))


@pytest.mark.parametrize(
    "text",
    [
        "{{ missing }}",
        "{{ row.missing }}",
        "{{ nothing.name }}",
        "{{ missing|default:0 }}",
        "{% with name=row.missing %}{% endwith %}",
        "{% if row %}{{ row.missing }}{% endif %}",
    ],
)
def test_a_missing_name_that_is_printed_or_passed_on_fails(text):
    with pytest.raises(UnknownName, match="which is missing from its context"):
        rendered(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{ row.name }}", "BM25"),
        ("{{ nothing }}", "None"),
        ("{% if missing %}yes{% else %}no{% endif %}", "no"),
        ("{% if row.missing == 1 %}yes{% else %}no{% endif %}", "no"),
        ("{% for one in missing %}yes{% empty %}no{% endfor %}", "no"),
        ("{% for one in rows %}{{ one }}{{ forloop.last }} {% endfor %}", "1False 2True "),
    ],
)
def test_conditions_and_loops_may_ask_for_a_missing_name(text, shown):
    assert rendered(text) == shown
