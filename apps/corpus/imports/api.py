"""Importing a file over the API: upload it, look at the plan, mend it, confirm. The same steps as on the pages.

Every kind of import has the same endpoints; `import_urls` makes those of one kind.
"""

import itertools
import re
from typing import Any, ClassVar

from django import forms
from django.http import Http404, QueryDict
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.text import slugify
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.accounts.models import Project, User
from apps.common.web.api import PAGING, given_in, oldest_first, page_of
from apps.common.web.forms import ChoiceField, body_fields, checked, offer
from apps.corpus.actions import imports
from apps.corpus.core.import_plans import TableChoice
from apps.corpus.enums import ImportMode, ImportState
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.forms import ImportForm, TableForm, name_after
from apps.corpus.models import Import
from apps.corpus.rules import undo_refusal
from apps.corpus.selectors.corpora import corpora_in, import_in, imports_in
from apps.corpus.selectors.import_kinds import ImportKind, kind_named

NEW = "+"  # not a valid slug
EMPTIES = "empties"
"""The option that names the corpus which files without a document of it may empty."""


class CorpusTargetForm(ImportForm):
    """A corpus of the project, or a new one; without a name it is called after the file."""

    corpus = forms.ChoiceField(label="Import into")
    name = forms.CharField(
        label="Name of the new corpus", max_length=120, required=False, help_text="Such as Staff handbook."
    )
    mode = forms.ChoiceField(
        label="Passages missing from the file",
        choices=[(ImportMode.REPLACE, "are removed: the file is the whole corpus"), (ImportMode.MERGE, "stay")],
        widget=forms.RadioSelect,
        initial=ImportMode.REPLACE,
    )

    meanings: ClassVar = {"corpus": f"The slug of the corpus, or {NEW} for a new one."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(corpus.slug, corpus.name) for corpus in corpora_in(self.project)]
        offer(self, "corpus", [*known, (NEW, "a new corpus")])
        if not known:
            del self.fields["mode"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("corpus") == NEW and self.file_name:
            values["name"] = values.get("name") or free_name(self.project, self.file_name)
            slug = slugify(values["name"])[:60]
            if not slug:
                self.add_error("name", "A new corpus needs a name with a letter or a digit in it.")
            elif corpora_in(self.project).filter(slug=slug).exists():
                self.add_error("name", f"There is already a corpus {slug}. Choose it above, or use another name.")
        values.setdefault("mode", ImportMode.REPLACE)
        return values

    @classmethod
    def kept_for_another(cls, options: dict[str, Any], file_name: str) -> dict[str, Any]:
        """All but a name that was made from the file, and the leave to empty a corpus for it."""
        made = re.fullmatch(rf"{re.escape(name_after(file_name))[:120]}( \d+)?", options.get("name", ""))
        kept = {name: value for name, value in options.items() if name != "name" or not made}
        return kept | {EMPTIES: ""}


def free_name(project: Project, file_name: str) -> str:
    """A name for a new corpus after its file, with a number when that is taken."""
    name = name_after(file_name)
    taken = set(corpora_in(project).values_list("slug", flat=True))
    names = itertools.chain([name], (f"{name[:110]} {number}" for number in itertools.count(2)))
    return next(each for each in names if slugify(each)[:60] not in taken)


class ImportRow(serializers.Serializer):
    """An import in a list. `job` reads or applies a large file."""

    id = serializers.IntegerField(source="pk")
    kind = serializers.CharField()
    state = ChoiceField(choices=ImportState.values)
    file = serializers.CharField(source="upload.filename")
    failure = serializers.CharField()
    job = serializers.IntegerField(source="job_id", allow_null=True)
    created_at = serializers.DateTimeField()
    applied_at = serializers.DateTimeField(allow_null=True)
    undone_at = serializers.DateTimeField(allow_null=True)


IMPORT_PAGE = page_of("ImportPage", ImportRow)


class ImportOut(ImportRow):
    """`plan` is the result of reading the file: counts, faults and warnings with file, line, field and value.

    Of a table it has `table`, with the columns and what their grades become; of a file with mistakes `fixes`. Of an
    applied import, `undo_refusal` is why it cannot be undone, null where it can; `untouched` is then how much
    of it can be.
    """

    options = serializers.DictField()
    plan = serializers.DictField()
    undo_refusal = serializers.CharField(allow_null=True)
    untouched = serializers.IntegerField()


class OptionsInput(serializers.Serializer):
    """The options of an import: the fields of the page's form, which parses them. What it proposes may be left out."""

    form_class: ClassVar[type[ImportForm]]

    def get_fields(self) -> dict[str, serializers.Field]:
        fields = body_fields(self.form_class, but={"file", "pasted"})
        for name, field in fields.items():
            field.help_text = self.form_class.meanings.get(name, field.help_text)
        return fields | super().get_fields()


class FixInput(serializers.Serializer):
    """The name of one of `plan.fixes`."""

    fix = serializers.CharField(max_length=60)


class ColumnsInput(serializers.Serializer):
    """What is left out stays as it is. Another `sheet` is read afresh, and its columns are proposed."""

    sheet = serializers.CharField(required=False, max_length=200)
    columns = serializers.DictField(
        required=False,
        child=serializers.CharField(allow_blank=True, max_length=60),
        help_text='A role of `plan.table.roles` for each heading; "" leaves the column out.',
    )
    grades = serializers.DictField(
        required=False,
        child=serializers.CharField(allow_blank=True, max_length=20),
        help_text="A grade of the scale for each grade of the file, or skip.",
    )
    person = serializers.CharField(required=False, allow_blank=True, max_length=120)
    remember = serializers.BooleanField(required=False, help_text="Propose the same for the next file like this.")


class UndoInput(serializers.Serializer):
    """`only` untouched takes back what nobody has touched since, where the whole cannot be undone."""

    only = ChoiceField(choices=["untouched"], required=False)


def import_out(item: Import) -> dict[str, Any]:
    """The import as `ImportOut` describes it."""
    is_in_force = item.state == ImportState.APPLIED and item.undone_at is None
    refusal = undo_refusal(item) if is_in_force else None
    return {
        **ImportRow(item).data,
        "options": item.options,
        "plan": item.result or item.plan,
        "undo_refusal": refusal,
        "untouched": kind_named(item.kind).untouched(item) if refusal else 0,
    }


def import_of_kind(project: Project, kind: type[ImportKind], pk: int) -> Import:
    item = import_in(project, pk)
    if item.kind != kind.name:
        raise Http404("No such import.")
    return item


def uploaded(request: Request, project: Project, kind: type[ImportKind], actor: User) -> Import:
    """The import of the file in the request, read by the form of the page. Nothing changes before it is confirmed."""
    fields = kind.form_class(project=project).fields
    sent: QueryDict = request.POST.copy()
    for name, field in fields.items():
        if field.required and field.initial is not None:
            sent.setdefault(name, field.initial)  # as the page proposes it
    form = checked(kind.form_class(sent, request.FILES, project=project))
    return imports.start_import(
        project=project,
        kind=kind.name,
        file=form.cleaned_data["file"],
        options=form.options(),
        actor=actor,
        at=timezone.now(),
    )


class ImportView(ProjectAPIView):
    """The common part of the endpoints of imports of one kind."""

    kind: ClassVar[type[ImportKind]]
    options_input: ClassVar[type[serializers.Serializer]]

    def item(self, pk: int) -> Import:
        return import_of_kind(self.project, self.kind, pk)

    def out(self, item: Import, status: int = 200) -> Response:
        return Response(import_out(item), status=status)


class ImportList(ImportView):
    """Imports of this kind, oldest first. Leads upload a file here.

    It is read at once, or in a job when it is large; nothing changes before it is confirmed.
    """

    parser_classes = [MultiPartParser]

    def get(self, request: Request, slug: str) -> Response:
        return oldest_first(request, imports_in(self.project).filter(kind=self.kind.name), ImportRow)

    def post(self, request: Request, slug: str) -> Response:
        return self.out(uploaded(request, self.project, self.kind, self.member.user), 201)


class ImportDetail(ImportView):
    """An import, its state and its preview."""

    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.out(self.item(pk))


class ImportOptions(ImportView):
    """Read the stored file again with other options. What is left out stays as it is."""

    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = self.item(pk)
        sent = self.options_input(data=request.data, partial=True)
        sent.is_valid(raise_exception=True)
        name = item.upload.filename
        stored = {key: item.options[key] for key in item.options if key in self.options_input().fields}
        form = checked(
            self.kind.form_class(
                {**stored, **sent.validated_data}, project=self.project, uploaded=name, initial=item.options
            )
        )
        return self.out(
            imports.change_options(import_id=item.pk, options=form.options(), actor=self.member.user, at=timezone.now())
        )


class ImportFix(ImportView):
    """Read the stored file again as a fix of its preview proposes."""

    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = self.item(pk)
        name = given_in(request.data, FixInput)["fix"]
        return self.out(imports.take_fix(import_id=item.pk, name=name, actor=self.member.user, at=timezone.now()))


class ImportColumns(ImportView):
    """Say what the columns of a table are, and what its grades become. The table is read again by that."""

    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = self.item(pk)
        choice = table_choice(item, given_in(request.data, ColumnsInput))
        return self.out(
            imports.choose_columns(
                import_id=item.pk, choice=choice, is_final=False, actor=self.member.user, at=timezone.now()
            )
        )


def table_choice(item: Import, sent: dict[str, Any]) -> TableChoice:
    """The choices for a table: those of its preview, with what was sent in their place."""
    if "table" not in item.plan:
        raise ImportRefused("This import has no table whose columns could be chosen.", code="import_without_table")
    table = item.plan["table"]
    shown = TableChoice.from_json(table["choice"])
    headings = {one["heading"]: f"column-{place}" for place, one in enumerate(table["columns"])}
    grades = {one[0]: f"grade-{place}" for place, one in enumerate(table["grades"])}
    _only_known("columns", sent.get("columns", {}), headings)
    _only_known("grades", sent.get("grades", {}), grades)
    columns = {**shown.columns, **sent.get("columns", {})}
    values = {**shown.grades, **sent.get("grades", {})}
    data = {
        "sheet": sent.get("sheet", shown.sheet),
        "person": sent.get("person", shown.person),
        "remember": sent.get("remember", shown.remember),
        **{field: columns.get(heading, "") for heading, field in headings.items()},
        **{field: values.get(grade, "") for grade, field in grades.items()},
    }
    form = TableForm(data, table=table)
    if not form.is_valid():
        names = dict.fromkeys(headings.values(), "columns") | dict.fromkeys(grades.values(), "grades")
        raise ValidationError(
            {names.get(name, name): [str(error) for error in errors] for name, errors in form.errors.items()}
        )
    return form.choice()


def _only_known(name: str, sent: dict[str, str], known: dict[str, str]) -> None:
    if unknown := [key for key in sent if key not in known]:
        raise ValidationError({name: [f"{key[:80]} is not in this table." for key in unknown[:20]]})


class ImportConfirm(ImportView):
    """Import the file, all of it or nothing: at once, or in a job when it is large."""

    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = self.item(pk)
        return self.out(imports.confirm_import(import_id=item.pk, actor=self.member.user, at=timezone.now()))


class ImportDiscard(ImportView):
    """Discard an import that is not applied, and delete its file."""

    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = self.item(pk)
        return self.out(imports.discard_import(import_id=item.pk, actor=self.member.user, at=timezone.now()))


class ImportUndo(ImportView):
    """Put back what an applied import has changed."""

    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = self.item(pk)
        sent = given_in(request.data, UndoInput)
        undo = imports.undo_untouched if sent.get("only") else imports.undo_import
        return self.out(undo(import_id=item.pk, actor=self.member.user, at=timezone.now()))


def import_urls(
    kind: type[ImportKind], *, noun: str, reads: Scope, writes: Scope | tuple[Scope, ...]
) -> list[URLPattern]:
    """The endpoints of the imports of one kind. `noun` begins their operation ids.

    A token needs all of several scopes. `file` may be sent several times where the form takes folders.
    """
    of_kind = {"form_class": kind.form_class}
    options = type(f"{noun.capitalize()}OptionsInput", (OptionsInput,), of_kind)
    file = type(f"{noun.capitalize()}FileInput", (OptionsInput,), {**of_kind, "file": serializers.FileField()})

    def described(view: type[ImportView], **methods: Any) -> Any:
        of_kind: Any = type(
            f"{noun.capitalize()}{view.__name__}",
            (view,),
            {
                "__doc__": view.__doc__,
                "kind": kind,
                "options_input": options,
                "roles": {method.upper(): (Role.LEAD,) for method in methods},
                "scopes": {method.upper(): reads if method == "get" else writes for method in methods},
            },
        )
        return extend_schema_view(**methods)(of_kind).as_view()

    def step(name: str, request: Any = None) -> Any:
        return extend_schema(operation_id=f"{noun}_import_{name}", request=request, responses=ImportOut)

    upload = extend_schema(
        operation_id=f"{noun}_import", request={"multipart/form-data": file}, responses={201: ImportOut}
    )
    listed = extend_schema(operation_id=f"{noun}_imports_list", parameters=PAGING, responses=IMPORT_PAGE)
    one = "imports/<int:pk>/"
    return [
        path("imports/", described(ImportList, get=listed, post=upload), name="imports"),
        path(one, described(ImportDetail, get=step("read")), name="import"),
        path(
            f"{one}options/",
            described(ImportOptions, post=step("options", options(partial=True))),
            name="import-options",
        ),
        path(f"{one}fix/", described(ImportFix, post=step("fix", FixInput)), name="import-fix"),
        path(f"{one}columns/", described(ImportColumns, post=step("columns", ColumnsInput)), name="import-columns"),
        path(f"{one}confirm/", described(ImportConfirm, post=step("confirm")), name="import-confirm"),
        path(f"{one}discard/", described(ImportDiscard, post=step("discard")), name="import-discard"),
        path(f"{one}undo/", described(ImportUndo, post=step("undo", UndoInput)), name="import-undo"),
    ]
