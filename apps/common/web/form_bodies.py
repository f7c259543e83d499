"""Forms that check a body of the API as they check a page."""

from typing import TypeVar

from django.forms import BaseForm
from rest_framework.exceptions import ValidationError

F = TypeVar("F", bound=BaseForm)


def checked(form: F) -> F:
    """The form, once it is valid. Raises ValidationError with its sentences by field."""
    if not form.is_valid():
        raise ValidationError({name: [str(fault) for fault in faults] for name, faults in form.errors.items()})
    return form
