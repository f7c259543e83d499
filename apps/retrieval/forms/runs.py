"""The forms of systems, fusions and runs that Karat makes, and of uploaded runs."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.text import capfirst

from apps.accounts.models import Project
from apps.common.text.wording import plural
from apps.common.web.forms import KaratForm, offer, offer_rows
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.metrics.statistics.usage import EXAMPLE, NAMES, Usage, UsageError, usage_of_words
from apps.queries.core.strata import CONTEXT, TYPED
from apps.queries.enums import Difficulty
from apps.queries.models import Source
from apps.retrieval import rules
from apps.retrieval.core.engines.encoder import model_names
from apps.retrieval.core.engines.registry import DEFAULT_K, LARGEST_K, Parameter, parameters_of
from apps.retrieval.enums import BlockText
from apps.retrieval.models import Run, System
from apps.retrieval.rules import choice_refusal
from apps.retrieval.selectors.question_sets import QueryChoice, query_strata, question_sets

VALUE_LABELS = {
    "words_or_bigrams": "whole words; pairs of characters where a script has no blanks",
    "words": "whole words",
    "trigrams": "windows of three characters",
    "english": "English stop words",
    "german": "German stop words",
    "french": "French stop words",
    "spanish": "Spanish stop words",
    "none": "none",
    "s": "English plurals",
    "mean": "the mean of all",
    "cls": "the first token",
}
IF_EMPTY = "If empty, the tag in the file, or the name of a file without tags."


class SystemForm(KaratForm):
    """A system of one kind; its parameters are fields named `p_<parameter>`."""

    name = forms.CharField(max_length=120, help_text="Shown in tables, such as “BM25, long passages”.")
    words = forms.ChoiceField(label="Reads", choices=BlockText.choices)

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        for parameter in (one for one in parameters_of(kind) if one.is_shown):
            self.fields[f"p_{parameter.name}"] = _parameter_field(parameter)

    @property
    def parameter_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("p_")]

    @property
    def parameters(self) -> dict[str, Any]:
        return {name[2:]: value for name, value in self.cleaned_data.items() if name.startswith("p_")}


def _parameter_field(parameter: Parameter) -> forms.Field:
    if isinstance(parameter.default, bool):
        return forms.BooleanField(label=parameter.label, required=False, initial=parameter.default)
    if parameter.choices:
        choices = [(value, VALUE_LABELS.get(value, value)) for value in parameter.choices]
        select = forms.Select(attrs={"class": "input"})
        return forms.ChoiceField(label=parameter.label, choices=choices, initial=parameter.default, widget=select)
    if parameter.is_model:
        names = [(name, name) for name in model_names(settings.MODELS_DIR)]
        return forms.ChoiceField(label=parameter.label, choices=names, widget=forms.Select(attrs={"class": "input"}))
    if isinstance(parameter.default, str):
        return _text_field(parameter)
    low, high = parameter.low, parameter.high
    options: dict[str, Any] = {
        "label": parameter.label,
        "initial": parameter.default,
        "help_text": f"From {low:,.12g} to {high:,.12g}.",
    }
    attrs = {"class": "input", "step": "any", "inputmode": "decimal"}
    if not parameter.is_whole:
        return forms.FloatField(min_value=low, max_value=high, widget=forms.NumberInput(attrs=attrs), **options)
    attrs |= {"step": "1", "inputmode": "numeric"}
    return forms.IntegerField(min_value=int(low), max_value=int(high), widget=forms.NumberInput(attrs=attrs), **options)


def _text_field(parameter: Parameter) -> forms.Field:
    """A text that is not stripped, because a space at its end matters."""
    return forms.CharField(
        label=parameter.label,
        required=False,
        strip=False,
        max_length=parameter.longest,
        widget=forms.TextInput(attrs={"class": "input"}),
        help_text="Exactly as written, including spaces, such as “query: ”.",
    )


class QueryChoiceForm(KaratForm):
    """A set of queries, or fields that filter those of the project; empty fields do not filter."""

    sets_of = staticmethod(question_sets)
    """The sets that are offered."""
    questions = forms.ChoiceField(label="Which queries", required=False)
    source = forms.ModelChoiceField(Source.objects.none(), required=False, empty_label="All sources")
    domain = forms.ChoiceField(required=False)
    query_type = forms.ChoiceField(label="Type", required=False)
    expertise = forms.ChoiceField(required=False)
    answer_format = forms.ChoiceField(label="Format", required=False)
    difficulty = forms.ChoiceField(required=False, choices=[("", "All difficulties"), *Difficulty.choices])

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        offer_rows(self, "source", Source.objects.filter(project=project).order_by("name"))
        for name, values in query_strata(project).items():
            offer(self, name, [("", "All"), *((value, value) for value in values)])
            if not values and name in CONTEXT:
                del self.fields[name]
        sets = [(one.key, capfirst(one.name)) for one in self.sets_of(project)]
        offer(self, "questions", [("", "All queries, or those of the filters below"), *sets])

    @property
    def choice_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("source", *TYPED, "difficulty") if name in self.fields]

    @property
    def choice(self) -> QueryChoice:
        source = self.cleaned_data.get("source")
        return QueryChoice(
            source_id=source.pk if source else None,
            **{name: self.cleaned_data.get(name, "") for name in ("difficulty", *TYPED)},
            questions=self.cleaned_data.get("questions", ""),
        )

    def clean(self) -> dict[str, Any]:
        if reason := choice_refusal(self.choice):
            self.add_error("questions", reason)
        return self.cleaned_data


class SnapshotField(forms.ModelChoiceField):
    """Snapshots, labelled with corpus and size."""

    def label_from_instance(self, snapshot: Snapshot) -> str:
        return f"{snapshot.corpus.name}: {snapshot.name}, {snapshot.block_count:,} passages"


class RunsField(forms.ModelMultipleChoiceField):
    """Runs, labelled with tag, number of queries and depth."""

    def label_from_instance(self, run: Run) -> str:
        queries = plural(run.query_count, "query", "queries")
        return f"{run.tag}, {queries}, {run.effective_depth:,} deep"


def depth_field(initial: int, help_text: str, label: str = "Depth") -> forms.IntegerField:
    """A depth, from 1 to the largest possible."""
    return forms.IntegerField(
        label=label,
        min_value=1,
        max_value=rules.DEEPEST,
        initial=initial,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"class": "input"}),
    )


def count_field(label: str, help_text: str, most: int = rules.MOST_SAMPLED) -> forms.IntegerField:
    """A number from 0; an empty field is 0."""
    return forms.IntegerField(
        label=label, min_value=0, max_value=most, required=False, initial=0, help_text=help_text, widget=number_input()
    )


def number_input() -> forms.NumberInput:
    return forms.NumberInput(attrs={"inputmode": "numeric"})


def note_field(help_text: str) -> forms.CharField:
    """The note of a run in the ledger."""
    widget = forms.Textarea(attrs={"rows": 2})
    return forms.CharField(required=False, max_length=2_000, widget=widget, help_text=help_text)


def commit_field() -> forms.CharField:
    """The version that was run, such as a commit; any text."""
    return forms.CharField(max_length=80, required=False)


def role_field() -> forms.CharField:
    """The role for whom a system searched."""
    return forms.CharField(
        label="As role",
        max_length=60,
        required=False,
        help_text="For whom it searched, such as “guest”, where not everybody may see every passage. Leaks counts what"
        " this role may not see.",
    )


def abstains_below_field() -> forms.FloatField:
    """The score below which the system has no answer."""
    return forms.FloatField(
        label="No answer below",
        required=False,
        widget=forms.NumberInput(attrs={"class": "input", "step": "any", "inputmode": "decimal"}),
        help_text="If the system gives no answer where its best score is lower. It is measured on unanswerable queries;"
        " if empty, it has no answer where it returns nothing.",
    )


class SystemsField(forms.ModelMultipleChoiceField):
    def label_from_instance(self, system: System) -> str:
        return f"{system.name}, {system.get_kind_display()}"


class FusionForm(KaratForm):
    name = forms.CharField(max_length=120, help_text="Shown in tables, such as “BM25 and LSA, fused”.")
    systems = SystemsField(
        System.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="Two or more. Those without results for the queries are run first.",
    )
    k = forms.FloatField(
        label="k, how fast lower ranks lose weight",
        initial=f"{DEFAULT_K:g}",
        min_value=0.0,
        max_value=LARGEST_K,
        widget=forms.NumberInput(attrs={"class": "input", "step": "any", "inputmode": "decimal"}),
        help_text="A passage gets 1 / (k + rank) from each ranking.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "systems", System.objects.filter(project=project).order_by("name"))


class RunForm(QueryChoiceForm):
    """A run that Karat makes."""

    snapshot = SnapshotField(Snapshot.objects.none(), empty_label=None)
    depth = depth_field(1_000, "How many results to keep per query.")
    tag = forms.CharField(
        max_length=110, required=False, help_text="One word. If empty, made from system and snapshot."
    )
    note = note_field("What changed. The ledger shows it until somebody writes an entry there.")
    commit = commit_field()
    as_role = role_field()
    abstains_below = abstains_below_field()

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        offer_rows(self, "snapshot", snapshots_in(project))
        self.fields["questions"].help_text = (
            "The questions of a version are its queries and the questions of its Q&As. A version scores runs on its own"
            " snapshot."
        )


class UploadForm(KaratForm):
    """A run made elsewhere: a table with a heading, TREC's six columns, or results with passages of its own."""

    file = forms.FileField(
        label="Run file",
        help_text="A table with a heading that names the query's id, the passage's id, and the score or the rank; or"
        " TREC's six columns: query id, Q0, passage id, rank, score, tag. Plain or gzip. Passages of your own come as"
        " JSON lines with qid, rank or score, and what you have of id, document_id, pages and text, or start and end in"
        " the text of a passage; or as a table, a workbook or Parquet with these columns.",
    )
    snapshot = SnapshotField(
        Snapshot.objects.none(), empty_label=None, help_text="The snapshot that the system searched."
    )
    system = forms.CharField(max_length=120, required=False, help_text=f"What made it. {IF_EMPTY}")
    tag = forms.CharField(max_length=110, required=False, help_text=f"The run's name, one word. {IF_EMPTY}")
    note = note_field("What changed. The ledger shows it until somebody writes an entry there.")
    commit = commit_field()
    as_role = role_field()
    abstains_below = abstains_below_field()
    usage = forms.CharField(
        max_length=300,
        required=False,
        label="What it used",
        help_text=f"If you know it: {', '.join(NAMES)} of the whole run, such as “{EXAMPLE}”. Retries are"
        " requests too. Do not count a timeout as an error.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "snapshot", snapshots_in(project))

    def clean_usage(self) -> Usage:
        try:
            return usage_of_words(self.cleaned_data["usage"])
        except UsageError as error:
            raise forms.ValidationError(str(error)) from None


class TagForm(KaratForm):
    """The tag of an uploaded run, which the preview proposes."""

    tag = forms.CharField(max_length=110, help_text="The run's name, one word.")


class LedgerForm(KaratForm):
    """The note and commit of an existing run in the ledger."""

    note = note_field("What changed.")
    commit = commit_field()
