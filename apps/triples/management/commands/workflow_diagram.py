from typing import Any

from django.core.management.base import BaseCommand

from apps.triples.workflow import mermaid


class Command(BaseCommand):
    help = "Print the state table of a triple as the Mermaid diagram of docs/reference/states.md."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(mermaid(), ending="")
