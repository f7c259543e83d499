"""`karat migrate`: Django's, with the checks that a migration depends on."""

from typing import Any

from django.core.checks import Tags
from django.core.management.commands import migrate

from apps.backups.selectors.reading import applied_migrations
from apps.common.database.schema import refuse_older


class Command(migrate.Command):
    def check(self, *args: Any, **options: Any) -> None:
        """Check models and database. The other checks load every page; `karat check` and the tests run them."""
        super().check(*args, **{**options, "tags": [Tags.models, Tags.database]})

    def handle(self, *args: Any, **options: Any) -> None:
        """On data that is too old Django would run what comes after a migration that it does not find applied."""
        refuse_older(applied_migrations())
        super().handle(*args, **options)
