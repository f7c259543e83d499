"""Checks queries of a project on their way in, one or many: reads what `check_query` compares them with."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from apps.accounts.models import Project
from apps.accounts.selectors import policy
from apps.corpus.models import SnapshotBlock
from apps.corpus.selectors.search import latest_snapshots, search_latest
from apps.queries.core.checks import (
    ComparedWith,
    LikeIndex,
    Other,
    Passage,
    Remark,
    RunIndex,
    check_query,
    language_of,
    usual_languages,
    words,
)
from apps.queries.core.naming import VARIANT_OF
from apps.queries.enums import CheckEffect, QueryCheck
from apps.queries.models import Query
from apps.queries.selectors import live_queries, worded_like

WRITTEN = ("text", "intent", "description", "label")
"""What people write in a query: searched for personal data."""
LANGUAGES_OF = 500
"""So many of the newest queries say which languages are usual."""
MOST_WORDS = 5_000_000
MOST_HITS = 10


class QueryGate:
    """The checks of a project, for one query, or for those of a file.

    For one the database is searched. For many (`is_import`) queries and passages are read once, at the first query that
    needs them, so that the work grows with the file and not with its square; at most `MOST_WORDS` words of passages are
    read, and `note` says so.
    """

    def __init__(self, project: Project, *, is_import: bool = False) -> None:
        self.project = project
        self.effects = {str(check): str(policy(project, f"query_{check}")) for check in QueryCheck}
        self._run_limit = int(policy(project, "copied_run_limit"))
        self._like_limit = float(policy(project, "near_duplicate_limit"))
        self._is_import = is_import

    def expect(self, texts: Iterable[str]) -> None:
        """Count the languages of queries that come in together."""
        self._languages.update(map(language_of, texts))

    def remarks(self, query_id: str, written: Mapping[str, str], metadata: Mapping[str, Any]) -> list[Remark]:
        """What the checks find in the words of a query; only what is new of `written` has to be given.

        A variant repeats its original, and is not compared with other queries.
        """
        text = written.get("text", "")
        if not text or metadata.get(VARIANT_OF):
            return check_query(written, ComparedWith(), {QueryCheck.PERSONAL: self.effects[QueryCheck.PERSONAL]})
        beside = ComparedWith(
            others=[other for other in self._others(text) if other.ref != query_id],
            passages=self._passages(text),
            languages=usual_languages(self._languages),
            run_limit=self._run_limit,
            like_limit=self._like_limit,
        )
        remarks = check_query(written, beside, self.effects)
        if self._is_import:
            self._index.add(Other(query_id, text))
        return remarks

    @property
    def note(self) -> str:
        """What was not compared, as a sentence; "" for nothing."""
        runs = self.__dict__.get("_runs")
        if runs is None or not runs.unread:
            return ""
        return f"Copied words were looked for in the first {runs.read:,} of {runs.read + runs.unread:,} passages."

    @cached_property
    def _languages(self) -> Counter[str]:
        newest = live_queries(self.project).order_by("-pk").values_list("text", flat=True)
        return Counter(map(language_of, newest[:LANGUAGES_OF]))

    def _others(self, text: str) -> Sequence[Other]:
        if self._is_import:
            return self._index.like(text, self._like_limit)
        same = self._originals.filter(text__iexact=text).order_by("outside_id")[:2]
        like = worded_like(self._originals, "text", text, self._like_limit, then="outside_id")
        return [Other(*row) for rows in (same, like) for row in rows.values_list("outside_id", "text")]

    @property
    def _originals(self) -> Any:
        return live_queries(self.project).exclude(metadata__has_key=VARIANT_OF)

    @cached_property
    def _index(self) -> LikeIndex:
        rows = self._originals.values_list("outside_id", "text")
        return LikeIndex(Other(*row) for row in rows.iterator())

    def _passages(self, text: str) -> Sequence[Passage]:
        if len(words(text)) <= self._run_limit:
            return []
        if self._is_import:
            return self._runs.holding(text)
        hits = search_latest(self.project, text, limit=MOST_HITS)
        return [Passage(hit.block.outside_id, hit.version.text) for hit in hits]

    @cached_property
    def _runs(self) -> RunIndex:
        entries = SnapshotBlock.objects.filter(snapshot__in=latest_snapshots(self.project)).order_by("pk")
        rows = entries.values_list("block__outside_id", "version__text").iterator()
        return RunIndex((Passage(*row) for row in rows), self._run_limit + 1, most_words=MOST_WORDS)


def blocked(remarks: Iterable[Remark]) -> Remark | None:
    """The first that keeps its query out."""
    return next((remark for remark in remarks if remark.effect == CheckEffect.BLOCK), None)


def open_remarks(query: Query | None, changed: Collection[str], remarks: Iterable[Remark]) -> dict[str, str]:
    """The remarks that a query has from now on, by check: those on words that have not changed stay."""
    lapsed = set(QueryCheck) if "text" in changed else {QueryCheck.PERSONAL} if set(WRITTEN) & set(changed) else set()
    kept = {check: told for check, told in (query.remarks if query else {}).items() if check not in lapsed}
    return kept | {remark.check: remark.sentence for remark in remarks}
