"""Forms of reviewers, authors and leads."""

import uuid
from typing import Any

from django import forms

from apps.accounts.models import Project, User
from apps.common.database.statements import LARGEST_KEY
from apps.common.web.forms import KaratForm, offer, offer_rows, show_rows
from apps.queries.models import Source
from apps.review.enums import BulkKind, CandidateChoice, Category, Decision, Reason, VerdictChoice
from apps.review.selectors.board import AGES, KIND_LABELS, BoardFilters, people_of_board
from apps.review.selectors.seats import STUCK, UNANSWERED_ONES, able_in
from apps.triples.core.checks import CAN_WARN
from apps.triples.enums import RetireReason

NOTE_LENGTH = 4000


LONGEST_REASON = 2_000
"""Why many Q&As at once were taken as accepted."""


class TakeForm(forms.Form):
    """Where and how the Q&As of an import were reviewed."""

    reason = forms.CharField(max_length=LONGEST_REASON)


class DrawForm(forms.Form):
    """How many Q&As of an import are reviewed again here, those drawn before included."""

    size = forms.IntegerField(min_value=1, max_value=LARGEST_KEY)


class AnswerForm(forms.Form):
    """One answer. The rules check that its parts fit together; the fields only check their values."""

    key = forms.CharField(max_length=64, widget=forms.HiddenInput())
    choice = forms.ChoiceField(choices=VerdictChoice.choices)
    reasons = forms.MultipleChoiceField(choices=Reason.choices, required=False)
    category = forms.ChoiceField(choices=[("", ""), *Category.choices], required=False)
    note = forms.CharField(required=False, max_length=NOTE_LENGTH)

    def answer(self) -> dict[str, Any]:
        """The answer; a confirmation without what was ticked before it."""
        data = self.cleaned_data
        is_flag = data["choice"] == VerdictChoice.FLAG
        return {
            "choice": data["choice"],
            "reasons": data["reasons"] if is_flag else [],
            "category": data["category"] if is_flag else "",
            "note": data["note"],
            "idempotency_key": data["key"],
        }


class VerdictForm(AnswerForm):
    """An answer to one revision of a triple."""

    revision = forms.IntegerField(max_value=LARGEST_KEY, widget=forms.HiddenInput())

    def verdict(self) -> dict[str, Any]:
        return {"revision_id": self.cleaned_data["revision"], **self.answer()}


def fresh_key() -> str:
    return uuid.uuid4().hex


class CandidateAnswerForm(forms.Form):
    """One answer about a passage that may be right as well."""

    key = forms.CharField(max_length=64, widget=forms.HiddenInput())
    choice = forms.ChoiceField(choices=CandidateChoice.choices)
    note = forms.CharField(required=False, max_length=NOTE_LENGTH)


class CandidateDecisionForm(forms.Form):
    step = forms.CharField(max_length=20)
    reason = forms.CharField(required=False, max_length=NOTE_LENGTH)


class MessageForm(KaratForm):
    text = forms.CharField(max_length=8000, required=False, widget=forms.Textarea(attrs={"rows": 2}))


class ReasonForm(KaratForm):
    reason = forms.CharField(max_length=4000, required=False, widget=forms.Textarea(attrs={"rows": 3}))


class PolicyForm(KaratForm):
    policy = forms.ChoiceField(choices=Category.choices)


class AdjudicateForm(ReasonForm):
    decision = forms.ChoiceField(choices=[(decision.value, decision.value) for decision in Decision])


class BoardForm(KaratForm):
    """The filters of the board. An invalid value filters nothing."""

    state = forms.ChoiceField(required=False, choices=[("", "any"), *KIND_LABELS.items()])
    show = forms.ChoiceField(
        required=False, choices=[("", "everything"), ("stuck", "stuck only"), ("escalated", "escalated only")]
    )
    days = forms.TypedChoiceField(
        label="Age",
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", "any time"), *((days, f"{days} day{'s' if days > 1 else ''} or more") for days in AGES)],
    )
    domain = forms.CharField(required=False, max_length=80)
    source = forms.ModelChoiceField(Source.objects.none(), required=False, empty_label="any")
    author = forms.ModelChoiceField(User.objects.none(), required=False, empty_label="anybody")
    reviewer = forms.ModelChoiceField(User.objects.none(), required=False, empty_label="anybody")

    def __init__(self, *args: Any, project: Project, people: list[User] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "source", Source.objects.filter(project=project).order_by("name"))
        for name in ("author", "reviewer"):
            offer_rows(self, name, people_of_board(project))
            if people is not None:
                show_rows(self, name, people)

    def filters(self) -> BoardFilters:
        self.is_valid()
        data = self.cleaned_data
        keys = {name: data[name].pk if data.get(name) else None for name in ("source", "author", "reviewer")}
        return BoardFilters(
            state=data.get("state", ""),
            days=data.get("days"),
            domain=data.get("domain", "").replace("\x00", ""),
            show=data.get("show", ""),
            **keys,
        )


ANSWER = "answer_"
NO_SOURCE = "none"
WHOM = [(STUCK, "reviewers who cannot answer"), (UNANSWERED_ONES, "everybody who has not answered")]


class BulkForm(KaratForm):
    """What a bulk step takes, of whichever kind. A field that its kind does not take is ignored."""

    replace = forms.ChoiceField(
        label="Replace",
        required=False,
        choices=WHOM,
    )
    to = forms.ModelMultipleChoiceField(
        User.objects.none(),
        label="By",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Only those chosen get any, by workload. When some are left out, those chosen keep what they have.",
    )
    why = forms.CharField(label="Reason", max_length=300, required=False, initial="Its reviewer cannot answer in time.")
    source = forms.ChoiceField(label="Source", required=False)
    domain = forms.CharField(label="Domain", max_length=80, required=False, help_text="Empty: stays as it is.")
    no_domain = forms.BooleanField(label="No domain", required=False)
    retire = forms.ChoiceField(label="Reason", required=False, choices=RetireReason.choices, widget=forms.RadioSelect)

    def __init__(self, *args: Any, project: Project, people: list[User] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = list(people_of_board(project)) if people is None else people
        named = [(str(person.pk), str(person)) for person in people]
        offer(self, "replace", [*WHOM, *named])
        able = list(able_in(project))
        offer_rows(self, "to", able_in(project))
        show_rows(self, "to", able)
        self.fields["to"].initial = [person.pk for person in able]
        sources = Source.objects.filter(project=project).order_by("name").values_list("pk", "name")
        offer(self, "source", [("", "stays as it is"), (NO_SOURCE, "none"), *((str(pk), name) for pk, name in sources)])
        for code, words in CAN_WARN.items():
            self.fields[f"{ANSWER}{code}"] = forms.CharField(label=words, max_length=1000, required=False)

    def proposed(self) -> dict[str, Any]:
        """What is chosen before anybody has chosen."""
        return {name: field.initial for name, field in self.fields.items() if field.initial is not None}

    def values(self, kind: BulkKind) -> dict[str, Any]:
        """What this kind of step takes. The form is valid."""
        data = self.cleaned_data
        if kind is BulkKind.ASSIGN:
            replace = data["replace"] or STUCK
            chosen = sorted(person.pk for person in data["to"])
            to = None if chosen == sorted(self.fields["to"].initial) else chosen  # None: everybody, as ever
            return {"replace": int(replace) if replace.isdecimal() else replace, "to": to, "reason": data["why"]}
        if kind is BulkKind.DESCRIBE:
            return self._description()
        if kind is BulkKind.RETIRE:
            return {"reason": data["retire"]}
        if kind is BulkKind.SUBMIT:
            given = {code: data[f"{ANSWER}{code}"] for code in CAN_WARN}
            return {"answers": {code: reason for code, reason in given.items() if reason}}
        return {}

    def _description(self) -> dict[str, Any]:
        data, changes = self.cleaned_data, {}
        if data["source"]:
            changes["source_id"] = None if data["source"] == NO_SOURCE else int(data["source"])
        if data["domain"] or data["no_domain"]:
            changes["domain"] = data["domain"].replace("\x00", "")
        return changes
