"""Forms of the bench and of the lists of triples."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django import forms
from django.http import QueryDict

from apps.accounts.models import Project, User
from apps.common.database.statements import LARGEST_KEY
from apps.common.web.forms import KaratForm, offer_rows
from apps.common.web.requests import key_in
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.queries.enums import Difficulty
from apps.queries.models import Source
from apps.triples.core.checks import answers_in
from apps.triples.core.evidence import Span, moved, quoted, spans_of
from apps.triples.enums import RetireReason
from apps.triples.models import ExpectedBlock, Revision
from apps.triples.rules import WRITERS
from apps.triples.selectors.draft_checks import BlockChoice, Wording
from apps.triples.selectors.triples import Narrowing, entries_of_blocks, states

MOST_BLOCKS = 12
MOST_SPANS = 40
MOST_MARKS = 4000
MOST_EVIDENCE = 20_000
ANY, ALL = "any", "all"


@dataclass(frozen=True)
class SentBlock:
    """One expected block as it was sent, not validated: its pinned version and its marks.

    The form names a block once, as `block`; its fields have its id: `pinned-7`, `spans-7`, `evidence-7`,
    `evidence_shown-7`. So rows can be added, moved and removed on the page without numbering them anew.

    `spans` is JSON. `evidence` holds the same passages as text, one a line, to paste them: it counts when it differs
    from `shown`, the text that the page showed.
    """

    block: int
    pinned: int | None = None
    spans: str = "[]"
    evidence: str = ""
    shown: str = ""

    @property
    def is_retyped(self) -> bool:
        return self.evidence.split() != self.shown.split()


def rows_of(data: QueryDict) -> list[SentBlock]:
    """The rows that were sent, each block once. A block id that is no number is left out."""
    ids = dict.fromkeys(block for text in data.getlist("block") if (block := key_in(text)) is not None)
    return [
        SentBlock(
            block,
            key_in(data.get(f"pinned-{block}", "")),
            data.get(f"spans-{block}", "") or "[]",
            data.get(f"evidence-{block}", ""),
            data.get(f"evidence_shown-{block}", ""),
        )
        for block in ids
    ]


class RowsWidget(forms.Widget):
    """Reads the rows; the page renders them with triples/_chosen.html."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[SentBlock]:
        return rows_of(data)


def changed(data: QueryDict) -> QueryDict:
    """The form after its `do` button: "add:7", "remove:7", "up:7" or "down:7". Anything else changes nothing."""
    verb, _, text = data.get("do", "").partition(":")
    block = key_in(text)
    if block is None:
        return data
    order = [str(row.block) for row in rows_of(data)]
    copy = data.copy()
    copy.setlist("block", _reordered(order, verb, str(block)))
    return copy


def _reordered(order: list[str], verb: str, block: str) -> list[str]:
    if verb == "add":
        return order if block in order else [*order, block]
    if block not in order:
        return order
    at = order.index(block)
    rest = order[:at] + order[at + 1 :]
    if verb == "remove":
        return rest
    to = {"up": max(at - 1, 0), "down": at + 1}.get(verb, at)
    return [*rest[:to], block, *rest[to:]]


@dataclass
class Expected:
    """An expected block as the form has it now, valid or not: its values, and its faults."""

    row: SentBlock
    entry: SnapshotBlock | None
    spans: list[Span] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        if self.entry is None:
            return "A passage that is gone"
        return self.entry.name

    @property
    def evidence(self) -> str:
        """The passages as text; as they were typed when one of them is not in the block."""
        if self.entry is None or self.faults:
            return self.row.evidence
        return evidence_lines(self.entry.version.text, self.spans)

    @property
    def shown(self) -> str:
        return self.row.shown if self.faults else self.evidence

    @property
    def marks(self) -> str:
        return json.dumps([list(span) for span in self.spans])

    @property
    def words_marked(self) -> int:
        text = self.entry.version.text if self.entry else ""
        return sum(len(text[start:end].split()) for start, end in self.spans)


class BenchForm(KaratForm):
    """A wording as the page has it. `blocks` are the rows of `chosen`, matched with the snapshot in `expected`."""

    question = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(
            attrs={"rows": 2, "class": "serif", "data-key": "w", "data-key-label": "Write the question"}
        ),
    )
    answer = forms.CharField(
        label="Expected answer",
        required=False,
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "serif"}),
    )
    blocks = forms.Field(required=False, widget=RowsWidget())
    needs = forms.ChoiceField(
        required=False,
        choices=[(ANY, "Any one of them is enough"), (ALL, "All of them are needed")],
        initial=ANY,
        widget=forms.RadioSelect(),
    )
    source = forms.ModelChoiceField(Source.objects.none(), required=False, empty_label="none")
    domain = forms.CharField(required=False, max_length=80)
    difficulty = forms.ChoiceField(required=False, choices=[("", "not set"), *Difficulty.choices])
    note = forms.CharField(
        required=False,
        max_length=4000,
        help_text="Shown on the page of the Q&A.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    seen_version = forms.IntegerField(required=False, min_value=0, max_value=LARGEST_KEY, widget=forms.HiddenInput())
    query = forms.IntegerField(required=False, max_value=LARGEST_KEY, widget=forms.HiddenInput())
    corpus = forms.IntegerField(required=False, max_value=LARGEST_KEY, widget=forms.HiddenInput())
    key = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput())

    def __init__(self, *args: Any, project: Project, snapshot: Snapshot, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.snapshot = snapshot
        offer_rows(self, "source", Source.objects.filter(project=project).order_by("name"))

    @cached_property
    def expected(self) -> list[Expected]:
        """The expected blocks in their order, valid or not."""
        rows: list[SentBlock] = (self["blocks"].value() or [])[: MOST_BLOCKS + 1]
        entries = entries_of_blocks(self.snapshot, [row.block for row in rows])
        pinned = BlockVersion.objects.in_bulk(
            [row.pinned for row in rows if row.pinned and row.block in entries and not _is_current(row, entries)]
        )
        return [_expected(row, entries.get(row.block), pinned.get(row.pinned or 0)) for row in rows]

    def clean_blocks(self) -> list[Expected]:
        if len(self.expected) > MOST_BLOCKS:
            raise forms.ValidationError(f"At most {MOST_BLOCKS} passages can be expected.")
        if faults := [fault for block in self.expected for fault in block.faults]:
            raise forms.ValidationError(faults)
        return self.expected

    def wording(self) -> Wording:
        data = self.cleaned_data
        blocks = tuple(
            BlockChoice(block.entry.version_id, tuple(block.spans)) for block in data["blocks"] if block.entry
        )
        return Wording(
            question=_lines(data["question"]),
            answer=_lines(data["answer"]),
            blocks=blocks,
            needs_all_blocks=len(blocks) > 1 and data["needs"] == ALL,
            note=_lines(data["note"]),
            domain=data["domain"],
            difficulty=data["difficulty"],
            source_id=data["source"].pk if data["source"] else None,
            answers=tuple(answers_in(self.data).items()),
        )


def _lines(text: str) -> str:
    """The text with stored line ends, whether a form or a script sent it."""
    return text.replace("\r\n", "\n")


def _is_current(row: SentBlock, entries: dict[int, SnapshotBlock]) -> bool:
    return entries[row.block].version_id == row.pinned


def _expected(row: SentBlock, entry: SnapshotBlock | None, pinned: BlockVersion | None) -> Expected:
    """One row: pasted passages located in the text, marks on an older text moved to the text of the snapshot."""
    if entry is None:
        fault = "An expected passage is not in the newest snapshot. Remove it or choose another."
        return Expected(row, None, faults=[fault])
    text = entry.version.text
    if row.is_retyped:
        return _pasted(row, entry)
    spans = _read_spans(row.spans)
    if isinstance(spans, str):
        return Expected(row, entry, faults=[spans])
    if pinned is not None:
        spans = moved(pinned.text, spans, text) if pinned.block_id == row.block else []
    return Expected(row, entry, spans)


def _read_spans(text: str) -> list[Span] | str:
    """The marks, or what is wrong with them."""
    try:
        spans = [(int(start), int(end)) for start, end in json.loads(text[:MOST_MARKS])]
    except (ValueError, TypeError, OverflowError):
        return "The marks could not be read."
    return spans if len(spans) <= MOST_SPANS else f"At most {MOST_SPANS} quotes can be marked in a passage."


def _pasted(row: SentBlock, entry: SnapshotBlock) -> Expected:
    lines = [line.strip() for line in row.evidence[:MOST_EVIDENCE].splitlines() if line.strip()]
    if len(lines) > MOST_SPANS:
        return Expected(row, entry, faults=[f"At most {MOST_SPANS} quotes can be marked in a passage."])
    spans = spans_of(entry.version.text, lines)
    faults = [f"Line {number} is not in the text of the passage." for number, span in enumerate(spans, 1) if not span]
    return Expected(row, entry, [span for span in spans if span], faults)


def initial_of(revision: Revision, blocks: list[ExpectedBlock]) -> dict[str, Any]:
    """The form's fields from a stored revision."""
    triple = revision.triple
    return {
        "question": revision.question,
        "answer": revision.answer,
        "source": triple.source_id,
        "domain": triple.domain,
        "difficulty": triple.difficulty,
        "note": revision.note,
        "needs": ALL if revision.needs_all_blocks else ANY,
        "seen_version": triple.edit_version,
        "corpus": triple.snapshot.corpus_id,
        "blocks": [
            SentBlock(block.version.block_id, block.version_id, json.dumps([list(span) for span in block.spans]))
            for block in blocks
        ],
    }


def evidence_lines(text: str, spans: Sequence[Sequence[int]]) -> str:
    """The marked passages, one per line, line ends inside a passage made blanks."""
    in_order = sorted((start, end) for start, end in spans)
    return "\n".join(" ".join(quoted(text, [span]).split()) for span in in_order)


class ListForm(KaratForm):
    """The filters of a list of triples. An invalid value filters nothing."""

    state = forms.ChoiceField(required=False, choices=[("", "any"), *states()])
    domain = forms.CharField(required=False, max_length=80)
    source = forms.ModelChoiceField(Source.objects.none(), required=False, empty_label="any")
    author = forms.ModelChoiceField(User.objects.none(), required=False, empty_label="anybody")

    def __init__(self, *args: Any, project: Project, mine: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "source", Source.objects.filter(project=project).order_by("name"))
        if mine:
            del self.fields["author"]
        else:
            people = User.objects.filter(memberships__project=project, memberships__role__in=WRITERS)
            offer_rows(self, "author", people.distinct().order_by("name", "pk"))

    def narrowing(self, *, words: str) -> Narrowing:
        self.is_valid()
        data = self.cleaned_data
        return Narrowing(
            state=data.get("state", ""),
            domain=data.get("domain", ""),
            source=data.get("source"),
            author=data.get("author"),
            words=words,
        )


class RetireForm(KaratForm):
    reason = forms.ChoiceField(choices=RetireReason.choices, widget=forms.RadioSelect())
