"""Context of a guided split: its claims, proposed or posted, and the blocks that they can use as evidence."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django import forms
from django.http import QueryDict

from apps.common.text.blocktext import merge, plain
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.corpus.selectors.search import search_blocks
from apps.review.actions.disputes import Claim
from apps.review.core.claim_proposals import FEWEST, MOST, Span, sentences
from apps.review.selectors.proposed_claims import marked_pieces, proposed_claims
from apps.triples.core import checks
from apps.triples.core.checks import Check
from apps.triples.core.evidence import quoted, spans_of
from apps.triples.core.snippets import Piece, snippet
from apps.triples.models import ExpectedBlock, Triple
from apps.triples.selectors.draft_checks import BlockChoice, marked
from apps.triples.selectors.triples import expected_blocks

MOST_FOUND = 5
MOST_SENTENCES = 60
BIGGEST = 2**63 - 1


class ClaimForm(forms.Form):
    """One claim on the page: `passages` are ticked, each "version:start:end"; `quotes` are typed."""

    question = forms.CharField(required=False, max_length=2000)
    answer = forms.CharField(required=False, max_length=8000)
    quotes = forms.CharField(required=False, max_length=8000)
    sought = forms.CharField(required=False, max_length=500)
    block = forms.IntegerField(required=False, min_value=1, max_value=BIGGEST)
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
        self.forms = self._posted(posted) if posted is not None else self._proposed()
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

    def _posted(self, posted: QueryDict) -> list[ClaimForm]:
        made = [ClaimForm(posted, number=number) for number in range(1, count_in(posted) + 1)]
        for form in made:
            form.is_valid()
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

    def _blocks_at_hand(self, form: ClaimForm) -> dict[int, BlockVersion]:
        version = self.other_block(form)
        return {**({version.pk: version} if version else {}), **self._versions}

    def evidence(self, form: ClaimForm) -> tuple[list[tuple[BlockVersion, list[Span]]], list[str]]:
        """The blocks of a claim with the passages chosen in them, and the typed words that are in no block."""
        at_hand = self._blocks_at_hand(form)
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
            lost = self.evidence(form)[1]
            if lost:
                return (
                    form.number,
                    f"Claim {form.number}: “{lost[0]}” is in none of its passages. Copy it word for word.",
                )
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
        results += [check for version, spans in blocks if (check := _is_in_text(version, spans)).level != checks.PASS]
        if answer.strip() and evidence:
            results += checks.check_figures(answer, evidence)
        return results


def _is_in_text(version: BlockVersion, spans: Sequence[Span]) -> Check:
    block = marked(version, spans)
    return checks.check_evidence(block.text, block.spans)


def _read(value: str) -> tuple[int, Span]:
    """The version and the span of a tick; for an invalid one, a version that does not exist."""
    parts = value.split(":")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        return 0, (0, 0)
    return int(parts[0]), (int(parts[1]), int(parts[2]))
