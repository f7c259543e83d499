"""`karat demo --project NAME`: creates a demo project."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.selectors import with_address
from apps.common.errors import Refusal
from apps.dashboard.actions.projects import NAME, request_demo
from apps.dashboard.execution.demo.stage import finish


class Command(BaseCommand):
    help = "Create a demo project: a handbook, its queries, grades, triples, a released version and scored runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", default=NAME, help='name of the project (default: "%(default)s")')
        parser.add_argument("--host", default="", help="address of the operator who leads it (default: the first one)")

    def handle(self, *args: Any, project: str, host: str, **options: Any) -> None:
        operators = User.objects.filter(is_operator=True, is_active=True).order_by("pk")
        user = with_address(operators, host).first() if host else operators.first()
        if user is None:
            cure = "`karat user add EMAIL --name NAME --operator` creates one."
            who = f"There is no operator with the address {host}." if host else "There is no operator yet."
            raise CommandError(f"{who} {cure}", returncode=2)
        try:
            job = request_demo(host=user, name=project, at=timezone.now())
            finish(job)
        except Refusal as refusal:
            raise CommandError(refusal.sentence, returncode=2) from refusal
        assert job.project is not None
        self.stdout.write(reverse("dashboard:home", args=[job.project.slug]))
