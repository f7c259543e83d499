"""Front matter and the tags of Jekyll and Hugo: resolved or cut, never text, and left alone in code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.corpus.formats.documents.html import read_html
from apps.corpus.formats.documents.registry import read_markdown
from apps.corpus.formats.documents.site_tags import TAGS_CUT
from tests.corpus.formats.documents.reading import one


def read(text: str) -> str:
    return one(read_markdown, text, "otters.md").text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Otters {{ site.name }} swim.", "Otters swim."),
        ("Of {{site.name}}, wet.", "Of, wet."),
        ("{%- include nav.html -%}\nOtters.", "\nOtters."),
        ("{% if wet %}Wet.{% else %}Dry.{% endif %}", "Wet.Dry."),
        ("[keys]({% link _docs/keys.md %})", "[keys](_docs/keys.md)"),
        ('[keys]({{< relref "keys.md" >}})', "[keys](keys.md)"),
        ("[keys]({{ site.baseurl }}/keys)", "[keys](/keys)"),
        ('{{ "/keys" | relative_url }}', "/keys"),
        ('{{< figure src="a.png" title="Otters" alt="Otters" caption="At night" >}}', "Otters, At night"),
        ('Many {{< glossary_tooltip text="pods" term_id="pod" >}} swim.', "Many pods swim."),
        ("{{% note %}}\nBe wet.\n{{% /note %}}", "\nBe wet.\n"),
        ("{{< youtube abc >}}", ""),
        ("A{% comment %} secret {% endcomment %}B", "AB"),
        ("{% raw %}{{ page.title }}{% endraw %}", "{{ page.title }}"),
        ('Write {{</* ref "x" */>}}.', 'Write {{< ref "x" >}}.'),
        ("{% highlight ruby linenos %}\nputs 1\n{% endhighlight %}", "```ruby\nputs 1\n```\n"),
        ("{{< highlight go >}}\nx := 1\n{{< /highlight >}}", "```go\nx := 1\n```\n"),
        ("{: .no_toc }\nOtters.", "\nOtters."),
        ("| a | b |\n| - | - |\n{% for x in y %}\n| 1 | 2 |\n{% endfor %}", "| a | b |\n| - | - |\n| 1 | 2 |\n"),
    ],
)
def test_a_tag_becomes_its_words_or_nothing(written, text):
    document = one(read_markdown, f"Begin.\n\n{written}", "otters.md")

    assert document.text == f"Begin.\n\n{text}"
    assert document.note == TAGS_CUT


@pytest.mark.parametrize(
    "text",
    [
        "```liquid\n{{ page.title }} {% include x %}\n```",
        "~~~\n{{< ref x >}}\n~~~",
        "- item\n\n  ```yaml\n  a: {{ .Values.x }}\n  ```",
        "    {% indented %}",
        "Write `{{ page.title }}` or ``{% raw %} ` ``.",
        "The formula $\\frac{{a}}{{b}}$.",
        "Open {{ and {% and never closed.",
        "## Pin {#pin}",
        'A component <A style={{ color: "red" }} />.',
    ],
)
def test_code_formulas_and_what_is_no_tag_stay_as_they_are(text):
    document = one(read_markdown, text, "otters.md")

    assert (document.text, document.note) == (text, "")


@pytest.mark.parametrize(
    "matter", ["---\ntitle: Otters\nversion: 2\n---\n", '+++\ntitle = "Otters"\nversion = 2\nat = 07:30:00\n+++\n']
)
def test_fields_of_front_matter_stand_where_the_page_names_them(matter):
    document = one(read_markdown, f"{matter}# {{{{ page.title | upcase }}}}\n\nOf {{{{< param version >}}}}.\n")

    assert (document.title, document.text) == ("Otters", "# Otters\n\nOf 2.\n")
    assert document.metadata["version"] == 2


def test_a_page_of_html_with_front_matter_is_one_of_these_sites():
    page = "<p>About {{ page.title }}{% include x.html %}.</p><pre>{{ x }}</pre>{% highlight js %}a<b{% endhighlight %}"

    document = one(read_html, f"---\ntitle: Otters\nlayout: default\n---\n{page}")

    assert document.text == "About Otters.\n\n```\n{{ x }}\n```\n\n```\na<b\n```"
    assert (document.title, document.metadata) == ("Otters", {"layout": "default"})
    assert one(read_html, "<p>{{ vue.x }}</p>").text == "{{ vue.x }}"


TAGS = [
    "{{ site.x }}",
    "{{< a >}}",
    "{{% b %}}",
    "{% c %}",
    "{%- if d -%}",
    "{% raw %}",
    "{{< /a >}}",
    "{{ page.y | z }}",
]
tags = st.sampled_from(TAGS)


@given(st.lists(st.one_of(tags, st.sampled_from(["otters", "\n\n", "swim.", "- at", "| night |"])), max_size=20))
def test_no_tag_is_in_the_text_and_no_word_is_lost(parts):
    text = read("Begin " + " ".join(parts))

    assert not any(sign in text for sign in ("\0", "{{", "{%"))
    assert text.split() == ["Begin", *(word for part in parts if part not in TAGS for word in part.split())]
