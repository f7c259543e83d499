"""AsciiDoc becomes Markdown with its structure, and loses no words."""

import io

import pytest

from apps.corpus.formats.documents.recognition import recognise
from apps.corpus.formats.documents.registry import KINDS, asciidoc_as_markdown

TEXT = """= Otters
:toc:

Otters are *wet*. See https://x.example/a[the page] and <<food,Food>>.

// a remark
////
and a longer one
////
== Food

.What they eat
* Fish
** Small ones
- Crabs

. First
. Second

[source,python]
----
= no heading
----

[cols="1,1"]
|===
|Name |Price

|Eel
|3 and
more
|Crab |4
|===

CPU:: The processor.
"""
MARKDOWN = """# Otters

Otters are **wet**. See [the page](https://x.example/a) and Food.

## Food

**What they eat**

- Fish
  - Small ones
- Crabs

1. First
1. Second

```
= no heading
```

| Name | Price |
| --- | --- |
| Eel | 3 and more |
| Crab | 4 |

**CPU** The processor.
"""


def test_its_structure_is_kept():
    blocks = [block.strip() for block in asciidoc_as_markdown(TEXT).split("\n\n") if block.strip()]

    assert blocks == [block.strip() for block in MARKDOWN.split("\n\n")]


@pytest.mark.parametrize("text", ["|===\n|a |b\n|c\n|===\n", "|===\nno cell\n|===\n", "----\nnever closed", "|==="])
def test_what_does_not_come_out_even_keeps_its_words(text):
    words = {word for word in text.replace("|", " ").split() if word.isalpha()}

    assert words <= set(asciidoc_as_markdown(text).replace("|", " ").split())


def test_it_is_known_by_its_name():
    assert recognise("docs/a.adoc", io.BytesIO(b"= Otters\n\nWet.\n")) == "asciidoc"
    assert KINDS["asciidoc"].title == "AsciiDoc"


SEPARATED = "| Name | Price |\n| --- | --- |\n| Eel, fresh | 3 |\n| Crab | 4 |"


@pytest.mark.parametrize(
    "text",
    [
        ',===\nName,Price\n"Eel, fresh",3\nCrab,4\n,===\n',
        ":===\nName:Price\nEel, fresh:3\nCrab:4\n:===\n",
        '[%header,format=csv]\n|===\nName,Price\n"Eel, fresh",3\n\nCrab,4\n|===\n',
        "[format=dsv]\n|===\nName:Price\nEel, fresh:3\nCrab:4\n|===\n",
        '[format="csv", separator=;]\n|===\nName;Price\nEel, fresh;3\nCrab;4\n|===\n',
        "[format=tsv]\n|===\nName\tPrice\nEel, fresh\t3\nCrab\t4\n|===\n",
        ',===\nName,Price\n"Eel,\nfresh",3\nCrab,4\n,===\n',
        "[separator=!]\n|===\n!Name !Price\n\n!Eel, fresh\n!3\n!Crab !4\n|===\n",
    ],
)
def test_a_table_of_separated_cells_is_a_table(text):
    assert asciidoc_as_markdown(text).strip() == SEPARATED


@pytest.mark.parametrize(
    "text", [",===\nName,Price\nEel\n,===\n", ',===\nName,"Price\n,===\n', "[format=csv,separator=]\n|===\na,b\n|===\n"]
)
def test_separated_cells_that_do_not_come_out_even_keep_their_words(text):
    assert all(word in asciidoc_as_markdown(text) for word in ("Name", "Price") if word in text)
