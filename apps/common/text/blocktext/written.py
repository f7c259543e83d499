"""The paragraphs of a text without markup: every line, blank and sign as it was written."""

from itertools import groupby

from apps.common.text.blocktext.lines import lines_of
from apps.common.text.blocktext.pieces import Node, Run


def paragraphs(text: str) -> list[Node]:
    """The elements of `text` in order, one for each run of lines that are not blank."""
    nodes = []
    for is_blank, lines in groupby(lines_of(text), key=lambda line: line.is_blank):
        if not is_blank:
            run = list(lines)
            start, end = run[0].start, run[-1].end
            nodes.append(Node("p", ' class="fixed-lines"', pieces=[Run(start, end)], start=start, end=end))
    return nodes
