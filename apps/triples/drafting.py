"""What an author hands in, and the checks that look at it."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.accounts.models import Project, User
from apps.corpus.models import BlockVersion
from apps.triples import checks
from apps.triples.checks import Check, Span
from apps.triples.evidence import quoted
from apps.triples.models import Revision
from apps.triples.selectors import expected_blocks, other_questions

DEFAULT_RUN_LIMIT = 6
DEFAULT_LIKENESS_LIMIT = 0.85


class BlockChoice(NamedTuple):
    """An expected block version, by id, with the marked [start, end) offsets into its text."""

    version_id: int
    spans: tuple[tuple[int, int], ...] = ()


class Wording(NamedTuple):
    """All that an author writes."""

    question: str = ""
    answer: str = ""
    blocks: tuple[BlockChoice, ...] = ()
    needs_all_blocks: bool = False
    note: str = ""
    domain: str = ""
    difficulty: str = ""
    source_id: int | None = None


EMPTY = Wording()


class Marked(NamedTuple):
    """A pinned text and the spans marked in it, each with the words that were marked."""

    text: str
    spans: tuple[Span, ...]


def marked(version: BlockVersion, spans: Sequence[Sequence[int]]) -> Marked:
    text = version.text
    return Marked(text, tuple(Span(start, end, text[max(start, 0) : end]) for start, end in spans))


def _evidence_checks(blocks: Sequence[Marked]) -> list[Check]:
    if not blocks:
        return [Check(checks.STOP, "no_block", "No block is chosen yet.")]
    found = [checks.check_evidence(block.text, block.spans) for block in blocks]
    bad = [check for check in found if check.level != checks.PASS]
    return bad or found[:1]


def run_checks(
    *,
    project: Project,
    author: User,
    question: str,
    answer: str,
    blocks: Sequence[Marked],
    apart_from: int | None,
) -> list[Check]:
    """Every check on this wording, what stops first, what passes last. `apart_from` is the triple itself."""
    policies = project.policies
    found = checks.check_wording(question, answer) + _evidence_checks(blocks)
    evidence = "\n".join(quoted(block.text, [span[:2] for span in block.spans]) for block in blocks)
    if answer.strip() and evidence:
        found.append(checks.check_figures(answer, evidence))
    if question.strip():
        text = "\n".join(block.text for block in blocks)
        found.append(checks.check_copied(question, text, int(policies.get("copied_run_limit", DEFAULT_RUN_LIMIT))))
        found.append(
            checks.check_duplicates(
                question,
                other_questions(project, author, apart_from=apart_from),
                float(policies.get("near_duplicate_limit", DEFAULT_LIKENESS_LIMIT)),
            )
        )
    rank = {checks.STOP: 0, checks.WARN: 1, checks.PASS: 2}
    return sorted(found, key=lambda check: rank[check.level])


def checks_of(project: Project, author: User, revision: Revision) -> list[Check]:
    """The checks on a stored revision."""
    blocks = [marked(expected.version, expected.spans) for expected in expected_blocks(revision)]
    return run_checks(
        project=project,
        author=author,
        question=revision.question,
        answer=revision.answer,
        blocks=blocks,
        apart_from=revision.triple_id,
    )
