"""In tests, a template that prints or passes on a name missing from its context raises an error.

Django prints nothing instead, so a name that was changed in one of two places leaves an empty cell or an empty field.
A condition may still ask for a missing name: with `if` a template has optional parameters.
"""

from contextvars import ContextVar
from typing import Any

from django.template.base import FilterExpression, Variable, VariableDoesNotExist
from django.template.context import Context

_required: ContextVar[Variable | None] = ContextVar("required", default=None)
_resolve_variable, _resolve_expression = Variable.resolve, FilterExpression.resolve


class UnknownName(AssertionError):
    """A template prints or passes on a name that is missing from its context."""


def enforce() -> None:
    """From now on templates raise UnknownName."""
    Variable.resolve = _variable
    FilterExpression.resolve = _expression


def _variable(self: Variable, context: Context) -> Any:
    is_required = _required.get() is self
    try:
        return _resolve_variable(self, context)
    except VariableDoesNotExist as error:
        if not is_required:
            raise
        page = context.render_context.template.name or "The template"
        raise UnknownName(f"{page}, or a part of it, uses {self.var}, which is missing from its context.") from error


def _expression(self: FilterExpression, context: Context, ignore_failures: bool = False) -> Any:
    token = _required.set(self.var if self.is_var and not ignore_failures else None)
    try:
        return _resolve_expression(self, context, ignore_failures)
    finally:
        _required.reset(token)
