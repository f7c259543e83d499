from collections.abc import Sequence
from typing import Any

from django import forms

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.common.forms import KaratForm
from apps.judging.actions import Answer
from apps.judging.enums import CantJudgeReason, ErrorType
from apps.judging.guidelines import GradeText
from apps.judging.models import Guideline
from apps.judging.plan import Plan
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool


class GradeForm(forms.Form):
    """One grade from the judging screen when no script runs."""

    seat = forms.IntegerField(min_value=1)
    key = forms.CharField(max_length=64)
    grade = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    cant_judge = forms.ChoiceField(required=False, choices=[("", ""), *CantJudgeReason.choices])
    note = forms.CharField(required=False, max_length=10_000)

    def __init__(self, *args: Any, scale: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["grade"].choices = [(grade, str(grade)) for grade in scale]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if (data.get("grade") is None) == (not data.get("cant_judge")):
            raise forms.ValidationError("A judgement is either a grade or a reason.")
        return data

    def answer(self) -> Answer:
        """The validated answer, for the action."""
        data = self.cleaned_data
        return Answer(grade=data["grade"], cant_judge=data["cant_judge"], note=data["note"])


class PoolField(forms.ModelChoiceField):
    def label_from_instance(self, pool: Pool) -> str:
        return f"{pool.name}: {pool.entry_count:,} pairs on {pool.snapshot}"


class RoundForm(KaratForm):
    """A plan: which pool, who, and how often a pair is judged."""

    pool = PoolField(Pool.objects.none(), empty_label=None, help_text="The pairs to judge.")
    annotators = forms.ModelMultipleChoiceField(
        User.objects.none(), required=False, widget=forms.CheckboxSelectMultiple, label="Annotators"
    )
    overlap = forms.FloatField(
        label="Overlap",
        min_value=0,
        max_value=100,
        initial=20,
        help_text="Percent of the pairs that several people judge; agreement is read from these. 100 is all of them.",
        error_messages={
            "min_value": "Overlap is a share of the pairs: 0 to 100 %%.",
            "max_value": "Overlap is a share of the pairs: 0 to 100 %%.",
        },
    )
    judges = forms.IntegerField(
        label="Judges on an overlapping pair", min_value=2, max_value=9, initial=2, help_text="The others get one."
    )
    name = forms.CharField(max_length=120, required=False, help_text="“Round” and its number when left open.")
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**62,
        help_text="The choice of pairs follows from their ids and this number, so it can be repeated.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes a pair is held", min_value=5, max_value=24 * 60, initial=30, help_text="Then others may get it."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pools = Pool.objects.filter(project=project, state=PoolState.COMPLETE, entry_count__gt=0)
        self.pools = pools.exclude(kind=PoolKind.IMPORTED).select_related("snapshot").order_by("-pk")
        people = members_of(project, Role.ANNOTATOR)
        self.fields["pool"].queryset = self.pools  # type: ignore[attr-defined]
        self.fields["annotators"].queryset = people  # type: ignore[attr-defined]
        self.fields["annotators"].initial = list(people)
        self.fields["pool"].initial = self.pools.first()

    def plan(self) -> Plan:
        """The plan that was asked for; call on a valid form."""
        data = self.cleaned_data
        return Plan(overlap=data["overlap"] / 100, judges=data["judges"], seed=data["seed"])


class GuidelineForm(KaratForm):
    """The general words and, for each grade of the scale, a name, a definition and examples, one a line."""

    markdown = forms.CharField(
        label="What holds for every grade",
        required=False,
        max_length=20_000,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Markdown: **bold**, *emphasis*, lists, links. Shown under the grades.",
    )

    def __init__(self, *args: Any, scale: Sequence[dict[str, Any]], latest: Guideline | None, **kwargs: Any) -> None:
        self.grades = [entry["grade"] for entry in scale]
        known = {entry["grade"]: entry for entry in (latest.grades if latest else [])}
        start: dict[str, str] = {"markdown": latest.markdown if latest else ""}
        for entry in scale:
            told = known.get(entry["grade"], {})
            start[f"name_{entry['grade']}"] = told.get("name", entry["name"])
            start[f"definition_{entry['grade']}"] = told.get("definition", "")
            start[f"examples_{entry['grade']}"] = "\n".join(told.get("examples", []))
        kwargs.setdefault("initial", start)
        super().__init__(*args, **kwargs)
        for grade in self.grades:
            self._add_fields(grade)

    def _add_fields(self, grade: int) -> None:
        css = {"class": "input"}
        self.fields[f"name_{grade}"] = forms.CharField(label="Name", max_length=60, widget=forms.TextInput(attrs=css))
        self.fields[f"definition_{grade}"] = forms.CharField(
            label="Given when", max_length=2_000, widget=forms.Textarea(attrs={"rows": 2, **css})
        )
        self.fields[f"examples_{grade}"] = forms.CharField(
            label="Examples",
            required=False,
            max_length=10_000,
            widget=forms.Textarea(attrs={"rows": 5, "class": "input serif"}),
            help_text="One a line. 5 to 10 let judges tell the grades apart.",
        )

    @property
    def by_grade(self) -> list[tuple[int, list[forms.BoundField]]]:
        """The fields of each grade, highest first."""
        names = ("name", "definition", "examples")
        return [(grade, [self[f"{name}_{grade}"] for name in names]) for grade in sorted(self.grades, reverse=True)]

    def grade_texts(self) -> list[GradeText]:
        """What was written of each grade, lowest first; call on a valid form."""
        data = self.cleaned_data
        return [
            GradeText(
                grade=grade,
                name=data[f"name_{grade}"].strip(),
                definition=data[f"definition_{grade}"].strip(),
                examples=[line.strip() for line in data[f"examples_{grade}"].splitlines() if line.strip()],
            )
            for grade in sorted(self.grades)
        ]


class AdjudicationForm(KaratForm):
    """A decision: a grade or "can't be judged", why, and what made the judges differ."""

    CANT = "x"

    grade = forms.ChoiceField(error_messages={"required": "Choose a grade, or that the pair can’t be judged."})
    error_type = forms.ChoiceField(
        choices=ErrorType.choices, error_messages={"required": "Say what made the judges differ."}
    )
    reason = forms.CharField(
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "A decision needs its reason in words."},
    )

    def __init__(self, *args: Any, scale: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [*((str(grade), str(grade)) for grade in scale), (self.CANT, "can’t be judged")]
        self.fields["grade"].choices = choices  # type: ignore[attr-defined]

    @property
    def decided(self) -> int | None:
        """The grade, None for "can't be judged"; call on a valid form."""
        value = self.cleaned_data["grade"]
        return None if value == self.CANT else int(value)
