"""The kinds of files people import. An app that takes files registers its kind in a module `imports.py`."""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, NamedTuple

from django import forms
from django.http import Http404
from django.utils.module_loading import autodiscover_modules

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.files.tabular import Source
from apps.common.web.forms import KaratForm
from apps.corpus.importing.plans import Plan

Progress = Callable[[int], None]

JSON_LINES = frozenset({"jsonl", "beir"})


class ImportForm(KaratForm):
    """The file and how it is to be read. Subclasses add their options; `options()` must be plain JSON."""

    file = forms.FileField(label="File", help_text="UTF-8, plain or gzip.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_format(self) -> str:
        """The form chosen, unless the file's name says another one: else every line would be a mistake."""
        chosen: str = self.cleaned_data["format"]
        name = self.cleaned_data["file"].name if "file" in self.cleaned_data else ""
        if said := _said_by(name, chosen):
            raise forms.ValidationError(f"{name} is named as {said}. Choose {said}, or name the file by its form.")
        return chosen

    def options(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "file"}


def _said_by(name: str, chosen: str) -> str:
    """The form that a file's name says when it cannot be the chosen one; empty when the two go together."""
    plain = name.lower().removesuffix(".gz")
    if plain.endswith(".csv") and chosen in JSON_LINES:
        return "CSV"
    if plain.endswith((".jsonl", ".json", ".ndjson")) and chosen == "csv":
        return "JSONL"
    return ""


class Example(NamedTuple):
    """How a file of one form looks: its name, a sentence, a few lines."""

    name: str
    words: str
    sample: str


class ImportKind:
    """How one kind of file is previewed and taken in.

    `preview` writes nothing. `apply` runs inside a transaction and raises InputErrors when the file has mistakes.
    Both read the file from its beginning, so what is applied is what the file says then, not what was previewed.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    one: ClassVar[str]
    many: ClassVar[str]
    section: ClassVar[str]
    examples: ClassVar[tuple[Example, ...]] = ()
    roles: ClassVar[tuple[str, ...]] = (Role.LEAD,)
    form_class: ClassVar[type[KaratForm]] = KaratForm

    def preview(self, project: Project, source: Source, options: dict[str, Any], progress: Progress) -> Plan:
        raise NotImplementedError

    def apply(self, project: Project, source: Source, options: dict[str, Any], *, actor: User, at: datetime) -> Plan:
        raise NotImplementedError

    @property
    def forms(self) -> str:
        """The noun in both numbers, as templates take it: "block,blocks"."""
        return f"{self.one},{self.many}"

    def target(self, project: Project, options: dict[str, Any]) -> str:
        """Where the rows go, in words: "the corpus Handbook"."""
        return project.name

    def done_url(self, project: Project, options: dict[str, Any]) -> str:
        """The page to look at once it is applied."""
        raise NotImplementedError


_kinds: dict[str, ImportKind] = {}


def register(kind: type[ImportKind]) -> type[ImportKind]:
    _kinds[kind.name] = kind()
    return kind


def kind_named(name: str) -> ImportKind:
    """The kind, or Http404: the name comes from a URL."""
    _load_all()
    if name not in _kinds:
        raise Http404("No such kind of import.")
    return _kinds[name]


@cache
def _load_all() -> None:
    autodiscover_modules("imports")
