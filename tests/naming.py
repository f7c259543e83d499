"""Which tables name a row: what can rest on it."""

from django.db.models import Model


def tables_that_name(model: type[Model]) -> set[str]:
    """The labels of all tables with a foreign key to this one, those of links between two models too."""
    fields = model._meta.get_fields(include_hidden=True)
    keys = [field for field in fields if field.auto_created and not field.concrete and not field.many_to_many]
    return {field.related_model._meta.label for field in keys}
