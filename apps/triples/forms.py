"""What the bench sends."""

import json
from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.common.forms import KaratForm
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.queries.enums import Difficulty
from apps.queries.models import Source
from apps.triples.drafting import BlockChoice, Wording
from apps.triples.enums import RetireReason
from apps.triples.evidence import moved, quoted, spans_of
from apps.triples.models import ExpectedBlock, Revision
from apps.triples.selectors import entry_of_block

MOST_SPANS = 40
BIGGEST = 2**63 - 1


class BenchForm(KaratForm):
    """A wording as the page holds it.

    `spans` are the marks that the page's script keeps, into the version named by `pinned`. `evidence` holds the same
    passages as text, one a line, for whoever pastes them: it counts when it is no longer what the page showed.
    """

    question = forms.CharField(
        required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2, "class": "serif"})
    )
    answer = forms.CharField(
        label="Expected answer",
        required=False,
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "serif"}),
    )
    evidence = forms.CharField(
        label="Evidence as text", required=False, max_length=20000, widget=forms.Textarea(attrs={"rows": 3})
    )
    source = forms.ModelChoiceField(Source.objects.none(), required=False, empty_label="none")
    domain = forms.CharField(required=False, max_length=80)
    difficulty = forms.ChoiceField(required=False, choices=[("", "not said"), *Difficulty.choices])
    seen_version = forms.IntegerField(required=False, min_value=0, max_value=BIGGEST, widget=forms.HiddenInput())
    block = forms.IntegerField(required=False, max_value=BIGGEST, widget=forms.HiddenInput())
    pinned = forms.IntegerField(required=False, max_value=BIGGEST, widget=forms.HiddenInput())
    spans = forms.CharField(required=False, max_length=4000, widget=forms.HiddenInput())
    evidence_shown = forms.CharField(required=False, strip=False, widget=forms.HiddenInput())
    query = forms.IntegerField(required=False, max_value=BIGGEST, widget=forms.HiddenInput())

    def __init__(self, *args: Any, project: Project, snapshot: Snapshot, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.snapshot = snapshot
        self.entry: SnapshotBlock | None = None
        self.fields["source"].queryset = Source.objects.filter(project=project).order_by("name")  # type: ignore[attr-defined]

    def clean_block(self) -> int | None:
        block = self.cleaned_data["block"]
        if block is not None:
            self.entry = entry_of_block(self.snapshot, block)
            if self.entry is None:
                raise forms.ValidationError("This block is not in the newest snapshot. Choose another.")
        return block

    def clean_spans(self) -> list[tuple[int, int]]:
        try:
            raw = json.loads(self.cleaned_data["spans"] or "[]")
            spans = [(int(start), int(end)) for start, end in raw]
        except (ValueError, TypeError, OverflowError) as error:
            raise forms.ValidationError("The marks could not be read.") from error
        if len(spans) > MOST_SPANS:
            raise forms.ValidationError(f"No more than {MOST_SPANS} passages can be marked.")
        return spans

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.entry is None or self.errors:
            return data
        pasted, shown = data.get("evidence", ""), data.get("evidence_shown", "")
        if pasted.split() != shown.split():
            data["spans"] = self._pasted(self.entry.version, pasted)
        elif data.get("pinned") not in (None, self.entry.version_id):
            data["spans"] = self._moved(data["pinned"], data["spans"])
        return data

    def _pasted(self, version: BlockVersion, pasted: str) -> list[tuple[int, int]]:
        lines = [line.strip() for line in pasted.splitlines() if line.strip()]
        found = spans_of(version.text, lines)
        for number, span in enumerate(found, start=1):
            if span is None:
                self.add_error("evidence", f"Line {number} is not in the text of the block.")
        return [span for span in found if span is not None]

    def _moved(self, pinned: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        old = BlockVersion.objects.filter(pk=pinned, block=self.entry.block_id if self.entry else None).first()
        return moved(old.text, spans, self.entry.version.text) if old and self.entry else []

    def wording(self) -> Wording:
        data = self.cleaned_data
        blocks = (BlockChoice(self.entry.version_id, tuple(data["spans"])),) if self.entry else ()
        return Wording(
            question=data["question"],
            answer=data["answer"],
            blocks=blocks,
            domain=data["domain"],
            difficulty=data["difficulty"],
            source_id=data["source"].pk if data["source"] else None,
        )


def initial_of(revision: Revision, blocks: list[ExpectedBlock]) -> dict[str, Any]:
    """The form's fields from a stored revision."""
    triple = revision.triple
    first = blocks[0] if blocks else None
    quotes = evidence_lines(first.version.text, first.spans) if first else ""
    return {
        "question": revision.question,
        "answer": revision.answer,
        "source": triple.source_id,
        "domain": triple.domain,
        "difficulty": triple.difficulty,
        "seen_version": triple.edit_version,
        "block": first.version.block_id if first else None,
        "pinned": first.version_id if first else None,
        "spans": json.dumps([list(span) for span in first.spans]) if first else "[]",
        "evidence": quotes,
        "evidence_shown": quotes,
    }


def evidence_lines(text: str, spans: list) -> str:
    """The marked passages, one a line, line ends inside a passage made blanks."""
    return "\n".join(" ".join(quoted(text, [tuple(span)]).split()) for span in sorted(spans))


class RetireForm(KaratForm):
    reason = forms.ChoiceField(choices=RetireReason.choices, widget=forms.RadioSelect())
