"""An author's wording, the checks of it, and the questions of the project that are like it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import F, Q

from apps.accounts.models import Project, User
from apps.accounts.selectors import policy
from apps.corpus.models import BlockVersion, Snapshot
from apps.queries.core.checks import Other
from apps.queries.models import Query
from apps.queries.selectors import worded_like
from apps.triples.core import checks
from apps.triples.core.checks import Check, Span, stored_answers
from apps.triples.core.evidence import quoted
from apps.triples.enums import ENDED, State
from apps.triples.formats.entry import ALL, wording_digest
from apps.triples.models import Revision, Triple
from apps.triples.selectors.retriever_hits import Hits, other_blocks, top_hits
from apps.triples.selectors.triples import expected_blocks


def digest_of_choices(
    question: str, answer: str, match: str, blocks: Iterable[tuple[str, str, Iterable[tuple[int, int]]]]
) -> str:
    """The digest of a wording, its blocks given as (id, text, marks in the text)."""
    return wording_digest(
        question, answer, match, ((outside, [text[a:b] for a, b in spans]) for outside, text, spans in blocks)
    )


def digest_of_revision(revision: Revision) -> str:
    """The same for a stored revision; its blocks should be prefetched."""
    return digest_of_choices(
        revision.question,
        revision.answer,
        ALL if revision.needs_all_blocks else "any",
        ((expected.version.block.outside_id, expected.version.text, expected.spans) for expected in revision.blocks),
    )


def questions_like(
    project: Project, person: User, question: str, limit: float, *, apart_from: int | None
) -> list[Other]:
    """Questions of live triples that may be as similar as `limit`, without others' drafts, in one statement.

    Empty for a question without content words; see `worded_like` for what may be missed.
    """
    rows = (
        Revision.objects.filter(triple__project=project, triple__current=F("pk"))
        .filter(~Q(triple__state__in=ENDED), ~Q(triple__state=State.DRAFT) | Q(triple__author=person))
        .exclude(triple=apart_from or 0)
    )
    candidates = worded_like(rows, "question", question, limit, then="triple__number")
    return [
        Other(ref=f"T-{number:04d}", question=text, state=State(state).label)
        for number, state, text in candidates.values_list("triple__number", "triple__state", "question")
    ]


class BlockChoice(NamedTuple):
    """An expected block version, by id, with the marked [start, end) offsets into its text."""

    version_id: int
    spans: tuple[tuple[int, int], ...] = ()


class Wording(NamedTuple):
    """All fields of an author's wording."""

    question: str = ""
    answer: str = ""
    blocks: tuple[BlockChoice, ...] = ()
    needs_all_blocks: bool = False
    note: str = ""
    domain: str = ""
    difficulty: str = ""
    source_id: int | None = None
    answers: tuple[tuple[str, str], ...] = ()
    """What the author says to warnings, by the key of the check."""


EMPTY = Wording()


class Marked(NamedTuple):
    """A pinned text with its marked spans, each with the marked words; and its block."""

    text: str
    spans: tuple[Span, ...]
    block: int = 0
    ref: str = ""

    @property
    def evidence(self) -> str:
        return quoted(self.text, [span[:2] for span in self.spans])


def marked(version: BlockVersion, spans: Sequence[Sequence[int]]) -> Marked:
    """The version's block should be prefetched."""
    text = version.text
    quotes = tuple(Span(start, end, text[max(start, 0) : end]) for start, end in spans)
    return Marked(text, quotes, version.block_id, version.block.outside_id)


class Work(NamedTuple):
    """The input of the checks. `apart_from` is the triple itself, `hits` those of retrievers, if searched before."""

    project: Project
    author: User
    snapshot: Snapshot
    question: str
    answer: str
    blocks: Sequence[Marked]
    needs_all_blocks: bool = False
    query: Query | None = None
    apart_from: int | None = None
    hits: Hits | None = None


def run_checks(work: Work, answers: Mapping[str, str]) -> list[Check]:
    """Every check on this wording, stops first, passes last; `answers` are the author's, by key."""
    results = _text_checks(work)
    if work.question.strip():
        results.append(_duplicate_check(work))
    if work.question.strip() and work.answer.strip() and work.blocks:
        results += _other_block_checks(work)
    return checks.settled(results, blocking=policy(work.project, "blocking_checks"), answers=answers)


def _text_checks(work: Work) -> list[Check]:
    """Of question, answer and evidence alone, without a look at anything else of the project."""
    results = checks.check_wording(work.question, work.answer) + _evidence_checks(work.blocks)
    if work.answer.strip():
        results += _answer_checks(work)
    if work.question.strip():
        results.append(_copied_check(work))
    return results


def text_stops(triple: Triple) -> list[Check]:
    """What keeps a draft from being accepted by its own texts; its blocks and its snapshot should be loaded.

    Near duplicates and other passages that may answer it only warn, and are left to those who read it.
    """
    revision = triple.revision
    work = Work(
        project=triple.project,
        author=triple.author,
        snapshot=revision.snapshot,
        question=revision.question,
        answer=revision.answer,
        blocks=[marked(expected.version, expected.spans) for expected in revision.blocks],
        needs_all_blocks=revision.needs_all_blocks,
    )
    return checks.stops(_text_checks(work))


def _evidence_checks(blocks: Sequence[Marked]) -> list[Check]:
    """Each block has evidence that is in its text."""
    if not blocks:
        return [Check(checks.STOP, "no_block", "No passage is chosen yet.")]
    results = [_in_block(checks.check_evidence(block.text, block.spans), block, blocks) for block in blocks]
    bad = [check for check in results if check.level != checks.PASS]
    if bad or len(blocks) == 1:
        return bad or results
    return [Check(checks.PASS, "evidence", f"The evidence in all {len(blocks)} passages is in the pinned texts.")]


def _in_block(check: Check, block: Marked, blocks: Sequence[Marked]) -> Check:
    return check._replace(of=block.ref, where=block.ref if len(blocks) > 1 else "")


def _answer_checks(work: Work) -> list[Check]:
    """The answer compared with the evidence.

    Blocks that are needed together are compared as one; where each alone suffices, each is compared alone.
    """
    marked_blocks = [block for block in work.blocks if block.evidence]
    if work.needs_all_blocks:
        evidence = "\n".join(block.evidence for block in marked_blocks)
        return _compared(work, evidence) if evidence else []
    results = [
        _in_block(check, block, work.blocks) for block in marked_blocks for check in _compared(work, block.evidence)
    ]
    bad = [check for check in results if check.level != checks.PASS]
    passed = {check.code: check._replace(where="") for check in results if check.level == checks.PASS}
    return bad + [check for code, check in passed.items() if code not in {one.code for one in bad}]


def _compared(work: Work, evidence: str) -> list[Check]:
    return [
        *checks.check_figures(work.answer, evidence),
        checks.check_longer(work.question, work.answer, evidence),
    ]


def _copied_check(work: Work) -> Check:
    """The block that the question copies most from."""
    limit = int(policy(work.project, "copied_run_limit"))
    texts = work.blocks or [Marked("", ())]
    results = [_in_block(checks.check_copied(work.question, block.text, limit), block, work.blocks) for block in texts]
    rank = [checks.STOP, checks.WARN, checks.PASS]
    worst = min(results, key=lambda check: rank.index(check.level))
    return worst._replace(where="") if worst.level == checks.PASS else worst


def _duplicate_check(work: Work) -> Check:
    limit = float(policy(work.project, "near_duplicate_limit"))
    alike = questions_like(work.project, work.author, work.question, limit, apart_from=work.apart_from)
    return checks.check_duplicates(work.question, alike, limit)


def _other_block_checks(work: Work) -> list[Check]:
    hits = work.hits or top_hits(work.project, work.snapshot, work.question, work.query)
    texts = [block.text for block in work.blocks]
    others = other_blocks(work.snapshot, hits, {block.block for block in work.blocks}, texts)
    return checks.check_other_blocks(work.question, work.answer, texts, others)


def work_of(project: Project, author: User, revision: Revision) -> Work:
    """A stored revision as input of the checks."""
    return Work(
        project=project,
        author=author,
        snapshot=revision.snapshot,
        question=revision.question,
        answer=revision.answer,
        blocks=[marked(expected.version, expected.spans) for expected in expected_blocks(revision)],
        needs_all_blocks=revision.needs_all_blocks,
        query=revision.triple.query,
        apart_from=revision.triple_id,
    )


def checks_of(project: Project, author: User, revision: Revision) -> list[Check]:
    """The checks on a stored revision, with its answers."""
    return run_checks(work_of(project, author, revision), stored_answers(revision.warnings))
