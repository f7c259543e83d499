"""API of writing triples: drafts and open revisions, candidates that a machine wrote, and what ends a draft."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.http import Http404, QueryDict
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Scope
from apps.accounts.models import Project
from apps.common.web.api import body_with_key, change_in, given_in
from apps.common.web.forms import ChoiceField, checked
from apps.common.web.paging import only_known
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.queries.enums import Difficulty
from apps.queries.models import Query, Source
from apps.triples import rules
from apps.triples.actions.imports import adopt_candidate, reject_candidate
from apps.triples.actions.triples import (
    AlreadyStarted,
    DraftRefused,
    reopen_as_draft,
    save_draft,
    start_draft,
    withdraw_draft,
)
from apps.triples.core.checks import FIELD
from apps.triples.forms import ALL, ANY, MOST_BLOCKS, MOST_SPANS, BenchForm, SentBlock, initial_of
from apps.triples.models import Revision, Triple
from apps.triples.rules import WRITERS
from apps.triples.selectors.draft_checks import Wording, checks_of
from apps.triples.selectors.retriever_hits import candidate_in, candidates_of
from apps.triples.selectors.triples import (
    expected_blocks,
    newest_snapshot,
    open_revision,
    triple_for,
    writing_snapshot,
)
from apps.triples.serializers import ExpectedBlockOut, TripleListInput, TripleOut, TriplePageOut, blocks_out, triple_out

LONGEST_QUOTE = 2_000
PARTS = ("question", "answer", "blocks", "needs_all_blocks", "source", "domain", "difficulty", "note")
"""The fields of a wording in a body; `source` is its key in a wording."""


class ChosenBlockInput(serializers.Serializer):
    """An expected passage, and the words of it that are the evidence, each as it stands in the text."""

    block_id = serializers.CharField(max_length=200)
    quotes = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_QUOTE), required=False, default=list, max_length=MOST_SPANS
    )


class WordingInput(serializers.Serializer):
    """The wording: what is left out stays as it is; in a new draft it is empty."""

    question = serializers.CharField(required=False, allow_blank=True, max_length=2_000)
    answer = serializers.CharField(required=False, allow_blank=True, max_length=8_000)
    blocks = serializers.ListField(child=ChosenBlockInput(), required=False, max_length=MOST_BLOCKS)
    needs_all_blocks = serializers.BooleanField(required=False)
    source = serializers.CharField(  # type: ignore[assignment]
        required=False, allow_null=True, max_length=200, help_text="The slug of a source."
    )
    domain = serializers.CharField(required=False, allow_blank=True, max_length=80)
    difficulty = ChoiceField(choices=Difficulty.choices, required=False, allow_blank=True)
    note = serializers.CharField(required=False, allow_blank=True, max_length=4_000)
    reasons = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=1_000),
        required=False,
        help_text="Why a warning is no fault, by the key of its check; an empty reason takes one back.",
    )


class DraftInput(WordingInput):
    corpus = serializers.CharField(
        required=False, max_length=100, help_text="Its slug; without one, the corpus that was frozen last."
    )
    query = serializers.CharField(
        required=False, allow_null=True, default=None, max_length=200, help_text="The id of the query it comes from."
    )
    idempotency_key = serializers.CharField(max_length=64)


class SaveInput(WordingInput):
    """What changes: what is left out stays as it is."""

    edit_version = serializers.IntegerField(min_value=0, max_value=2**31 - 1)


class CheckOut(serializers.Serializer):
    """A check. A warning is answered in `reasons` under its `key`, such as duplicate:T-0195."""

    level = serializers.CharField()
    code = serializers.CharField()
    key = serializers.CharField()
    sentence = serializers.CharField()
    detail = serializers.CharField(help_text="What was compared.")
    quote = serializers.CharField(help_text="The words that it is about, such as another question.")
    answer = serializers.CharField(help_text="The reason that was given.")
    needs_reason = serializers.BooleanField()


class DraftOut(serializers.Serializer):
    """The open revision of a triple, as the person who writes it sees it, with its checks."""

    triple_id = serializers.IntegerField()
    number = serializers.CharField()
    state = serializers.CharField()
    edit_version = serializers.IntegerField()
    revision = serializers.IntegerField()
    question = serializers.CharField()
    answer = serializers.CharField()
    blocks = ExpectedBlockOut(many=True)
    needs_all_blocks = serializers.BooleanField()
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    domain = serializers.CharField()
    difficulty = serializers.CharField()
    note = serializers.CharField()
    checks = CheckOut(many=True)


class RejectInput(serializers.Serializer):
    reason = serializers.CharField(max_length=2_000)


class WriterView(ProjectAPIView):
    """A step of whoever writes triples."""

    roles: ClassVar = {"POST": WRITERS}
    scopes: ClassVar = {"GET": Scope.TRIPLES_WRITE, "POST": Scope.TRIPLES_WRITE}

    def wording(self, given: Mapping[str, Any], snapshot: Snapshot, kept: Mapping[str, Any]) -> Wording:
        """The wording, checked by the bench's form; `kept` are its fields before. Raises ValidationError."""
        posted = _as_posted(self.project, given, snapshot, kept)
        form = BenchForm(posted, project=self.project, snapshot=snapshot)
        return checked(form).wording()

    def draft(self, pk: int, *, status: int = 200) -> Response:
        """The open revision as it is now, for the person who writes it."""
        triple = triple_for(self.member, pk)
        revision = open_revision(triple)
        if revision is None:
            raise Http404("No revision of it is open.")
        DraftRefused.raise_for(rules.write_refusal(self.member.user, revision), code="not_editable")
        return Response(DraftOut(self._draft_out(triple, revision)).data, status=status)

    def _draft_out(self, triple: Triple, revision: Revision) -> dict[str, Any]:
        return {
            "triple_id": triple.pk,
            "number": triple.label,
            "state": triple.state,
            "edit_version": triple.edit_version,
            "revision": revision.number,
            "question": revision.question,
            "answer": revision.answer,
            "blocks": blocks_out(revision),
            "needs_all_blocks": revision.needs_all_blocks,
            "source": triple.source.slug if triple.source else None,
            "domain": triple.domain,
            "difficulty": triple.difficulty,
            "note": revision.note,
            "checks": checks_of(self.project, self.member.user, revision),
        }

    def shown(self, triple: Triple) -> Response:
        return Response(triple_out(triple_for(self.member, triple.pk)))


def _as_posted(project: Project, given: Mapping[str, Any], snapshot: Snapshot, kept: Mapping[str, Any]) -> QueryDict:
    """The body as the bench would post it, with keys of rows for the ids that it names, and what it leaves out."""
    posted = QueryDict(mutable=True)
    for block in _named(given["blocks"], snapshot) if "blocks" in given else kept.get("blocks", ()):
        posted.appendlist("block", str(block.block))
        posted[f"pinned-{block.block}"] = str(block.pinned or "")
        posted[f"spans-{block.block}"] = block.spans
        posted[f"evidence-{block.block}"] = block.evidence
    source = _source_in(project, given["source"]) if "source" in given else kept.get("source")
    posted["source"] = str(source or "")
    needs = (ALL if given["needs_all_blocks"] else ANY) if "needs_all_blocks" in given else kept.get("needs", ANY)
    posted["needs"] = needs
    for name in ("question", "answer", "domain", "difficulty", "note"):
        posted[name] = given.get(name, kept.get(name, ""))
    for key, reason in given.get("reasons", {}).items():
        posted[f"{FIELD}{key}"] = reason
    return posted


def _named(blocks: Sequence[Mapping[str, Any]], snapshot: Snapshot) -> list[SentBlock]:
    """The passages of the body. Raises ValidationError for one that the snapshot has not."""
    names = [block["block_id"] for block in blocks]
    rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__outside_id__in=names)
    found = dict(rows.values_list("block__outside_id", "block_id"))
    if gone := [name for name in names if name not in found]:
        raise ValidationError({"blocks": [f"{gone[0]} is no passage of the newest snapshot."]})
    quotes = ["\n".join(" ".join(quote.split()) for quote in block["quotes"]) for block in blocks]
    return [SentBlock(found[name], evidence=lines) for name, lines in zip(names, quotes, strict=True)]


def _source_in(project: Project, slug: str | None) -> int | None:
    if not slug:
        return None
    source = Source.objects.filter(project=project, slug=slug).first()
    if source is None:
        raise ValidationError({"source": ["No source of this project is called that."]})
    return source.pk


class DraftList(WriterView):
    """Starts a draft, which only you and leads see. The same key again answers with the draft that it started."""

    @extend_schema(operation_id="triples_draft", request=DraftInput, responses={201: DraftOut})
    def post(self, request: Request, slug: str) -> Response:
        given = given_in(body_with_key(request), DraftInput)
        snapshot = self._snapshot(given.get("corpus"))
        try:
            triple = start_draft(
                project=self.project,
                author=self.member.user,
                snapshot=snapshot,
                wording=self.wording(given, snapshot, kept={}),
                query=self._query(given["query"]),
                idempotency_key=given["idempotency_key"],
                at=timezone.now(),
            )
        except AlreadyStarted as before:
            triple = before.triple
        return self.draft(triple.pk, status=201)

    def _snapshot(self, corpus: str | None) -> Snapshot:
        named = self.project.corpora.filter(slug=corpus).first() if corpus else None
        if corpus and named is None:
            raise ValidationError({"corpus": ["No corpus of this project is called that."]})
        snapshot = newest_snapshot(self.project, named.pk if named else None)
        if snapshot is None:
            raise ValidationError({"corpus": ["There is no snapshot yet. Freeze one first."]})
        return snapshot

    def _query(self, outside_id: str | None) -> Query | None:
        if outside_id is None:
            return None
        query = Query.objects.filter(project=self.project, outside_id=outside_id).first()
        if query is None:
            raise ValidationError({"query": ["No query of this project has that id."]})
        return query


class DraftDetail(WriterView):
    """The draft, or the open revision, that you write; saves it, unless it was saved elsewhere since `edit_version`.

    What is left out stays as it is.
    """

    roles: ClassVar = {"GET": WRITERS, "POST": WRITERS}

    @extend_schema(operation_id="triples_draft_read", responses=DraftOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.draft(pk)

    @extend_schema(operation_id="triples_draft_save", request=SaveInput, responses=DraftOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        given = change_in(request.data, SaveInput).validated_data
        revision, snapshot = open_revision(triple), writing_snapshot(triple)
        kept = initial_of(revision, expected_blocks(revision)) if revision else {}
        save_draft(
            project=self.project,
            triple_id=triple.pk,
            author=self.member.user,
            seen_version=given["edit_version"],
            snapshot=snapshot,
            wording=self.wording(given, snapshot, kept),
            at=timezone.now(),
        )
        return self.draft(triple.pk)


class MachineWrittenList(WriterView):
    """Candidates that a machine wrote and nobody has adopted, by number. `next` is the `after` of the next page."""

    roles: ClassVar = {"GET": WRITERS}

    @extend_schema(operation_id="triples_candidates", parameters=[TripleListInput], responses=TriplePageOut)
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, set(TripleListInput().fields))
        wanted = given_in(request.query_params, TripleListInput)
        limit = wanted["limit"]
        candidates = candidates_of(self.project).filter(number__gt=wanted["after"])
        if state := wanted.get("state"):
            candidates = candidates.filter(state=state)
        page = list(candidates[: limit + 1])
        after = page[limit - 1].number if len(page) > limit else None
        return Response({"triples": [triple_out(triple) for triple in page[:limit]], "next": after})


class AdoptView(WriterView):
    """Makes you the author of a candidate, which is your draft then."""

    @extend_schema(operation_id="triples_adopt", request=None, responses=DraftOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        adopted = adopt_candidate(project=self.project, triple_id=pk, person=self.member.user, at=timezone.now())
        return self.draft(adopted.pk)


class RejectView(WriterView):
    """Rejects a candidate, for a reason that stays with it."""

    @extend_schema(operation_id="triples_reject", request=RejectInput, responses={204: None})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        candidate_in(self.project, pk)
        reason = given_in(request.data, RejectInput)["reason"]
        reject_candidate(project=self.project, triple_id=pk, person=self.member.user, reason=reason, at=timezone.now())
        return Response(status=204)


class WithdrawView(WriterView):
    """Gives up your draft; it is kept, with its wording."""

    @extend_schema(operation_id="triples_withdraw", request=None, responses=TripleOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        at = timezone.now()
        return self.shown(withdraw_draft(project=self.project, triple_id=triple.pk, author=self.member.user, at=at))


class ReopenView(WriterView):
    """Starts a dropped triple again as your draft, on the newest snapshot."""

    @extend_schema(operation_id="triples_reopen", request=None, responses=DraftOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        reopen_as_draft(
            project=self.project,
            triple_id=triple.pk,
            author=self.member.user,
            snapshot=writing_snapshot(triple),
            at=timezone.now(),
        )
        return self.draft(triple.pk)
