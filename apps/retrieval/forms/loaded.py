"""The form that loads a snapshot into a search server."""

from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.accounts.selectors import secrets_in
from apps.common.web.forms import KaratForm
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.retrieval.core.engines.remote.base import AUTHS
from apps.retrieval.forms.fields import SnapshotField
from apps.retrieval.forms.remote import AUTH_LABELS
from apps.retrieval.models import System
from apps.retrieval.selectors.loaded import dense_systems_in


class LoadForm(KaratForm):
    """Snapshot, address, sign-in, and the dense system whose vectors are loaded too."""

    snapshot = SnapshotField(Snapshot.objects.none(), empty_label=None)
    url = forms.CharField(
        label="Address",
        max_length=1_000,
        widget=forms.TextInput(attrs={"inputmode": "url"}),
        help_text="Of the cluster, such as https://search.example.org:9200.",
    )
    vectors = forms.ModelChoiceField(
        System.objects.none(),
        required=False,
        empty_label="none",
        help_text="Those of a system with dense embeddings, for kNN. Karat makes them before it loads.",
    )
    auth_kind = forms.ChoiceField(
        label="Signs in with", choices=[(kind, AUTH_LABELS[kind]) for kind in AUTHS], initial="none"
    )
    auth_secret = forms.ChoiceField(label="Secret", required=False)
    auth_user = forms.CharField(label="User name", max_length=200, required=False)
    auth_header = forms.CharField(label="Header", max_length=80, required=False, help_text="Such as X-Api-Key.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["snapshot"].queryset = snapshots_in(project)
        fields["vectors"].queryset = dense_systems_in(project)
        names = [(secret.name, secret.name) for secret in secrets_in(project)]
        fields["auth_secret"].choices = [("", "none"), *names]

    @property
    def auth(self) -> dict[str, str]:
        values = self.cleaned_data
        return {key: values[f"auth_{key}"] for key in ("kind", "secret", "user", "header") if values[f"auth_{key}"]}

    @property
    def auth_fields(self) -> list[forms.BoundField]:
        return [self["auth_kind"], self["auth_secret"], self["auth_user"], self["auth_header"]]
