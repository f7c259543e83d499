"""Fields that several models of gold sets have."""

from typing import Any

from django.conf import settings
from django.db import models


def person(*, null: bool = False) -> "models.ForeignKey[Any, Any]":
    return models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=null, related_name="+")
