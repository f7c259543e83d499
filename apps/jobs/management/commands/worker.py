import sys
from argparse import ArgumentParser
from typing import Any

from celery import current_app
from django.core.management.base import BaseCommand

from apps.common.hooks import load_celery
from apps.jobs.execution.worker import run_worker


class Command(BaseCommand):
    help = "Run one worker: it does one job at a time, and takes over those of workers that died."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--loglevel", default="WARNING", help="default: %(default)s")

    def handle(self, *args: Any, **options: Any) -> None:
        load_celery()
        sys.exit(run_worker(current_app, loglevel=options["loglevel"]))
