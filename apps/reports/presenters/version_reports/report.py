"""The report of a frozen version: its contents, what it was made from, and the scores of every run on it."""

from __future__ import annotations

from datetime import datetime

from apps.evaluation.presenters.hit_score_tables import LOWER_END
from apps.goldsets.models import Version
from apps.goldsets.rules import without_grades
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE
from apps.reports.core.document import Document
from apps.reports.core.version_document import ReleaseSummary, released_document
from apps.reports.presenters.version_reports.boards import negative_blocks, scored_boards, split_board, strata_sections
from apps.reports.presenters.version_reports.gaps import gap_blocks
from apps.reports.presenters.version_reports.questions import (
    VersionQuestions,
    agreement_facts,
    basis_facts,
    counts_table,
    decision_blocks,
    digest_facts,
    guideline_texts,
    lead,
    sources_table,
)
from apps.reports.selectors.version_facts import facts_of

REVOKED = "It contains material whose permission has been revoked; downloads leave that out."


def version_report(version: Version, *, is_blind: bool, at: datetime) -> Document:
    """The report names no person and shows no single query.

    `is_blind`: for somebody who still judges, so without anything that tells grades. `at` is when permissions have to
    be valid.
    """
    facts = facts_of(version, at=at)
    manifest = without_grades(version.manifest) if is_blind else version.manifest
    boards, questions = scored_boards(version), VersionQuestions(version, facts.flags)
    return released_document(
        ReleaseSummary(
            name=f"{version.gold_set.name} {version.label}, {version.get_state_display().lower()}",
            lead=lead(version),
            about=[
                *filter(None, [manifest["note"]]),
                *([REVOKED] if facts.revoked else []),
                *([f"Scores on Q&As: {LOWER_END}"] if any(board.hit for board in boards) else []),
            ],
            counts=counts_table(manifest["splits"]),
            boards=[split_board(board) for board in boards],
            strata=strata_sections(questions, boards),
            negatives=[] if is_blind else negative_blocks(version),
            agreement=agreement_facts(version),
            decisions=decision_blocks(questions, manifest),
            guideline=guideline_texts(version),
            sources=sources_table(manifest["sources"]) if manifest["sources"] else None,
            gaps=gap_blocks(questions, boards, facts, manifest, is_blind=is_blind),
            basis=basis_facts(manifest),
            digests=digest_facts(manifest),
            confidence=DEFAULT_CONFIDENCE,
        )
    )
