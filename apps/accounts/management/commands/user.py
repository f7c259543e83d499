"""`karat user`: manages people from the command line, for the set-up and for lost passwords."""

import getpass
import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.actions import identities, invitations, people
from apps.accounts.actions.leaving import leave
from apps.accounts.execution.leaving import held_by
from apps.accounts.models import User
from apps.accounts.selectors import everybody, with_address
from apps.common.database.bulk import undone
from apps.common.templatetags.karat import plural


class Command(BaseCommand):
    help = (
        "Create, list, unlink, deactivate, reopen people or have them leave; create a one-time set-up link; set a "
        "password."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        add = steps.add_parser("add", help="create a person")
        add.add_argument("email")
        add.add_argument("--name", required=True)
        add.add_argument("--operator", action="store_true", help="may create projects")
        steps.add_parser("list", help="list people")
        for step, summary in (
            ("password", "set a person's password"),
            ("unlink", "end the link of an account with the provider of single sign-on"),
            ("deactivate", "close a person's account"),
            ("reopen", "open a closed account again, without a password"),
        ):
            one = steps.add_parser(step, help=summary)
            one.add_argument("email")
        address = steps.add_parser("address", help="give an account another e-mail address")
        address.add_argument("email")
        address.add_argument("new")
        leaving = steps.add_parser("leave", help="take all that a person holds, and close their account")
        leaving.add_argument("email")
        leaving.add_argument("--heir", metavar="E-MAIL", help="who leads the projects that only this person leads")
        leaving.add_argument("--yes", action="store_true", help="do not ask; for scripts")
        leaving.add_argument("--dry-run", action="store_true", help="only list what would be taken")
        steps.add_parser("setup-link", help="create a one-time link for the first operator")

    def handle(self, *args: Any, step: str, **options: Any) -> None:
        getattr(self, f"_{step.replace('-', '_')}")(**options)

    def _add(self, *, email: str, name: str, operator: bool, **options: Any) -> None:
        password = secrets.token_urlsafe(12)
        user = people.create_user(email=email, name=name, password=password, at=timezone.now(), is_operator=operator)
        self.stdout.write(f"{user.email}\t{password}")
        self.stderr.write("This password is shown once. Change it after the first sign-in.")

    def _list(self, **options: Any) -> None:
        for user in everybody().order_by("email"):
            standing = "operator" if user.is_operator else "person"
            self.stdout.write("\t".join([user.email, user.name, standing if user.is_active else "deactivated"]))

    def _password(self, *, email: str, **options: Any) -> None:
        people.change_password(user=self._person(email), password=getpass.getpass("New password: "), at=timezone.now())
        self.stdout.write(f"{email} can sign in with the new password.")

    def _unlink(self, *, email: str, **options: Any) -> None:
        identities.unlink_identity(user_id=self._person(email).pk, actor=None, at=timezone.now())
        self.stdout.write(f"{email} is not linked with any identity now.")

    def _deactivate(self, *, email: str, **options: Any) -> None:
        people.deactivate_user(user_id=self._person(email).pk, actor=None, at=timezone.now())
        self.stdout.write(f"{email} is deactivated. Their work and their name stay.")

    def _reopen(self, *, email: str, **options: Any) -> None:
        people.reopen_account(user_id=self._person(email).pk, actor=None, at=timezone.now())
        self.stdout.write(f"The account of {email} is open again. `karat user password {email}` sets a password.")

    def _address(self, *, email: str, new: str, **options: Any) -> None:
        user = people.change_address(user_id=self._person(email).pk, email=new, at=timezone.now())
        self.stdout.write(f"{email} is {user.email} now. Sign in with that.")

    def _leave(self, *, email: str, heir: str | None, yes: bool, dry_run: bool, **options: Any) -> None:
        user, at = self._person(email), timezone.now()
        for holding in held_by(user, at):
            self.stdout.write("\t".join([plural(holding.number, holding.what), holding.project, holding.becomes]))
        if not (yes or dry_run) and input(f"Type {user.email} to take all of it: ").strip().lower() != user.email:
            raise CommandError("That is another address. Nothing was changed.", returncode=2)
        with undone(when=dry_run):
            leave(user_id=user.pk, actor=None, heir=self._person(heir) if heir else None, at=at)
        if dry_run:
            return
        self.stdout.write(f"{user.email} has left. Their work and their name stay.")

    def _setup_link(self, **options: Any) -> None:
        token = invitations.create_setup_link(at=timezone.now())
        self.stdout.write(f"/setup/{token}/")

    def _person(self, email: str) -> User:
        user = with_address(User.objects.all(), email).first() or User.objects.filter(email=email).first()
        if user is None:
            raise CommandError(f"No person has the address {email}. `karat user list` shows all.", returncode=2)
        return user
