"""Forms to create gates, one or those of a file, and to change the bound of one."""

import math
from typing import Any

from django import forms

from apps.common.web.forms import KaratForm, offer
from apps.evaluation.core.basis import basis_words
from apps.evaluation.forms import runs_offered
from apps.evaluation.rules import SPLIT_WORDS
from apps.gates.core import rule as gate_rule
from apps.gates.core.rule import FAIL, MEAN, WARN
from apps.gates.enums import Tier
from apps.gates.formats import LONGEST_FILE
from apps.gates.models import Gate
from apps.gates.rules import baseline_refusal, gate_refusal, measure_refusal, name_refusal, newest_of
from apps.gates.selectors import rule_of, slices_of
from apps.goldsets.enums import SliceKind
from apps.goldsets.models import GoldSet
from apps.metrics.expected.rules import BY_GRADES, TEXT
from apps.metrics.expected.rules import KINDS as HIT_KINDS
from apps.queries.core.strata import STRATA
from apps.retrieval.selectors.runs import runs_in
from apps.retrieval.selectors.systems import system_in, systems_in

AT_LEAST, AT_MOST, NO_WORSE = "at_least", "at_most", "no_worse_than"
KINDS = {
    AT_LEAST: "at least the threshold",
    AT_MOST: "at most the threshold",
    NO_WORSE: "no worse than a baseline beyond noise",
}
ENDS = {MEAN: "the value itself", "interval": "its whole interval"}
NOT_KNOWN = {FAIL: "karat eval ends with code 4", WARN: "karat eval warns and goes on"}
FIELDS = {"at_least": "kind", "at_most": "bound", "margin": "bound", "no_worse_than": "kind"}


def offer_systems(form: forms.Form, gold_set: GoldSet) -> None:
    """The systems that a gate can check, and the complete runs that can be its baseline."""
    complete = [run for run in runs_in(gold_set.project) if run.completed_at]
    offer(form, "system", [(system.pk, system.name) for system in systems_in(gold_set.project)])
    offer(form, "baseline", [("", "none"), *runs_offered(complete)])


class GateForm(KaratForm):
    """One rule, the system that must meet it, and the split of the gold set."""

    name = forms.CharField(max_length=gate_rule.LONGEST_NAME, help_text="As shown in lists, such as “Good enough”.")
    system = forms.TypedChoiceField(coerce=int)
    figure = forms.CharField(
        label="Measure",
        max_length=80,
        help_text="A measure such as nDCG@10 or Judged@10; or latency_p50, latency_p95, latency_p99 (milliseconds); "
        "or cost (of 1,000 queries).",
    )
    hit = forms.ChoiceField(
        label="What counts as right",
        required=False,
        choices=[(hit, basis_words(hit)) for hit in (BY_GRADES, TEXT, *HIT_KINDS)],
        help_text="By Q&As: Success@5, RR, P, Recall, Coverage or Sufficient. By text, grades count for every system, "
        "also for one that returns passages of its own.",
    )
    kind = forms.ChoiceField(label="Must be", choices=list(KINDS.items()))
    bound = forms.FloatField(
        label="Threshold",
        required=False,
        help_text="Against a baseline: the largest drop allowed. If empty, a run is worse when the whole "
        "interval of the difference is worse.",
    )
    on = forms.ChoiceField(label="Compare the threshold with", choices=list(ENDS.items()), required=False)
    baseline = forms.TypedChoiceField(coerce=int, empty_value=None, required=False)
    slice = forms.ChoiceField(label="Queries", required=False)
    split = forms.ChoiceField(label="Split", choices=list(SPLIT_WORDS.items()), required=False)
    tier = forms.ChoiceField(
        label="How often", choices=Tier.choices, initial=Tier.FULL, help_text="When karat eval checks it in a pipeline."
    )
    not_known = forms.ChoiceField(
        label="While it is not known yet",
        required=False,
        choices=list(NOT_KNOWN.items()),
        help_text="Fewer than 6 queries, or an interval on both sides of the threshold, decide nothing.",
    )

    def __init__(self, *args: Any, gold_set: GoldSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gold_set = gold_set
        offer_systems(self, gold_set)
        offer(self, "slice", [("", "every query"), *_slices(gold_set)])
        self.fields["figure"].widget.attrs["class"] = "input id"

    @property
    def facts(self) -> dict[str, Any]:
        """The rule as `rule_of` reads it."""
        values = self.cleaned_data
        facts: dict[str, Any] = {"name": values["name"], "figure": values["figure"], "tier": values["tier"]}
        if values["kind"] == NO_WORSE:
            facts |= {"no_worse_than": gate_rule.BASELINE, "margin": values["bound"]}
        else:
            facts |= {values["kind"]: values["bound"], "on": values["on"] or MEAN}
        if values["not_known"] == WARN:
            facts["not_known"] = WARN
        if values["hit"]:
            facts["hit"] = values["hit"]
        if values["slice"]:
            field, _, value = values["slice"].partition("=")
            facts["slice"] = value if field == gate_rule.NAMED else {"field": field, "value": value}
        return facts

    def clean_bound(self) -> float | None:
        if self.cleaned_data["bound"] is None and self.cleaned_data.get("kind") != NO_WORSE:
            raise forms.ValidationError("Enter a number as the threshold.")
        return self.cleaned_data["bound"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if self.errors:
            return values
        try:
            rule = gate_rule.rule_of(self.facts)
        except gate_rule.OutOfRange as fault:
            self.add_error("bound", str(fault))
            return values
        except gate_rule.RuleError as fault:
            self.add_error(FIELDS.get(fault.key, fault.key), self._message(fault))
            return values
        project = self.gold_set.project
        baseline = next((run for run in runs_in(project) if run.pk == values["baseline"]), None)
        system = system_in(project, values["system"])
        places = {
            "name": name_refusal(self.gold_set, system, rule),
            "figure": measure_refusal(rule, newest_of(self.gold_set)),
            "baseline": baseline_refusal(rule, baseline),
        }
        for place, reason in places.items():
            if reason:
                self.add_error(place, reason)
        if not self.errors and (reason := gate_refusal(self.gold_set, system, rule, values["split"], baseline)):
            self.add_error(None, reason)
        return values

    def _message(self, fault: gate_rule.RuleError) -> str:
        """The error in the words of the form's labels, where the sentence for a file names keys."""
        figure, at_most = self.cleaned_data["figure"], f"“{KINDS[AT_MOST]}”"
        return {
            "margin": "Against a baseline the threshold is 0 or more, or empty.",
            "at_least": f"Lower is better for {figure}: choose {at_most}.",
            "no_worse_than": f"{figure} has no paired difference to a baseline: choose {at_most}.",
            "on": f"{figure} has no interval: choose “{ENDS[MEAN]}”.",
            "slice": f"{figure} is one number per run: choose every query.",
        }.get(fault.key, str(fault))


class BoundForm(KaratForm):
    """A new bound for a gate. A gate on a baseline may lose its margin, every other needs a number."""

    bound = forms.FloatField(label="Threshold", required=False)

    def __init__(self, *args: Any, gate: Gate, **kwargs: Any) -> None:
        self.rule = rule_of(gate)
        key = self.key
        super().__init__(*args, initial={"bound": getattr(self.rule, key)}, **kwargs)
        low, high = gate_rule.range_of(self.rule)
        self.fields["bound"].widget.attrs["step"] = "any"
        if key == "margin":
            self.fields["bound"].label = "Largest drop allowed"
            self.fields["bound"].help_text = "If empty, a run is worse when the whole interval is."
        elif high != math.inf:
            self.fields["bound"].help_text = f"{self.rule.figure} is between {low:g} and {high:g}."

    @property
    def key(self) -> str:
        """The key of the rule that has the bound."""
        if self.rule.is_against_baseline:
            return "margin"
        return AT_LEAST if self.rule.at_least is not None else AT_MOST

    @property
    def changes(self) -> dict[str, Any]:
        return {self.key: self.cleaned_data["bound"]}

    def clean_bound(self) -> float | None:
        bound: float | None = self.cleaned_data["bound"]
        if bound is None and self.key != "margin":
            raise forms.ValidationError("Enter a number as the threshold.")
        if bound is not None and self.key == "margin" and bound < 0:
            raise forms.ValidationError("Enter 0 or more, or leave it empty.")
        changed = gate_rule.stored_rule({**gate_rule.as_facts(self.rule), self.key: bound})
        if fault := gate_rule.range_fault(changed):
            raise forms.ValidationError(str(fault))
        return bound


def _slices(gold_set: GoldSet) -> list[tuple[str, str]]:
    """Slices of the newest version, which a gate can name before they are made, and its strata."""
    named = [(f"{gate_rule.NAMED}={kind.value}", f"{kind.label} slice") for kind in SliceKind]
    return [*named, *((f"{field}={value}", f"{STRATA[field]}: {value}") for field, value in slices_of(gold_set))]


class GateFileForm(KaratForm):
    """A file, or its text, with the system, split and baseline, which no rule contains."""

    system = forms.TypedChoiceField(coerce=int, help_text="The gates check its runs.")
    split = forms.ChoiceField(label="Split", choices=list(SPLIT_WORDS.items()), required=False)
    baseline = forms.TypedChoiceField(coerce=int, empty_value=None, required=False)
    file = forms.FileField(required=False, help_text="TOML, one [[gate]] per rule, as for karat eval.")
    text = forms.CharField(
        label="Or paste the text", required=False, widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false"})
    )

    def __init__(self, *args: Any, gold_set: GoldSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_systems(self, gold_set)
        self.fields["text"].widget.attrs["class"] = "input id"

    def clean(self) -> dict[str, Any]:
        """Sets `text` to the content of the file, where one was uploaded."""
        values = super().clean() or {}
        if file := values.get("file"):
            if file.size > LONGEST_FILE:
                self.add_error("file", f"A file of gates has at most {LONGEST_FILE:,} bytes.")
                return values
            try:
                values["text"] = file.read().decode()
            except UnicodeDecodeError:
                self.add_error("file", "The file is not UTF-8 text.")
        elif not values.get("text", "").strip():
            self.add_error("file", "Choose a file, or paste its text below.")
        return values
