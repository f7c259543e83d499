"""Forms for reading a search log."""

from datetime import UTC, datetime
from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.accounts.selectors import secrets_in
from apps.common.web.addresses import BadAddress, parse_url
from apps.common.web.forms import KaratForm, offer
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.queries.core.masking import BY_PEOPLE
from apps.queries.models import Source
from apps.querylogs.core.trace_servers import LANGFUSE, PHOENIX, SERVERS, Wanted
from apps.querylogs.rules import MOST_NAME

KEEP, SAME, REJECT, MASK, UNDO = STEPS = ("keep", "same", "reject", "mask", "undo")
NOTE = 400


class DecideForm(KaratForm):
    """What is done with one offered query."""

    step = forms.ChoiceField(choices=[(step, step) for step in STEPS])
    text = forms.CharField(
        required=False,
        max_length=4_000,
        help_text="Other words for a query that is kept; its masks stay. Empty: its own.",
    )
    query = forms.CharField(
        required=False, max_length=200, help_text="The id of the query that it is the same as, for the step `same`."
    )
    words = forms.CharField(required=False, max_length=400, help_text="The words to mask, for the step `mask`.")
    kind = forms.ChoiceField(
        required=False,
        choices=[(kind, kind) for kind in BY_PEOPLE],
        initial=BY_PEOPLE[0],
        help_text="What the words tell of, for the step `mask`.",
    )
    listed = forms.BooleanField(
        required=False, initial=False, help_text="Mask the words in later logs too: they go on the project's list."
    )
    note = forms.CharField(required=False, max_length=NOTE, help_text="Why, for others.")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("step") == SAME and not values.get("query"):
            self.add_error("query", "Say which query it is the same as.")
        if values.get("step") == MASK and not values.get("words"):
            self.add_error("words", "Say which words to mask.")
        return values


class RunsForm(KaratForm):
    """The documents in which what systems returned is located."""

    snapshot = forms.ChoiceField(
        required=False,
        label="On the documents",
        help_text="The snapshot that the systems searched, as `corpus@number`. Empty: the passages that they returned"
        " become a corpus, “as returned”.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.by_name = {f"{one.corpus.slug}@{one.number}": one for one in snapshots_in(project)}
        known = [(name, f"{one.corpus.name}: {one.name}") for name, one in self.by_name.items()]
        offer(self, "snapshot", [*known, ("", "their passages, as they were returned")])

    def clean_snapshot(self) -> Snapshot | None:
        return self.by_name.get(self.cleaned_data["snapshot"])


class NamesForm(KaratForm):
    names = forms.CharField(
        label="Names, one a line",
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=f"Of customers, people, products that must not be seen; up to {MOST_NAME} characters each.",
    )

    def listed(self) -> list[str]:
        names: str = self.cleaned_data["names"]
        return names.splitlines()


MOMENT = forms.DateTimeInput(attrs={"type": "datetime-local"})


def grades_back_field() -> forms.BooleanField:
    return forms.BooleanField(
        label="Grades may go back to the traces",
        required=False,
        initial=False,
        help_text="The random ids of the trace and the span of each search stay with a query that you keep, so that its"
        " grades can go back there. Nothing else of the traces does.",
    )


def source_choices(project: Project) -> list[tuple[str, str]]:
    known = Source.objects.filter(project=project).order_by("name").values_list("slug", "name")
    return [("", "a new one with the name of the log"), *known]


class TraceServerForm(KaratForm):
    """Langfuse or Phoenix, and how Karat signs in there."""

    server = forms.ChoiceField(label="Server", choices=list(SERVERS.items()), initial=LANGFUSE)
    address = forms.CharField(
        label="Address",
        max_length=1_000,
        widget=forms.TextInput(attrs={"inputmode": "url"}),
        help_text="Such as https://cloud.langfuse.com, or that of your own server.",
    )
    public_key = forms.CharField(
        label="Public key", max_length=200, required=False, help_text="Of a Langfuse project; it begins with pk-lf-."
    )
    secret = forms.ChoiceField(
        label="Secret",
        required=False,
        help_text="The secret of the project that holds Langfuse's secret key or Phoenix's API key.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "secret", [("", "none"), *((one.name, one.name) for one in secrets_in(project))])

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"].strip().rstrip("/")
        try:
            target = parse_url(address)
        except BadAddress as error:
            raise forms.ValidationError(str(error)) from None
        if "?" in target.path:
            raise forms.ValidationError("Leave out what begins with “?”. The address of the server is enough.")
        return address

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("server") == LANGFUSE:
            for name in ("public_key", "secret"):
                if not values.get(name):
                    self.add_error(name, "Langfuse asks for a public key and a secret key.")
            if ":" in values.get("public_key", ""):
                self.add_error("public_key", "A public key has no colon. The secret key is another field.")
        return values


class FetchForm(TraceServerForm):
    """Where traces are fetched from, and which of them."""

    since = forms.CharField(
        label="From", widget=MOMENT, help_text="Searches from this time on, in UTC, such as 2026-08-04T00:00."
    )
    until = forms.CharField(label="To before", widget=MOMENT, help_text="Searches before this time, in UTC.")
    project_name = forms.CharField(
        label="Project", max_length=200, required=False, help_text="The name of the project at Phoenix."
    )
    name = forms.CharField(
        label="Name",
        max_length=200,
        required=False,
        help_text="Only traces of this name at Langfuse; only spans of this name at Phoenix.",
    )
    user = forms.CharField(
        label="User", max_length=200, required=False, help_text="Only traces of this user id; for Langfuse."
    )
    environment = forms.CharField(
        label="Environment", max_length=200, required=False, help_text="Such as production; for Langfuse."
    )
    tags = forms.CharField(
        label="Tags",
        max_length=1_000,
        required=False,
        help_text="Divided by commas; only traces with all of them; for Langfuse.",
    )
    attribute = forms.CharField(
        label="Attribute",
        max_length=400,
        required=False,
        help_text="Only spans with this attribute, such as metadata.tenant:acme; for Phoenix. Who asked must then stand"
        " on these spans.",
    )
    log = forms.CharField(label="Name of the log", max_length=120, required=False)
    source = forms.ChoiceField(
        label="Source",
        required=False,
        help_text="Its permission says what the queries may be used for. A new one has none yet.",
    )
    grades_back = grades_back_field()

    filters = ("name", "user", "environment", "tags", "attribute")
    of_langfuse = ("user", "environment", "tags")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        offer(self, "source", source_choices(project))

    @property
    def filter_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.filters]

    @property
    def is_filtered(self) -> bool:
        return any(field.value() or field.errors for field in self.filter_fields)

    def clean_since(self) -> str:
        return self._moment("since")

    def clean_until(self) -> str:
        return self._moment("until")

    def _moment(self, name: str) -> str:
        value: str = self.cleaned_data[name]
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            raise forms.ValidationError(f"“{value[:40]}” is no time. Write it as 2026-08-04T09:00.") from None
        found = found.astimezone(UTC) if found.tzinfo else found
        return f"{found:%Y-%m-%dT%H:%M:%S}Z"

    def clean_tags(self) -> list[str]:
        return [tag for one in self.cleaned_data["tags"].split(",") if (tag := one.strip())]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        server = values.get("server", "")
        if server == PHOENIX and not values.get("project_name"):
            self.add_error("project_name", "Say which project of Phoenix it is, such as default.")
        others = ("attribute", "project_name") if server == LANGFUSE else ("public_key", *self.of_langfuse)
        for name in others:
            if values.get(name):
                self.add_error(name, f"{SERVERS.get(server, 'This server')} has no such thing. Leave it empty.")
        if values.get("attribute") and not all(part.strip() for part in values["attribute"].partition(":")[::2]):
            self.add_error("attribute", "Write the attribute, a colon and its value.")
        if values.get("since", "") >= values.get("until", "9"):
            self.add_error("until", "The end is not after the beginning.")
        return values

    @property
    def request(self) -> dict[str, Any]:
        """What is asked for, as `request_fetch` takes it."""
        values = self.cleaned_data
        server, since, until = values["server"], values["since"], values["until"]
        wanted = Wanted(since, until, values["project_name"], **{name: values[name] for name in self.filters})
        return {
            "origin": {"server": server, "address": values["address"], "wanted": wanted.as_json()},
            "user": values["public_key"],
            "secret": values["secret"],
            "name": values["log"] or f"{SERVERS[server]}, {since[:10]} to {until[:10]}",
            "source": values["source"],
            "grades_back": values["grades_back"],
        }
