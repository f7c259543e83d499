"""Forms for people, projects, invitations, tokens and secrets."""

import zoneinfo
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet

from apps.accounts.core.addresses import MOST_GUESTS, PASTED, Guest, NoAddress, plain_address, read_guests, sentence
from apps.accounts.enums import Role, Scope
from apps.accounts.models import User
from apps.common.files.filekinds import encoding_of
from apps.common.web.forms import KaratForm, offer_rows

ROLE_WORDS = {
    Role.ANNOTATOR: "Annotator: grades passages and writes Q&As",
    Role.REVIEWER: "Reviewer: confirms or flags Q&As of others",
    Role.LEAD: "Lead: imports, plans, decides, releases, invites",
    Role.VIEWER: "Viewer: reads passages, queries, versions, scores and agreement",
}
TOKEN_LIVES = ((7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "365 days"))
MOST_LIST_BYTES = 100_000


class AddressField(forms.EmailField):
    """An e-mail address, in its one form."""

    def __init__(self, **attributes: Any) -> None:
        widget = forms.EmailInput(attrs={"autocomplete": "username", **attributes})
        super().__init__(label="E-mail", max_length=254, widget=widget)

    def clean(self, value: Any) -> str:
        address = super().clean(value)
        try:
            return plain_address(address) if address else ""
        except NoAddress as wrong:
            raise forms.ValidationError(wrong.sentence) from wrong


class PasswordField(forms.CharField):
    """The current password, or a new one."""

    def __init__(self, label: str | None = None, *, is_new: bool = False) -> None:
        widget = forms.PasswordInput(attrs={"autocomplete": "new-password" if is_new else "current-password"})
        help_text = "At least 10 characters. A few plain words are good." if is_new else ""
        super().__init__(label=label, max_length=200, strip=False, help_text=help_text, widget=widget)


class SignInForm(KaratForm):
    email = AddressField(autofocus=True)
    password = PasswordField()


class NewPersonForm(KaratForm):
    """Name and password of a new person; `email` is omitted when the invitation names it."""

    email = AddressField()
    name = forms.CharField(
        max_length=120,
        help_text="How colleagues see it.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = PasswordField(is_new=True)

    def __init__(self, *args: Any, known_email: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known_email = known_email
        if known_email:
            del self.fields["email"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if password := values.get("password"):
            person = User(email=self.known_email or values.get("email", ""), name=values.get("name", ""))
            try:
                validate_password(password, person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return values


class SetUpForm(NewPersonForm):
    project_name = forms.CharField(
        label="First project",
        max_length=120,
        required=False,
        help_text="Such as the name of the handbook that you will search. You can create it later.",
    )


class ProjectForm(KaratForm):
    name = forms.CharField(max_length=120, help_text="Such as the name of the corpus or the team.")


class ProfileForm(KaratForm):
    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    time_zone = forms.ChoiceField(choices=lambda: [(name, name) for name in sorted(zoneinfo.available_timezones())])


class OwnPasswordForm(KaratForm):
    """The own password again, before something that a stranger at an open session must not do."""

    current = PasswordField("Current password")

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_current(self) -> str:
        if not self.user.check_password(self.cleaned_data["current"]):
            raise forms.ValidationError("This is not your current password.")
        return self.cleaned_data["current"]


class PasswordForm(OwnPasswordForm):
    """A new password, after the current one."""

    new = PasswordField("New password", is_new=True)

    def clean_new(self) -> str:
        validate_password(self.cleaned_data["new"], self.user)
        return self.cleaned_data["new"]


class LeavingForm(KaratForm):
    """Somebody leaves: their address or name typed, and who leads the projects that only they lead."""

    typed = forms.CharField(max_length=254, required=False, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    heir = forms.ModelChoiceField(User.objects.none(), label="Who leads from now on", empty_label="Choose somebody")

    def __init__(self, *args: Any, user: User, heirs: QuerySet[User] | None, **kwargs: Any) -> None:
        """`heirs` None: nobody is needed."""
        super().__init__(*args, **kwargs)
        self.user = user
        self.fields["typed"].label = f"To confirm, type {user.email}"
        if heirs is None:
            del self.fields["heir"]
        else:
            offer_rows(self, "heir", heirs)

    def clean_typed(self) -> str:
        typed = self.cleaned_data["typed"].strip().casefold()
        if typed not in {self.user.email.casefold(), self.user.name.casefold()}:
            raise forms.ValidationError(f"Type {self.user.email}, or the name, to confirm.")
        return typed


class RolesForm(KaratForm):
    """The roles of one member; none at all ends the membership."""

    roles = forms.MultipleChoiceField(
        choices=[(role.value, words) for role, words in ROLE_WORDS.items()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )


class OnceForm(KaratForm):
    """A form that has one effect however often it is sent: `key` is created with the page and sent each time."""

    key = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput, initial=lambda: uuid4().hex)


class InviteForm(OnceForm):
    """Several people, one a line, pasted or in a file; without a line it is one link for whoever opens it."""

    people = forms.CharField(
        label="People, one a line: name, e-mail, role",
        required=False,
        max_length=60_000,
        help_text="All but the name may be left out. If empty, one link is made for whoever opens it.",
        widget=forms.Textarea(
            attrs={"rows": 4, "placeholder": "Mara Quill, mara@example.org, annotator\nTobias Reck, reviewer"}
        ),
    )
    file = forms.FileField(
        label="Or a file of such lines", required=False, help_text="Text or CSV, with or without a line of headings."
    )
    roles = forms.MultipleChoiceField(
        label="Role of everybody whose line names none",
        choices=[(role.value, words) for role, words in ROLE_WORDS.items()],
        initial=[Role.ANNOTATOR.value],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    by_mail = forms.BooleanField(label="Mail the links to those with an address", required=False, initial=True)

    def clean_file(self) -> UploadedFile | None:
        file = self.cleaned_data["file"]
        if file and file.size > MOST_LIST_BYTES:
            raise forms.ValidationError(
                f"{file.name} is longer than a list of {MOST_GUESTS} people. Choose another file."
            )
        return file

    def clean(self) -> dict[str, Any]:
        """Also fills `guests`. A mistake in one line invites nobody."""
        values = super().clean() or {}
        roles, file, text = values.get("roles", []), values.get("file"), values.get("people", "")
        if self.errors:
            return values
        if file and text:
            self.add_error("file", "Paste a list or choose a file, not both.")
        elif file:
            self._read("file", _text_of(file), roles, str(file.name))
        elif text:
            self._read("people", text, roles, PASTED)
        elif roles:
            values["guests"] = [Guest("", "", tuple(sorted(roles)))]
        else:
            self.add_error("roles", "Choose at least one role.")
        return values

    def _read(self, field: str, text: str, roles: list[str], name: str) -> None:
        found = read_guests(text, roles, file=name)
        for mistake in found.mistakes:
            self.add_error(field, sentence(mistake))
        if not (found.guests or found.mistakes):
            self.add_error(field, f"{name or 'The list'} names nobody. Write one person a line.")
        self.cleaned_data["guests"] = found.guests

    @property
    def is_list(self) -> bool:
        """Whether it is shown what was read, before anybody is invited."""
        return bool(self.cleaned_data["file"]) or len(self.cleaned_data["guests"]) > 1

    @property
    def lines(self) -> str:
        """What was read, as lines that are read as the same."""
        return "\n".join(guest.line for guest in self.cleaned_data["guests"])


def _text_of(file: UploadedFile) -> str:
    content = file.read()
    return content.decode(encoding_of([content]), errors="replace").removeprefix("\ufeff")


class ForgottenForm(KaratForm):
    email = AddressField(autofocus=True)


class NewPasswordForm(KaratForm):
    """The new password of a person who forgot theirs."""

    password = PasswordField("New password", is_new=True)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        validate_password(self.cleaned_data["password"], self.user)
        return self.cleaned_data["password"]


class TokenForm(OnceForm):
    name = forms.CharField(max_length=80, help_text="What will use it, such as the name of the pipeline.")
    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, f"{scope.value}: {scope.label}") for scope in Scope],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one scope."},
    )
    days = forms.TypedChoiceField(label="Expires after", choices=TOKEN_LIVES, coerce=int, initial=90)

    @property
    def lasts(self) -> timedelta:
        return timedelta(days=self.cleaned_data["days"])


class SecretForm(KaratForm):
    """A secret to store. The value is never sent back to the browser, not even with an error."""

    name = forms.CharField(
        max_length=60,
        help_text="Lower-case letters, digits and hyphens, such as search-key. A secret of the same name is replaced.",
    )
    value = forms.CharField(
        max_length=4_000,
        help_text="A password, a token or an API key. It is stored encrypted and never shown again.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
