"""Contexts of RAG evaluation files that have no ids: matched to passages, and shown in the plan of the import."""

from __future__ import annotations

from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import Fix, ImportPlan
from apps.corpus.models import Snapshot
from apps.corpus.selectors.text_matching import match_texts
from apps.triples.formats.contexts import BY_ID, BY_TEXT, NEARLY, RULE, UNKNOWN, Contexts
from apps.triples.formats.rag import texts_without_ids


def matched_contexts(source: TableFile, snapshot: Snapshot | None, *, takes_near: bool) -> Contexts:
    """The passages of all contexts of a file that name none. The file is at its beginning, before and after.

    Without a snapshot nothing is matched: the comparison of the entries says that there is none.
    """
    if snapshot is None:
        return Contexts(where="this project", takes_near=takes_near)
    matches = match_texts(snapshot, texts_without_ids(source))
    source.rewind()
    return Contexts(matches, where=f"{snapshot.corpus.name} {snapshot.name}", takes_near=takes_near)


def show_contexts(plan: ImportPlan, contexts: Contexts) -> None:
    """Say in the plan how many contexts were matched how, and offer to take those that nearly match, or not to."""
    counts = contexts.counts
    if counts[BY_TEXT] or counts[NEARLY] or counts[UNKNOWN]:
        found = [f"{counts[BY_ID]:,} by id"] if counts[BY_ID] else []
        found += [f"{counts[BY_TEXT]:,} by text", f"{counts[NEARLY]:,} nearly", f"{counts[UNKNOWN]:,} not at all"]
        plan.notes.append(f"Contexts matched in {contexts.where}: {', '.join(found)}.")
    if counts[NEARLY]:
        plan.fixes.append(_fix(contexts))


def _fix(contexts: Contexts) -> Fix:
    number = contexts.counts[NEARLY]
    counted = "1 context is" if number == 1 else f"{number:,} contexts are"
    if contexts.takes_near:
        words = f"{counted} the passage that has {RULE}: {contexts.example}."
        return Fix("near-contexts-undo", words, "Undo", {"near": False})
    words = f"{counted} nearly a passage, which has {RULE}: {contexts.example}."
    return Fix("near-contexts", words, "Match it" if number == 1 else f"Match all {number:,}", {"near": True})
