"""The form, the proposal and the file of negatives, for pages and the API."""

from typing import Any

from django.http import StreamingHttpResponse
from django.utils import timezone

from apps.accounts.selectors import Member
from apps.common.errors import Forbidden, Refusal
from apps.evaluation import rules
from apps.evaluation.selectors.evaluations import scorable_runs
from apps.goldsets.actions.versions import log_export
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionQuery
from apps.goldsets.rules import blind_refusal
from apps.goldsets.selectors.versions import frozen_in, seen_by
from apps.reports.actions import measure_negatives
from apps.reports.forms import NegativesForm
from apps.reports.rules import negatives_refusal
from apps.reports.selectors import negatives
from apps.reports.selectors.negatives import CONTENT_TYPES, NegativesProposal
from apps.retrieval.selectors.blinding import hidden_queries

MEASURED_BY = {"run", "depth"}


class NegativesRefused(Refusal):
    """These negatives cannot be proposed."""


def negatives_form(member: Member, version: Version, query: Any) -> NegativesForm:
    """The form filled from a query string; parameters that are not in it have their default."""
    runs = scorable_runs(version)
    unbound = NegativesForm(runs=runs, is_lead=member.is_lead)
    data = query.copy()
    data.pop("page", None)
    data.pop("format", None)
    for name in unbound.fields:
        if name not in data:
            data[name] = str(unbound.get_initial_for_field(unbound.fields[name], name) or 0)
    return NegativesForm(data, runs=runs, is_lead=member.is_lead)


def visible_version(member: Member, pk: int) -> Version:
    """A frozen version; only leads see one that is not released. Raises Http404."""
    return seen_by(member, frozen_in(member.project, pk))


def ranks_refusal(member: Member, version: Version) -> str | None:
    """Why the person may see no negatives of the version now: each is shown with its grade and its rank."""
    queries = VersionQuery.objects.filter(version=version).values_list("query_id", flat=True)
    version.snapshot.corpus.project = member.project
    hidden = hidden_queries(member.user, version.snapshot, queries)
    return blind_refusal(member) or next(iter(hidden.values()), None)


def proposal_of(version: Version, form: NegativesForm) -> NegativesProposal:
    """The proposal for a valid form. Raises NegativesRefused."""
    split = form.cleaned_data["split"]
    if reason := negatives_refusal(form.baseline, version, split, form.choice):
        raise NegativesRefused(reason, code="negatives_refused")
    splits = [split] if split else list(Split.values)
    return NegativesProposal(version, form.baseline, form.runs, splits, form.choice, timezone.now())


def _valid_form(member: Member, version: Version, query: Any) -> NegativesForm:
    form = negatives_form(member, version, query)
    if not form.is_valid():
        faults = "; ".join(f"{name}: {' '.join(map(str, words))}" for name, words in form.errors.items())
        raise NegativesRefused(f"These negatives cannot be proposed. {faults}", code="bad_choice")
    return form


def request_measurement(member: Member, version: Version, query: Any) -> None:
    """Request what the hard negatives of the form do to scores, for a lead. Raises NegativesRefused."""
    asked = query.copy()
    for name in set(asked) - MEASURED_BY:
        del asked[name]
    values = _valid_form(member, version, asked).cleaned_data
    measure_negatives(
        version=version, baseline_id=values["run"], depth=values["depth"], actor=member.user, at=timezone.now()
    )


def file_response(member: Member, version: Version, query: Any) -> StreamingHttpResponse:
    """The file, streamed; `query` is the query string. Raises Forbidden and NegativesRefused."""
    if reason := ranks_refusal(member, version):
        raise Forbidden(reason, code="still_judging")
    if query.get("split") not in {None, Split.DEV} and not member.is_lead:
        raise Forbidden(rules.SEALED, code="test_is_sealed")
    shape = query.get("format", "jsonl")
    if shape not in CONTENT_TYPES:
        raise NegativesRefused(f"Use one of {', '.join(CONTENT_TYPES)}.", code="unknown_form")
    proposal = proposal_of(version, _valid_form(member, version, query))
    log_export(
        version=version,
        actor=member.user,
        formats=[f"negatives-{shape}"],
        splits=proposal.splits,
        at=proposal.at,
    )
    pieces = negatives.lines(proposal, shape)
    answer = StreamingHttpResponse(pieces, content_type=f"{CONTENT_TYPES[shape]}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{negatives.file_name(proposal, shape)}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
