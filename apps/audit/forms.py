"""The filters of the audit page."""

from django import forms

from apps.accounts.models import Project
from apps.audit.selectors.events import EventFilters, actions_in, actors_in, object_types_in
from apps.common.web.forms import offer


class FilterForm(forms.Form):
    """The filters of the audit page. Choices are the values in this project's history."""

    actor = forms.ChoiceField(label="Person", required=False)
    action = forms.ChoiceField(label="Action", required=False)
    object_type = forms.ChoiceField(label="Kind of object", required=False)
    object_id = forms.CharField(label="Object", required=False, max_length=64, strip=True)
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, *args, project: Project, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        everyone = [(str(actor.pk), str(actor)) for actor in actors_in(project)]
        offer(self, "actor", [("", "Everybody"), *everyone])
        offer(self, "action", [("", "Every action"), *_pairs(actions_in(project))])
        types = [(name, name.rpartition(".")[2]) for name in object_types_in(project)]
        offer(self, "object_type", [("", "Every kind"), *types])
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"

    @property
    def filters(self) -> EventFilters:
        """The chosen filters; none for an invalid form, which shows its errors."""
        if not self.is_valid():
            return EventFilters()
        values = self.cleaned_data
        actor = int(values["actor"]) if values["actor"] else None
        return EventFilters(actor, values["action"], values["object_type"], values["object_id"])

    @property
    def cursor(self) -> int | None:
        return self.cleaned_data.get("before") if self.is_valid() else None


def _pairs(values: list[str]) -> list[tuple[str, str]]:
    return [(value, value) for value in values]
