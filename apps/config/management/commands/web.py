from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from apps.config.up import open_port
from apps.config.web_server import serve


class Command(BaseCommand):
    help = "Run one web server alone: `karat up` is for everything, and `karat upgrade` for the database."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        with open_port(options["host"], options["port"]) as listener:
            serve(listener)
