"""The form of a system that fuses others."""

from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm
from apps.retrieval.core.engines.fusion import DEFAULT_K, LARGEST_K
from apps.retrieval.models import System


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
        fields: dict[str, Any] = self.fields
        fields["systems"].queryset = System.objects.filter(project=project).order_by("name")
