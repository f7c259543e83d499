"""Forms of judging: a grade without script, keys, a guideline, and the decisions of a lead on one pair or on many."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms
from django.forms import BoundField

from apps.common.web.forms import KaratForm, offer
from apps.judging.core import keymap
from apps.judging.core.guidelines import MANY_EXAMPLES, GradeText, GuidelineExample, as_example, as_stored
from apps.judging.core.resolution import Answer
from apps.judging.enums import CantJudgeReason, ErrorType
from apps.judging.models import Guideline
from apps.judging.selectors.propagation import CarryRule


class SettleForm(KaratForm):
    """One decision on many pairs: why their judges differed, the rule, and the mark of the pairs that were shown."""

    rule = forms.CharField(widget=forms.HiddenInput)
    seen = forms.CharField(max_length=64, widget=forms.HiddenInput)
    error_type = forms.ChoiceField(
        label="Why the judges differed",
        choices=[("", "choose"), *ErrorType.choosable()],
        error_messages={"required": "Choose why the judges differed."},
    )
    words = forms.CharField(
        label="In your words",
        required=False,
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Added to the reason of every decision, after the rule.",
    )


class CarryForm(KaratForm):
    """The rule that carries grades over, and the mark of the pairs that were shown."""

    rule = forms.ChoiceField(choices=[(rule, rule) for rule in CarryRule])
    seen = forms.CharField(max_length=64)


class FacetsField(forms.MultipleChoiceField):
    """Ids of subtopics; which the query has is the action's to say."""

    def valid_value(self, value: str) -> bool:
        return True


class GradeForm(forms.Form):
    """One grade from the judging screen without script. `has_facets`: subtopics were asked for, perhaps none chosen."""

    seat = forms.IntegerField(min_value=1)
    key = forms.CharField(max_length=64)
    grade = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    cant_judge = forms.ChoiceField(required=False, choices=[("", ""), *CantJudgeReason.choices])
    note = forms.CharField(required=False, max_length=10_000)
    spans = forms.JSONField(required=False)
    facets = FacetsField(required=False)
    has_facets = forms.BooleanField(required=False)

    def __init__(self, *args: Any, scale: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "grade", [(grade, str(grade)) for grade in scale])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if (data.get("grade") is None) == (not data.get("cant_judge")):
            raise forms.ValidationError("A judgement is either a grade or a reason.")
        return data

    def answer(self) -> Answer:
        """The validated answer, for the action."""
        data = self.cleaned_data
        spans = data["spans"] or []
        facets = data["facets"] if data["has_facets"] and data["grade"] is not None else None
        return Answer(grade=data["grade"], cant_judge=data["cant_judge"], note=data["note"], spans=spans, facets=facets)


class KeysForm(KaratForm):
    """A key for each act of the judging screen; `choose_keys` validates them together."""

    digits_are_free = forms.BooleanField(
        required=False,
        label="Allow digit keys for other actions",
        help_text="Otherwise 2 is always grade 2.",
    )

    def __init__(self, *args: Any, scale: Sequence[dict[str, Any]], chosen: dict[str, str], **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"digits_are_free": keymap.frees_digits(chosen)})
        super().__init__(*args, **kwargs)
        now = keymap.keys_of(chosen)
        names = {f"grade_{entry['grade']}": f"{entry['grade']}, {entry['name']}" for entry in scale}
        self.acts = keymap.acts_for(entry["grade"] for entry in scale)
        for act in self.acts:
            # At most one character as typed, of one or more code points; the action validates it.
            attrs = {
                "class": "input key-input", "maxlength": 4, "autocomplete": "off", "autocapitalize": "none",
                "spellcheck": "false", "data-cap": "",
            }  # fmt: skip
            self.fields[act.name] = forms.CharField(
                label=names.get(act.name, act.words), initial=now[act.name], widget=forms.TextInput(attrs=attrs),
                error_messages={"required": f"Enter a key. The default is {act.usual}."},
            )  # fmt: skip

    @property
    def parts(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields under their headings, in order."""
        parts: dict[str, list[forms.BoundField]] = {"Grades": [], "Can’t judge": [], "Other actions": []}
        reasons = {"cant_judge", *CantJudgeReason.values}
        for act in self.acts:
            part = "Grades" if act in keymap.GRADES else "Can’t judge" if act.name in reasons else "Other actions"
            parts[part].append(self[act.name])
        return list(parts.items())

    @property
    def keys(self) -> dict[str, str]:
        """The key of each act; call on a valid form."""
        return {act.name: self.cleaned_data[act.name] for act in self.acts}

    def blame(self, faults: dict[str, str]) -> None:
        """Add each fault to the field of its key."""
        for name, sentence in faults.items():
            self.add_error(name, sentence)


CANT = "x"
"""The value of "can't judge" among grades."""


class SecondGradeForm(KaratForm):
    """An answer to a difference: a grade, or why the pair can't be judged, and a word where it is another one."""

    grade = forms.ChoiceField(error_messages={"required": "Choose your grade: the same again, or another one."})
    cant_judge = forms.ChoiceField(required=False, choices=[("", ""), *CantJudgeReason.choices])
    reason = forms.CharField(required=False, max_length=4_000, widget=forms.Textarea(attrs={"rows": 3}))
    seen = forms.IntegerField(min_value=0, max_value=10_000, widget=forms.HiddenInput)
    key = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, scale: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "grade", [*((str(grade), str(grade)) for grade in scale), (CANT, "can’t judge")])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("grade") == CANT and not data.get("cant_judge"):
            self.add_error("cant_judge", "Choose why it can’t be judged.")
        return data

    def answer(self) -> dict[str, Any]:
        """The answer, for the action; call on a valid form."""
        data = self.cleaned_data
        cant = data["grade"] == CANT
        return {
            "grade": None if cant else int(data["grade"]),
            "cant_judge": data["cant_judge"] if cant else "",
            "reason": data["reason"],
            "seen": data["seen"],
            "idempotency_key": data["key"],
        }


class HoldForm(KaratForm):
    """A lead's grade for one pair, or "can't be judged", and the subtopics it answers."""

    grade = forms.ChoiceField()
    facets = FacetsField(required=False)
    has_facets = forms.BooleanField(required=False)

    def __init__(self, *args: Any, scale: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "grade", [*((str(grade), str(grade)) for grade in scale), (CANT, "can’t be judged")])

    @property
    def decided(self) -> int | None:
        """The grade, None for "can't be judged"; call on a valid form."""
        value = self.cleaned_data["grade"]
        return None if value == CANT else int(value)

    @property
    def chosen(self) -> list[str] | None:
        """The subtopics; None where the query has none, or the pair can't be judged."""
        if not self.cleaned_data["has_facets"] or self.decided is None:
            return None
        chosen: list[str] = self.cleaned_data["facets"]
        return chosen if self.decided > 0 else []


class DecideForm(KaratForm):
    """Why the judges differed, and the reason: once for all pairs that are selected."""

    error_type = forms.ChoiceField(
        choices=ErrorType.choosable(), error_messages={"required": "Choose why the judges differed."}
    )
    reason = forms.CharField(
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "A decision needs a reason in words."},
    )


PARTS = {
    "query": ("Query", "What somebody searched for.", 500, 1),
    "text": ("Passage", "The relevant part of the passage.", 2_000, 3),
    "why": ("Why this grade", "Why not the grade above or below.", 500, 1),
}


class ExampleRow(NamedTuple):
    """The fields of one example, and its first words to show while it is folded."""

    number: int
    fields: list[BoundField]
    beginning: str
    is_faulty: bool


class GradeFields(NamedTuple):
    """The fields of one grade. `rows` are shown, `more` are folded until they are needed."""

    grade: int
    fields: list[BoundField]
    rows: list[ExampleRow]
    more: list[ExampleRow]
    written: int


class GuidelineForm(KaratForm):
    """The general text and, for each grade of the scale, a name, a definition and up to ten examples."""

    markdown = forms.CharField(
        label="Rules for every grade",
        required=False,
        max_length=20_000,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Markdown: **bold**, *emphasis*, lists, links. Shown under the grades.",
    )

    def __init__(self, *args: Any, scale: Sequence[dict[str, Any]], latest: Guideline | None, **kwargs: Any) -> None:
        self.scale = sorted(entry["grade"] for entry in scale)
        self.places: dict[int, int] = {}
        known = {entry["grade"]: entry for entry in (latest.grades if latest else [])}
        start: dict[str, str] = {"markdown": latest.markdown if latest else ""}
        for entry in scale:
            earlier = known.get(entry["grade"], {})
            start[f"name_{entry['grade']}"] = earlier.get("name", entry["name"])
            start[f"definition_{entry['grade']}"] = earlier.get("definition", "" if latest else entry.get("hint", ""))
            start |= self._examples_of(entry["grade"], earlier.get("examples", []))
        kwargs.setdefault("initial", start)
        super().__init__(*args, **kwargs)
        for grade in self.scale:
            self._add_fields(grade)

    def _examples_of(self, grade: int, examples: Sequence[str | GuidelineExample]) -> dict[str, str]:
        self.places[grade] = max(MANY_EXAMPLES, len(examples))
        rows = enumerate(map(as_example, examples), start=1)
        return {_name(grade, number, part): str(value) for number, example in rows for part, value in example.items()}

    def _add_fields(self, grade: int) -> None:
        css = {"class": "input"}
        self.fields[f"name_{grade}"] = forms.CharField(label="Name", max_length=60, widget=forms.TextInput(attrs=css))
        self.fields[f"definition_{grade}"] = forms.CharField(
            label="Given when", max_length=2_000, widget=forms.Textarea(attrs={"rows": 2, **css})
        )
        for number in range(1, self.places[grade] + 1):
            for part, (label, help_text, limit, rows) in PARTS.items():
                attrs = {"class": "input serif" if part == "text" else "input", "data-part": part}
                widget = forms.Textarea(attrs={"rows": rows, **attrs}) if rows > 1 else forms.TextInput(attrs=attrs)
                self.fields[_name(grade, number, part)] = forms.CharField(
                    label=label, required=False, max_length=limit, widget=widget, help_text=help_text
                )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for grade in self.scale:
            for number in range(1, self.places[grade] + 1):
                example = self._example(grade, number)
                if (example["query"] or example["why"]) and not example["text"]:
                    message = f"Example {number} of grade {grade} has no passage. Enter what the passage says."
                    self.add_error(_name(grade, number, "text"), message)
        return data

    def _example(self, grade: int, number: int) -> GuidelineExample:
        query, text, why = (self.cleaned_data.get(_name(grade, number, part), "").strip() for part in PARTS)
        return GuidelineExample(query=query, text=text, why=why)

    @property
    def by_grade(self) -> list[GradeFields]:
        """The fields of each grade, highest first; as many examples are shown as there are, and one more."""
        return [self._grade_fields(grade) for grade in reversed(self.scale)]

    def _grade_fields(self, grade: int) -> GradeFields:
        rows = [self._row(grade, number) for number in range(1, self.places[grade] + 1)]
        last = max((row.number for row in rows if row.beginning or row.is_faulty), default=0)
        shown = min(last + 1, len(rows))
        fields = [self[f"name_{grade}"], self[f"definition_{grade}"]]
        return GradeFields(grade, fields, rows[:shown], rows[shown:], sum(bool(row.beginning) for row in rows))

    def _row(self, grade: int, number: int) -> ExampleRow:
        fields = [self[_name(grade, number, part)] for part in PARTS]
        return ExampleRow(number, fields, fields[1].value() or "", any(field.errors for field in fields))

    def grade_texts(self) -> list[GradeText]:
        """The text of each grade, lowest first; call on a valid form."""
        return [
            GradeText(
                grade=grade,
                name=self.cleaned_data[f"name_{grade}"].strip(),
                definition=self.cleaned_data[f"definition_{grade}"].strip(),
                examples=self._examples(grade),
            )
            for grade in self.scale
        ]

    def _examples(self, grade: int) -> list[str | GuidelineExample]:
        every = (self._example(grade, number) for number in range(1, self.places[grade] + 1))
        return [as_stored(example) for example in every if example["text"]]


def _name(grade: int, number: int, part: str) -> str:
    return f"example_{grade}_{number}_{part}"


class RejudgeForm(KaratForm):
    """Which earlier grades to judge again, on which snapshot."""

    grades = forms.TypedMultipleChoiceField(
        coerce=int, widget=forms.CheckboxSelectMultiple, error_messages={"required": "Choose at least one grade."}
    )
    snapshot = forms.TypedChoiceField(coerce=int)

    def __init__(self, *args: Any, grades: Sequence[int], snapshots: Sequence[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "grades", [(grade, str(grade)) for grade in grades])
        offer(self, "snapshot", snapshots)


class AbsenceForm(KaratForm):
    """Whether anything in the snapshot answers a query: a vote, or with `decide` a lead's decision, with its reason."""

    NOTHING, PASSAGE = "nothing", "passage"

    answer = forms.ChoiceField(
        choices=[(NOTHING, "Nothing answers it"), (PASSAGE, "A passage answers it")],
        error_messages={"required": "Choose whether a passage answers the query."},
    )
    passage = forms.CharField(required=False, max_length=300)
    reason = forms.CharField(required=False, max_length=4_000)
    decide = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("answer") == self.PASSAGE and not values.get("passage") and not values.get("decide"):
            self.add_error("passage", "Enter the id of the passage that answers the query.")
        return values
