"""New editions in the API: of an import in its preview, and of a snapshot beside the one before it.

Both answer the same questions, so each endpoint is written once and stands at two addresses.
"""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView, RunsAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import PAGING, given_in
from apps.common.web.paging import cut_list, only_known
from apps.corpus.selectors.corpora import import_in, snapshot_and_before, snapshot_in
from apps.editions import rules
from apps.editions.actions import apply
from apps.editions.enums import ChangeKind, Choice
from apps.editions.execution.apply import EditionRefused, TakeOrder, planned_edition, snapshot_before_import
from apps.editions.presenters import EditionSheet
from apps.editions.selectors.applied import taken_event
from apps.editions.selectors.decisions import choices_of, work_of
from apps.editions.selectors.editions import Edition, between
from apps.editions.serializers import (
    ChangePage,
    DecisionsInput,
    EditionOut,
    ListedPassagePage,
    SystemsRunOut,
    TakeInput,
    TakeOut,
)
from apps.retrieval.models import Run

FAULTY = (
    "The project has changed since the file was read, so that it has mistakes now. Nothing was taken. "
    "Read the import: its plan lists them."
)


class TakeView(ProjectAPIView):
    """Takes an edition: grades come along as decided, the rest becomes a pool and a round, and drafts move."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def order(self, request: Request) -> TakeOrder:
        given = given_in(request.data, TakeInput)
        rest = Choice(given["rest"]) if given["rest"] else None
        return TakeOrder({}, rest=rest, with_round=given["with_round"], shown=given["mark"])

    def out(self, requested: apply.RequestedTake) -> Response:
        return Response(TakeOut(requested).data, status=202 if requested.job else 201)


class ImportTake(TakeView):
    """Imports the file, freezes the corpus and takes the edition: all of it or nothing, in a job where it is large."""

    scopes: ClassVar = {"POST": (Scope.CORPUS_WRITE, Scope.ROUNDS_WRITE)}

    @extend_schema(operation_id="editions_import_take", request=TakeInput, responses={201: TakeOut, 202: TakeOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = import_in(self.project, pk)
        order = self.order(request)
        requested = apply.take_imported(import_id=item.pk, order=order, actor=self.member.user, at=timezone.now())
        if requested.taken is None and requested.job is None:
            raise EditionRefused(FAULTY, code="import_faulty")
        return self.out(requested)


class SnapshotTake(TakeView):
    """Takes the edition of a snapshot, in a job where it is large."""

    scopes: ClassVar = {"POST": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="editions_snapshot_take", request=TakeInput, responses={201: TakeOut, 202: TakeOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        snapshot = snapshot_in(self.project, pk)
        order = self.order(request)
        return self.out(
            apply.take_snapshot(snapshot_id=snapshot.pk, order=order, actor=self.member.user, at=timezone.now())
        )


class SnapshotRunAgain(RunsAPIView):
    """Queues a run on a snapshot for each system that Karat ran on the one before it and not yet on this one."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="editions_snapshot_run_again", request=None, responses={202: SystemsRunOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        snapshot = snapshot_in(self.project, pk)
        runs = apply.run_again(snapshot_id=snapshot.pk, actor=self.member.user, at=timezone.now())
        queued = Run.objects.filter(pk__in=[run.pk for run in runs]).select_related("system").order_by("pk")
        return Response(SystemsRunOut({"runs": queued}).data, status=202)


REST = OpenApiParameter(
    "rest", enum=Choice.values, description="What it comes to when this happens to all that nobody decided about."
)
KIND = OpenApiParameter("kind", enum=ChangeKind.values, required=True)


class EditionView(ProjectAPIView):
    """An endpoint of one edition, for leads."""

    roles: ClassVar = {"GET": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.ROUNDS_WRITE}

    def edition(self, pk: int) -> Edition:
        """The edition of this import or snapshot. Raises Http404, and EditionRefused where there is none."""
        raise NotImplementedError

    def facts(self, edition: Edition, rest: Choice | None = None) -> dict[str, Any]:
        sheet = EditionSheet.of(edition)
        edition.read(sheet.weighty, edition.of(ChangeKind.NEW))
        passages = sheet.passages(sheet.weighty)
        work = work_of(edition, sheet.usage, choices_of(passages, {}, rest))
        planned = sheet.round_for(work)
        return {
            "before": edition.before.pk,
            "snapshot": edition.after.pk if edition.after else None,
            "mark": edition.mark,
            "passages": edition.passages,
            "kinds": sheet.rows,
            "to_decide": len(passages),
            "decided": sum(passage.decided is not None for passage in passages),
            "work": work,
            "round": {**planned._asdict(), "time": planned.time_per_pair.of(len(work.to_judge))},
            "stays": sheet.asked["stays"],
            "drafts": [str(draft) for draft in sheet.drafts],
            "taken": sheet.asked.get("taken"),
            "to_run": sheet.asked.get("to_run"),
        }


class OfImport(EditionView):
    def edition(self, pk: int) -> Edition:
        item = import_in(self.project, pk)
        item.project = self.project
        before = snapshot_before_import(item)
        EditionRefused.raise_for(rules.import_refusal(item, before), code="edition_refused")
        assert before is not None  # the refusal has seen it
        return planned_edition(item, before)


class OfSnapshot(EditionView):
    def edition(self, pk: int) -> Edition:
        snapshot, before = snapshot_and_before(self.project, pk)
        snapshot.corpus.project = self.project
        if before is None:
            raise EditionRefused(rules.take_refusal(None, None) or "", code="edition_refused")
        return between(before, snapshot)


class EditionDetail(EditionView):
    """What a new edition changes and touches, what is to decide, and what taking it comes to."""

    def get(self, request: Request, slug: str, pk: int) -> Response:
        edition = self.edition(pk)
        only_known(request.query_params, {"rest"})
        rest = request.query_params.get("rest")
        if rest and rest not in Choice.values:
            raise ValidationError({"rest": [f"One of {', '.join(Choice.values)}."]})
        return Response(EditionOut(self.facts(edition, Choice(rest) if rest else None)).data)


class EditionChanges(EditionView):
    """The changed passages, most grades first, each with what happens to its grades unless somebody decides."""

    def get(self, request: Request, slug: str, pk: int) -> Response:
        edition = self.edition(pk)
        only_known(request.query_params, {"after", "limit"})
        sheet = EditionSheet.of(edition)
        page = cut_list(sheet.ranked, request.query_params)
        edition.read(page.rows, [])
        found = {"count": len(sheet.ranked), "results": sheet.passages(page.rows), "next": page.next}
        return Response(ChangePage(found).data)


class EditionPassages(EditionView):
    """The passages of one kind, with what rests on their texts before."""

    def get(self, request: Request, slug: str, pk: int) -> Response:
        edition = self.edition(pk)
        params = request.query_params
        only_known(params, {"kind", "after", "limit"})
        if params.get("kind") not in ChangeKind.values:
            raise ValidationError({"kind": [f"One of {', '.join(ChangeKind.values)}."]})
        sheet, kind = EditionSheet.of(edition), ChangeKind(params["kind"])
        page = cut_list(sheet.of_kind(kind), params)
        found = {"count": edition.counts[kind], "results": sheet.listed(page.rows), "next": page.next}
        return Response(ListedPassagePage(found).data)


class EditionDecisions(EditionView):
    """Decides what happens to the grades of changed passages when it is taken. A later decision replaces an earlier."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.ROUNDS_WRITE}

    def post(self, request: Request, slug: str, pk: int) -> Response:
        edition = self.edition(pk)
        given = given_in(request.data, DecisionsInput)
        taken = taken_event(edition.after) if edition.after else None
        EditionRefused.raise_for(rules.take_refusal(edition.before, taken), code="edition_refused")
        EditionRefused.raise_for(rules.shown_refusal(given["mark"], edition.mark), code="edition_changed")
        choices = _choices(edition, given["decisions"])
        apply.decide(choices=choices, actor=self.member.user, at=timezone.now())
        return Response(EditionOut(self.facts(edition)).data)


def _choices(edition: Edition, decisions: dict[str, str]) -> dict[tuple[int, str], Choice]:
    """The choices by old block version and new text. Raises ValidationError for what is no changed passage."""
    changed = {change.name: change for change in edition.of(ChangeKind.CHANGED)}
    if unknown := [name for name in decisions if name not in changed]:
        raise ValidationError({"decisions": [f"{name[:80]} is no changed passage here." for name in unknown[:20]]})
    choices = {}
    for name, choice in decisions.items():
        change = changed[name]
        assert change.after is not None  # a changed passage has both texts
        choices[edition.old_of(change).version_id, change.after.text] = Choice(choice)
    return choices


def _described(noun: str, of: type[EditionView], view: type[EditionView], what: str, **methods: Any) -> Any:
    """The view at the address of one of the two, with operation ids of its own."""
    described = {
        method: extend_schema(operation_id=f"editions_{noun}_{what}", **facts) for method, facts in methods.items()
    }
    both: Any = type(f"{noun.capitalize()}{view.__name__}", (of, view), {"__doc__": view.__doc__})
    return extend_schema_view(**described)(both).as_view()


def views_of(noun: str, of: type[EditionView]) -> dict[str, Any]:
    """The endpoints that both have, by the end of their names."""
    return {
        "": _described(noun, of, EditionDetail, "read", get={"parameters": [REST], "responses": EditionOut}),
        "changes": _described(noun, of, EditionChanges, "changes", get={"parameters": PAGING, "responses": ChangePage}),
        "passages": _described(
            noun, of, EditionPassages, "passages", get={"parameters": [KIND, *PAGING], "responses": ListedPassagePage}
        ),
        "decisions": _described(
            noun, of, EditionDecisions, "decide", post={"request": DecisionsInput, "responses": EditionOut}
        ),
    }
