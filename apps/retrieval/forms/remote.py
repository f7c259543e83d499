"""The forms of systems elsewhere: address, request, sign-in and request limits, and loading a snapshot there."""

from typing import Any, ClassVar

from django import forms

from apps.accounts.models import Project
from apps.accounts.selectors import secrets_in
from apps.common.web.forms import KaratForm, offer, offer_rows
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.retrieval.core.engines.remote.base import AUTHS
from apps.retrieval.core.engines.remote.http_json import METHODS
from apps.retrieval.core.engines.remote.opensearch import QUERIES
from apps.retrieval.core.engines.remote.own_passages import OwnPaths
from apps.retrieval.core.engines.remote.search import BOUNDS, Pace
from apps.retrieval.forms.runs import SnapshotField
from apps.retrieval.models import System
from apps.retrieval.selectors.question_sets import queries_in
from apps.retrieval.selectors.systems import dense_systems_in

AUTH_LABELS = {
    "none": "does not sign in",
    "bearer": "Bearer token",
    "api_key": "ApiKey, as in Elasticsearch",
    "basic": "user name and password",
    "header": "a custom header",
}
QUERY_LABELS = {"match": "match, one field", "multi_match": "multi_match, several fields", "body": "a custom body"}
HTTP_BODY = '{"query": {{query}}, "limit": {{k}}}'


def _pace_field(name: str, label: str, help_text: str) -> forms.Field:
    low, high = BOUNDS[name]
    initial = Pace().values()[name]
    options: dict[str, Any] = {"label": label, "help_text": help_text, "initial": initial}
    widget = forms.NumberInput(attrs={"step": "any", "inputmode": "decimal", "class": "input"})
    if isinstance(initial, int):
        return forms.IntegerField(min_value=int(low), max_value=int(high), widget=widget, **options)
    return forms.FloatField(min_value=low, max_value=high, widget=widget, **options)


def _text_area(rows: int, **options: Any) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false", "class": "id"})
    return forms.CharField(required=False, max_length=20_000, widget=widget, strip=False, **options)


def _address_field(longest: int, help_text: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"inputmode": "url"})
    return forms.CharField(label="Address", max_length=longest, widget=widget, help_text=help_text)


def _path_field(label: str, help_text: str = "", **options: Any) -> forms.CharField:
    """Where an answer has a part of each result."""
    return forms.CharField(label=label, max_length=300, required=False, help_text=help_text, **options)


class PaceForm(KaratForm):
    at_once = _pace_field("at_once", "Parallel requests", "Most requests at the same time.")
    per_second = _pace_field("per_second", "Requests per second", "Most requests per second; 0 means no limit.")
    tries = _pace_field(
        "tries", "Tries", "Attempts per query when the server fails: no connection, 429, 500, 502 to 504."
    )
    first_wait = _pace_field(
        "first_wait", "First pause", "Seconds before the second try; each further pause is twice as long."
    )
    connect = _pace_field("connect", "Connect within", "Seconds.")
    read = _pace_field("read", "Silence", "Most seconds without any data.")
    whole = _pace_field("whole", "Answer within", "Most seconds for one answer.")
    stop_after = _pace_field("stop_after", "Stop after", "The run ends after this many failed queries in a row.")

    @property
    def pace_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in BOUNDS]

    @property
    def pace(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in BOUNDS}


class AuthForm(KaratForm):
    """How requests sign in."""

    auth_kind = forms.ChoiceField(
        label="Signs in with", choices=[(kind, AUTH_LABELS[kind]) for kind in AUTHS], initial="none"
    )
    auth_secret = forms.ChoiceField(label="Secret", required=False)
    auth_user = forms.CharField(label="User name", max_length=200, required=False)
    auth_header = forms.CharField(label="Header", max_length=80, required=False, help_text="Such as X-Api-Key.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(secret.name, secret.name) for secret in secrets_in(project)]
        offer(self, "auth_secret", [("", "none"), *names])

    @property
    def auth(self) -> dict[str, str]:
        values = self.cleaned_data
        return {key: values[f"auth_{key}"] for key in ("kind", "secret", "user", "header") if values[f"auth_{key}"]}

    @property
    def auth_fields(self) -> list[forms.BoundField]:
        return [self["auth_kind"], self["auth_secret"], self["auth_user"], self["auth_header"]]


class RemoteForm(AuthForm, PaceForm):
    """The common fields of all kinds. `question` and `snapshot` are only for the trial.

    A system that cuts documents itself has paths to the parts of its passages, and then need not give ids.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ()

    name = forms.CharField(max_length=120, help_text="Shown in tables, such as “Search, staging”.")
    version = forms.CharField(
        max_length=200,
        required=False,
        help_text="The deployed version, such as a commit. For a new version, create a new system.",
    )
    first_pages = _path_field("Path to the first pages")
    last_pages = _path_field("Path to the last pages", "If empty, a passage is on its first page alone.")
    question = forms.CharField(label="Test query", max_length=1_000, required=False)
    snapshot = SnapshotField(Snapshot.objects.none(), required=False, empty_label=None, label="Snapshot")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        snapshots = snapshots_in(project)
        offer_rows(self, "snapshot", snapshots)
        self.fields["snapshot"].required = snapshots.exists()
        self.fields["question"].initial = queries_in(project).values_list("text", flat=True).first() or ""

    @property
    def own_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in OwnPaths._fields]

    @property
    def has_own(self) -> bool:
        return any(field.value() or field.errors for field in self.own_fields)

    @property
    def parameters(self) -> dict[str, Any]:
        return {**{name: self.cleaned_data[name] for name in self.PARAMETERS}, "auth": self.auth}


class HttpForm(RemoteForm):
    """An endpoint that answers with JSON."""

    PARAMETERS = (
        "url", "method", "body", "headers", "ids", "scores", "lower_is_better", "strip", "prepend", "version",
        *OwnPaths._fields,
    )  # fmt: skip
    url = _address_field(2_000, "For GET with {{query}} and {{k}}, such as https://search.example/?q={{query}}.")
    method = forms.ChoiceField(choices=[(method, method) for method in METHODS], initial=METHODS[0])
    body = _text_area(
        4,
        initial=HTTP_BODY,
        help_text="JSON with {{query}}, {{k}} and {{query_id}} in place of their values. Leave empty for GET.",
    )
    headers = _text_area(2, help_text="One per line, as Name: value. No secrets.")
    ids = _path_field("Path to the ids", "Such as hits[*].doc.id: names, [0] for one item, [*] for every item.")
    scores = _path_field("Path to the scores", "Such as hits[*].score. If empty, the order of the answer counts.")
    lower_is_better = forms.BooleanField(label="Lower scores are better", required=False)
    strip = forms.CharField(
        label="Prefix to remove from ids",
        max_length=200,
        required=False,
        strip=False,
        help_text="If its ids have a prefix that ids in Karat lack, such as doc:.",
    )
    prepend = forms.CharField(
        label="Prefix to add to ids",
        max_length=200,
        required=False,
        strip=False,
        help_text="If ids in Karat have a prefix that its ids lack.",
    )
    documents = _path_field("Path to the documents", "Such as hits[*].doc.id. Document ids as the corpus has them.")
    texts = _path_field("Path to the texts", "Such as hits[*].text.")

    def clean_headers(self) -> dict[str, str]:
        headers = {}
        for line in self.cleaned_data["headers"].splitlines():
            name, colon, value = line.partition(":")
            if line.strip() and not colon:
                raise forms.ValidationError(f"“{line[:60]}” is not a header. Write Name: value.")
            if line.strip():
                headers[name.strip()] = value.strip()
        return headers


class OpenSearchForm(RemoteForm):
    """The `_search` endpoint of a cluster."""

    PARAMETERS = ("url", "index", "query", "body", "ids", "version", *OwnPaths._fields)

    url = _address_field(2_000, "Of the cluster, such as https://search.example.org:9200.")
    index = forms.CharField(max_length=255, help_text="Its name, or an alias.")
    query = forms.ChoiceField(
        label="Query type", choices=[(query, QUERY_LABELS[query]) for query in QUERIES], initial=QUERIES[0]
    )
    search_fields = forms.CharField(
        label="Fields",
        max_length=1_000,
        required=False,
        initial="text",
        help_text="Separated by commas; title^2 counts title twice.",
    )
    body = _text_area(4, help_text="Only for a custom body: JSON with {{query}} and {{k}} in place of their values.")
    ids = _path_field("Path to the ids", "_id, or a field of the source, written _source.name.", initial="_id")
    documents = _path_field(
        "Path to the documents", "A field, such as _source.file. Document ids as the corpus has them."
    )
    texts = _path_field("Path to the texts", "A field, such as _source.text.")

    @property
    def parameters(self) -> dict[str, Any]:
        names = [name.strip() for name in self.cleaned_data["search_fields"].split(",")]
        return {**super().parameters, "fields": [name for name in names if name]}


FORMS: dict[str, type[RemoteForm]] = {"http": HttpForm, "opensearch": OpenSearchForm}


class LoadForm(AuthForm):
    """Snapshot, address, sign-in, and the dense system whose vectors are loaded too."""

    snapshot = SnapshotField(Snapshot.objects.none(), empty_label=None)
    url = _address_field(1_000, "Of the cluster, such as https://search.example.org:9200.")
    vectors = forms.ModelChoiceField(
        System.objects.none(),
        required=False,
        empty_label="none",
        help_text="Those of a system with dense embeddings, for kNN. Karat makes them before it loads.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        offer_rows(self, "snapshot", snapshots_in(project))
        offer_rows(self, "vectors", dense_systems_in(project))
