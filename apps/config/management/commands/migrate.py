"""`karat migrate`: Django's, with the checks that a migration depends on."""

from typing import Any

from django.core.checks import Tags
from django.core.management.commands import migrate


class Command(migrate.Command):
    def check(self, *args: Any, **options: Any) -> None:
        """Check models and database. The other checks load every page; `karat check` and the tests run them."""
        super().check(*args, **{**options, "tags": [Tags.models, Tags.database]})
