"""reStructuredText, with what Sphinx adds to it."""

import pytest

from apps.corpus.formats.documents.rst import read_rst
from tests.corpus.formats.documents.reading import one, reason


def read(text: str) -> str:
    return one(read_rst, text, "guide.rst").text


def test_headings_tables_and_code_become_markdown():
    code = ".. code-block:: yaml\n   :linenos:\n\n   a: 1\n\n"
    text = f"Guide\n=====\n\nKeys\n----\n\n{code}== ==\na  b\n== ==\n1  2\n== ==\n"

    document = one(read_rst, text, "guide.rst")

    assert document.title == "Guide"
    assert document.text == "# Guide\n\n## Keys\n\n```yaml\na: 1\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        (
            ".. tabs::\n\n   .. tab:: Linux\n\n      Use *apt*.\n\n.. versionadded:: 3.2\n   More.\n",
            "Linux\n\nUse *apt*.\n\n3.2 More.",
        ),
        ("See :ref:`the keys <keys>` and :py:class:`~app.Key`.\n", "See the keys and `app.Key`."),
        ("Text.\n\n.. raw:: html\n\n   <script>alert(1)</script>\n", "Text."),
        ("Text.\n\n.. toctree::\n   :maxdepth: 2\n\n   one\n   two\n", "Text."),
        (
            "Guide\n=====\n\n.. contents::\n\n.. |today| date::\n\nKeys\n----\n\nRead on |today|.\n",
            "# Guide\n\n## Keys\n\nRead on |today|.",
        ),
        (
            ".. |name| replace:: Karat\n.. |whole| replace:: the |name| server\n\nStart |whole|, then |Whole|.\n",
            "Start the Karat server, then the Karat server.",
        ),
    ],
    ids=["directives", "roles", "raw HTML", "a tree of pages", "contents and the day", "substitutions"],
)
def test_unknown_markup_keeps_its_words_and_steering_of_a_builder_is_left_out(text, markdown):
    assert read(text) == markdown


def test_what_docutils_cannot_read_stays_as_it_was_written():
    assert ":unknown: x" in read("Text.\n\n.. note::\n   :unknown: x\n\n   Keep this.\n")


def test_a_paragraph_with_very_much_markup_keeps_its_words():
    words = "*so* " * 2_000

    assert read(f"Text with *stress*.\n\n{words}\n").split("\n\n") == [
        "Text with *stress*.",
        words.strip().replace("*", "\\*"),
    ]


@pytest.mark.parametrize("directive", ["include:: /etc/passwd", "raw:: html\n   :file: /etc/passwd"])
def test_no_other_file_is_read(directive):
    assert "root:" not in read(f"Text.\n\n.. {directive}\n")


def test_substitutions_that_grow_without_end_are_refused_before_they_are_made():
    lines = [".. |a0| replace:: word"]
    lines += [f".. |a{level}| replace:: " + f"|a{level - 1}| " * 10 for level in range(1, 9)]

    assert (
        reason(read_rst, "\n".join([*lines, "", "|a8|", ""])) == "reStructuredText whose substitutions grow without end"
    )
