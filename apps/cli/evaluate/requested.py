"""Answers requested from a system: every question of a release is asked, and the answers are saved where wanted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from apps.cli.evaluate import options, retrieval
from apps.cli.evaluate.answers import AnswerFile, write_results, write_run
from apps.cli.evaluate.program import CommandEngine
from apps.cli.evaluate.progress import Progress
from apps.cli.evaluate.released import ReleaseSplit
from apps.cli.evaluate.scoring import Answered, fit_answers, from_answers
from apps.common.digests import digest_of
from apps.metrics.columns import Judged
from apps.metrics.files.run_warnings import remarks_on_blocks
from apps.metrics.vocabulary import Vocabulary

ANSWERS_FOLDER = Path(".karat-eval")
NAMED = 3


class NotAnswered(Exception):
    """A system left queries without an answer; the message is a sentence."""


def from_system(
    args: argparse.Namespace,
    engine: options.RemoteEngine,
    pace: options.Pace,
    headers: dict[str, str],
    release: ReleaseSplit,
    judged: Judged | None,
    blocks: Vocabulary,
) -> Answered:
    """The answers to every question. Raises NotAnswered when some are missing; the others are stored for next time."""
    identity = {
        "release": release.digest or release.name,
        "split": release.split,
        "system": {key: value for key, value in engine.identity().items() if key != "auth"},
        "depth": args.depth,
    }
    file = AnswerFile(args.answers or ANSWERS_FOLDER / f"{digest_of(identity)[:16]}.jsonl", identity)
    progress = Progress(sys.stderr, is_quiet=args.quiet)
    asked = release.asked
    outcome = retrieval.retrieve(engine, asked, file, k=args.depth, pace=pace, headers=headers, progress=progress)
    if len(outcome.answers) < len(asked):
        raise NotAnswered(_unanswered(outcome, len(asked), file))
    answers = [outcome.answers[query.query_id] for query in asked]
    name = args.name or (engine.called if isinstance(engine, CommandEngine) else engine.address)
    if args.save_run:
        write_run(args.save_run, name, answers)
    if args.save_results:
        write_results(args.save_results, answers)
    if not args.answers:
        file.remove()
    words = ""
    if args.fit_ids:
        answers, words = fit_answers(answers, judged, release, blocks)
    answered = from_answers(name, answers, release, judged, blocks)
    remarks = [words] if words else []
    if not words and judged is not None and answered.ranked is not None:
        remarks = list(remarks_on_blocks(answered.ranked, answered.ids, judged))
    for remark in remarks:
        print(f"{name}: {remark}", file=sys.stderr)
    return answered


def _unanswered(outcome: retrieval.RetrievalOutcome, total: int, file: AnswerFile) -> str:
    """Which queries have no answer, why, and what to do."""
    left = total - len(outcome.answers)
    by_reason: dict[str, list[str]] = {}
    for query, reason in outcome.failed.items():
        by_reason.setdefault(reason, []).append(query)
    sentences = [f"{left:,} of {total:,} queries have no answer, so nothing was scored{_unsent(outcome, left)}."]
    sentences += [f"{some(queries)}: {reason}" for reason, queries in list(by_reason.items())[:NAMED]]
    if others := sum(map(len, list(by_reason.values())[NAMED:])):
        sentences.append(f"{others:,} more for other reasons.")
    if outcome.answers:
        sentences.append(f"The answers so far are saved in {file.path}. Run the same command again to continue.")
    return " ".join(sentences)


def _unsent(outcome: retrieval.RetrievalOutcome, left: int) -> str:
    """How many queries failed and how many were not sent, where some were not."""
    unsent = left - len(outcome.failed)
    if not unsent:
        return ""
    return f": {len(outcome.failed):,} failed, {unsent:,} {'was' if unsent == 1 else 'were'} not sent"


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
