"""The measures by hits once more, without anything of the product: sets, loops, and a table for common words.

Slow and plain on purpose: what the product computes with arrays and bits is compared with this, question by question.
"""

import re
import unicodedata


def words(text):
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def common(one, other):
    """The length of the longest common subsequence, by the table of the textbook."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one, 1):
        for j, right in enumerate(other, 1):
            table[i][j] = table[i - 1][j - 1] + 1 if left == right else max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]


def held(evidence, text):
    """How many of the evidence's words stand in the text in order, in any stretch of twice as many words."""
    wanted, given = words(evidence), words(text)
    starts = range(max(1, len(given) - 2 * len(wanted) + 1))
    return max(common(wanted, given[start : start + 2 * len(wanted)]) for start in starts)


def is_hit(rule, block, passage):
    if rule == "block":
        return passage.id == block.block_id
    if rule == "document":
        return passage.document_id == block.document_id
    if rule == "pages":
        mine, theirs = block.pages, passage.pages
        same = passage.document_id == block.document_id
        return (
            same
            and theirs is not None
            and bool(set(range(mine[0], mine[1] + 1)) & set(range(theirs[0], theirs[1] + 1)))
        )
    total = sum(len(words(text)) for text in block.evidence)
    return sum(held(text, passage.text) for text in block.evidence) * 5 >= total * 4


def values(rule, question, passages, k):
    """Each measure at k for one question: by name."""
    first, right, found = 0, 0, set()
    for rank, passage in enumerate(passages, 1):
        blocks = {number for number, block in enumerate(question.expected) if is_hit(rule, block, passage)}
        if passage in passages[: rank - 1]:
            blocks = set()
        if blocks and not first:
            first = rank
        if rank <= k:
            right += bool(blocks)
            found |= blocks
    needed = len(question.expected) if question.needs_all else 1
    return {
        "Success": float(right > 0),
        "FailureRate": float(right == 0),
        "RR": 1 / first if first else 0.0,
        "P": right / k,
        "Recall": len(found) / len(question.expected),
        "Coverage": min(len(found), needed) / needed,
        "Sufficient": float(len(found) >= needed),
    }
