"""`karat migrate`: Django's, with the checks that a migration depends on, and no model that no migration asks for."""

from typing import Any

from django.core.checks import Tags
from django.core.management.commands import migrate

from apps.common.database.on_demand import Executor

migrate.MigrationExecutor = Executor  # type: ignore[attr-defined]  # the command takes no other


class Command(migrate.Command):
    def check(self, *args: Any, **options: Any) -> None:
        """Check models and database. The other checks load every page; `karat check` and the tests run them."""
        super().check(*args, **{**options, "tags": [Tags.models, Tags.database]})
