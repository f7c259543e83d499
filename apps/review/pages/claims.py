"""The guided split: a compound triple becomes two to six drafts, each with its own question, answer and evidence."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.models import Project
from apps.common.database.statements import LARGEST_KEY
from apps.common.text.blocktext import merge, plain
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.corpus.selectors.search import search_blocks
from apps.review import rules
from apps.review.actions.disputes import Claim, DisputeRefused, split_triple
from apps.review.core.claim_proposals import FEWEST, MOST, Span, sentences
from apps.review.enums import POLICIES, Category
from apps.review.selectors.candidate_blocks import marked_pieces, proposed_claims
from apps.review.selectors.participation import participation_for
from apps.triples.core import checks
from apps.triples.core.checks import Check
from apps.triples.core.evidence import Piece, quoted, snippet, spans_of
from apps.triples.models import ExpectedBlock, Triple
from apps.triples.rules import WRITERS
from apps.triples.selectors.draft_checks import BlockChoice, marked
from apps.triples.selectors.triples import expected_blocks, triple_for

MOST_FOUND = 5
MOST_SENTENCES = 60


class ClaimForm(forms.Form):
    """One claim on the page: `passages` are ticked, each "version:start:end"; `quotes` are typed."""

    question = forms.CharField(required=False, max_length=2000)
    answer = forms.CharField(required=False, max_length=8000)
    quotes = forms.CharField(required=False, max_length=8000)
    sought = forms.CharField(required=False, max_length=500)
    block = forms.IntegerField(required=False, min_value=1, max_value=LARGEST_KEY)
    passages = forms.CharField(required=False, max_length=100)

    def __init__(self, *args: Any, number: int, **kwargs: Any) -> None:
        self.number = number
        super().__init__(*args, **kwargs)

    def add_prefix(self, field_name: str) -> str:
        return f"{field_name}_{self.number}"

    def ticked(self) -> list[str]:
        if isinstance(self.data, QueryDict):
            return self.data.getlist(self.add_prefix("passages"))
        return list(self.initial.get("passages", []))

    def held(self, name: str) -> Any:
        """The value of a field, posted or proposed; empty when it is invalid."""
        if not self.is_bound:
            return self.initial.get(name)
        self.is_valid()
        return self.cleaned_data.get(name)


class EvidenceTick(NamedTuple):
    """A passage that can be chosen as evidence."""

    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True)
class Origin:
    """A block with possible evidence: what was marked in it first, its other sentences folded."""

    version: BlockVersion
    first: list[EvidenceTick]
    others: list[EvidenceTick]
    is_found: bool
    is_cut: bool

    @property
    def is_open(self) -> bool:
        return any(tick.is_chosen for tick in self.others)


@dataclass(frozen=True)
class ClaimHit:
    entry: SnapshotBlock
    title: str
    pieces: list[Piece]


def count_in(posted: QueryDict) -> int:
    """How many claims a page posts, within the allowed range."""
    posted_count = str(posted.get("claims", ""))
    return min(max(int(posted_count), 1), MOST) if posted_count.isdecimal() and len(posted_count) < 3 else FEWEST


class ClaimsSheet:
    """The page's claims, proposed or posted, over the blocks of one disputed triple."""

    def __init__(self, triple: Triple, posted: QueryDict | None = None) -> None:
        self.triple = triple
        self.snapshot: Snapshot = triple.revision.snapshot
        self.expected: list[ExpectedBlock] = expected_blocks(triple.revision)
        if posted is None:
            self.forms = self._proposed()
        else:
            self.forms = [ClaimForm(posted, number=number) for number in range(1, count_in(posted) + 1)]
        self._versions: dict[int, BlockVersion] = {block.version_id: block.version for block in self.expected}
        self._other_blocks: dict[int, BlockVersion | None] = {}

    # What is in it

    def _proposed(self) -> list[ClaimForm]:
        made = []
        for number, claim in enumerate(proposed_claims(self.triple.revision, self.expected), start=1):
            ticked = [self._value(claim.block.version_id, claim.span)] if claim.block else []
            initial = {"question": claim.question, "answer": claim.answer, "passages": ticked}
            made.append(ClaimForm(initial=initial, number=number))
        return made

    def other_block(self, form: ClaimForm) -> BlockVersion | None:
        """The other block chosen for a claim, from the snapshot."""
        block = form.held("block")
        if not block:
            return None
        if block not in self._other_blocks:
            entry = SnapshotBlock.objects.filter(snapshot=self.snapshot, block=block)
            first = entry.select_related("version__block__document").first()
            self._other_blocks[block] = first.version if first else None
        version = self._other_blocks[block]
        return version if version is None or version.pk not in self._versions else None

    def origins(self, form: ClaimForm) -> list[Origin]:
        ticked = set(form.ticked())
        made = [self._origin(block.version, marked_pieces(block), ticked, False) for block in self.expected]
        version = self.other_block(form)
        return [*made, self._origin(version, [], ticked, True)] if version else made

    def _origin(self, version: BlockVersion, first: list[Span], ticked: set[str], is_found: bool) -> Origin:
        rest = [span for span in sentences(version.text) if not any(a < span[1] and span[0] < b for a, b in first)]
        shown = rest[:MOST_SENTENCES]
        ticks = [[self._tick(version, span, ticked) for span in spans] for spans in (first, shown)]
        own, others = (ticks[1], []) if is_found else ticks
        return Origin(version, own, others, is_found, len(rest) > len(shown))

    def _tick(self, version: BlockVersion, span: Span, ticked: set[str]) -> EvidenceTick:
        value = self._value(version.pk, span)
        return EvidenceTick(value, version.text[span[0] : span[1]], value in ticked)

    @staticmethod
    def _value(version_id: int, span: Span) -> str:
        return f"{version_id}:{span[0]}:{span[1]}"

    def hits(self, form: ClaimForm) -> list[ClaimHit]:
        sought = form.held("sought") or ""
        if not sought or self.other_block(form):
            return []
        return [
            ClaimHit(entry, entry.name, snippet(plain(entry.version.text), sought))
            for entry in search_blocks(self.snapshot, sought, limit=MOST_FOUND)
        ]

    # What it means

    def evidence(self, form: ClaimForm) -> tuple[list[tuple[BlockVersion, list[Span]]], list[str]]:
        """The blocks of a claim with the passages chosen in them, and the typed words that are in no block."""
        other = self.other_block(form)
        at_hand = ({other.pk: other} if other else {}) | self._versions
        chosen: dict[int, list[Span]] = defaultdict(list)
        for value in form.ticked():
            version_id, span = _read(value)
            if version_id in at_hand and 0 <= span[0] < span[1] <= len(at_hand[version_id].text):
                chosen[version_id].append(span)
        lost = []
        for quote in (line.strip() for line in (form.held("quotes") or "").splitlines() if line.strip()):
            places = ((pk, spans_of(version.text, [quote])[0]) for pk, version in at_hand.items())
            place = next(((pk, span) for pk, span in places if span is not None), None)
            if place is None:
                lost.append(quote)
            else:
                chosen[place[0]].append(place[1])
        return [(at_hand[pk], merge(spans, len(at_hand[pk].text))) for pk, spans in chosen.items()], lost

    def claim(self, form: ClaimForm) -> Claim:
        blocks = tuple(BlockChoice(version.pk, tuple(spans)) for version, spans in self.evidence(form)[0])
        return Claim(form.held("question") or "", form.held("answer") or "", blocks)

    def claims(self) -> list[Claim]:
        return [self.claim(form) for form in self.forms]

    def first_fault(self) -> tuple[int, str] | None:
        """The first invalid claim: its number, and the sentence."""
        for form in self.forms:
            if form.is_bound and not form.is_valid():
                return form.number, f"Claim {form.number}: {next(iter(form.errors.values()))[0]}"
            if lost := self.evidence(form)[1]:
                sentence = f"“{lost[0]}” is in none of its passages. Copy it word for word."
                return form.number, f"Claim {form.number}: {sentence}"
            if fault := self.claim(form).fault:
                return form.number, f"Claim {form.number} {fault}."
        return None

    def checks(self, form: ClaimForm) -> list[Check]:
        """Checks that need no submission: evidence exists, it is in the text, and the figures agree."""
        question, answer = form.held("question") or "", form.held("answer") or ""
        blocks, lost = self.evidence(form)
        results = checks.check_wording(question, answer)
        if lost:
            results.append(Check(checks.STOP, "evidence", f"“{lost[0]}” is in none of its passages."))
        elif not blocks:
            results.append(Check(checks.STOP, "no_evidence", "No evidence is chosen yet."))
        evidence = "\n".join(quoted(version.text, spans) for version, spans in blocks)
        shown = [marked(version, spans) for version, spans in blocks]
        found = [checks.check_evidence(block.text, block.spans) for block in shown]
        results += [check for check in found if check.level != checks.PASS]
        if answer.strip() and evidence:
            results += checks.check_figures(answer, evidence)
        return results


def _read(value: str) -> tuple[int, Span]:
    """The version and the span of a tick; for an invalid one, a version that does not exist."""
    parts = value.split(":")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        return 0, (0, 0)
    return int(parts[0]), (int(parts[1]), int(parts[2]))


def _rearranged(posted: QueryDict, do: str) -> tuple[QueryDict, int]:
    """The posted form with one more claim, one less, or another block; and the number of the claim to show next."""
    data = posted.copy()
    verb, _, rest = do.partition(":")
    number, _, block = rest.partition(":")
    at = int(number) if number.isdecimal() and len(number) < 3 else 0
    count = count_in(data)
    if verb == "add" and count < MOST:
        data["claims"] = str(count + 1)
        return data, count + 1
    if verb == "remove" and count > FEWEST and 1 <= at <= count:
        for name in ClaimForm.base_fields:
            for later in range(at, count):
                data.setlist(f"{name}_{later}", data.getlist(f"{name}_{later + 1}"))
            data.pop(f"{name}_{count}", None)
        data["claims"] = str(count - 1)
        return data, min(at, count - 1)
    if verb == "block" and at:
        data[f"block_{at}"] = block
    return data, at


def _views(sheet: ClaimsSheet) -> Iterator[dict[str, Any]]:
    for form in sheet.forms:
        yield {
            "form": form,
            "number": form.number,
            "key": str(form.number),
            "origins": sheet.origins(form),
            "hits": sheet.hits(form),
            "sought": form.held("sought") or "",
            "other_block": sheet.other_block(form),
            "checks": sheet.checks(form),
        }


def _page(
    request: HttpRequest, sheet: ClaimsSheet, *, go_on: int = 0, fault: str = "", status: int = 200
) -> HttpResponse:
    participation = participation_for(sheet.triple, member_of(request))
    claims = list(_views(sheet))
    return render(
        request,
        "review/split.html",
        {
            "triple": sheet.triple,
            "revision": sheet.triple.revision,
            "claims": claims,
            "count": len(claims),
            "fewest": FEWEST,
            "most": MOST,
            "go_on": go_on,
            "fault": fault,
            "flag": participation.flag,
            "policy": POLICIES[Category.COMPOUND],
        },
        status=status,
    )


@member_view(*WRITERS)
@require_http_methods(["GET", "HEAD", "POST"])
def split(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The form: proposed at first, changed by its buttons, then the split. Every step keeps what was typed."""
    triple = triple_for(member_of(request), pk)
    if reason := rules.split_refusal(triple, participation_for(triple, member_of(request))):
        if request.method == "GET":
            return redirect("review:triple", slug=project.slug, pk=triple.pk)
        raise DisputeRefused(reason, code="not_splittable")
    if request.method == "GET":
        return _page(request, ClaimsSheet(triple), go_on=1)
    do = request.POST.get("do", "split")
    if do != "split":
        data, go_on = _rearranged(request.POST, do)
        return _page(request, ClaimsSheet(triple, data), go_on=go_on)
    return _split(request, project, ClaimsSheet(triple, request.POST))


def _split(request: HttpRequest, project: Project, sheet: ClaimsSheet) -> HttpResponse:
    if first := sheet.first_fault():
        return _page(request, sheet, go_on=first[0], fault=first[1], status=400)
    try:
        children = split_triple(
            project=project,
            triple_id=sheet.triple.pk,
            author=user_of(request),
            claims=sheet.claims(),
            at=timezone.now(),
        )
    except DisputeRefused as refusal:
        if refusal.code != "claims":
            raise
        return _page(request, sheet, fault=refusal.sentence, status=400)
    labels = ", ".join(child.label for child in children)
    messages.info(
        request, f"{sheet.triple.label} is split into {labels}. Each is a draft; {children[0].label} is open."
    )
    return redirect("triples:edit", slug=project.slug, pk=children[0].pk)
