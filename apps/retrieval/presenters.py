"""Panels that apps above this one add to the page of a complete run, and the sheet of a pool."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.http import StreamingHttpResponse
from django.utils.text import slugify

from apps.accounts.access.pages import MemberRequest
from apps.accounts.selectors import Member
from apps.common.discovery import Registered
from apps.common.errors import Forbidden, Refusal
from apps.common.files.csvsafe import csv_lines
from apps.retrieval import rules
from apps.retrieval.models import Pool, Run
from apps.retrieval.selectors.blinding import has_pairs_to_judge, hidden_queries
from apps.retrieval.selectors.pools import pool_query_ids, sheet_rows


class RunPanel(NamedTuple):
    """A template, and what it shows as `panel`."""

    template: str
    panel: Any


MakePanel = Callable[[MemberRequest, Run], RunPanel]
on_run_page: Registered[MakePanel] = Registered()
"""The panels, shown above the details of the run."""


def sheet_response(member: Member, pool: Pool, *, says_chosen: bool) -> StreamingHttpResponse:
    """The pairs of a pool as CSV, for a person who grades elsewhere; with how each was chosen, for a lead alone.

    Raises Refusal for a pool without its pairs, and Forbidden for a lead who may not see ranks yet.
    """
    if reason := rules.sheet_refusal(pool):
        raise Refusal(reason, code="pool_not_complete")
    if says_chosen:
        own = has_pairs_to_judge(member.user, pool)
        hidden = hidden_queries(member.user, pool.snapshot, pool_query_ids(pool))
        if reason := rules.provenance_refusal(member.roles, own) or next(iter(hidden.values()), None):
            raise Forbidden(reason, code="ranks_hidden")
    rows = sheet_rows(pool, says_chosen=says_chosen)
    answer = StreamingHttpResponse(csv_lines(rows), content_type="text/csv; charset=utf-8")
    name = f"{slugify(pool.name) or pool.pk}-{'chosen' if says_chosen else 'sheet'}.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
