"""API of importing queries: upload a file, look at the plan, confirm. The same steps as the pages."""

from rest_framework import serializers

from apps.accounts.enums import Scope
from apps.common.web.forms import ChoiceField
from apps.corpus.edges.import_api import import_urls
from apps.queries.edges.imports import FORMAT_NAMES, QueryImport
from apps.queries.formats import IDS
from apps.queries.formats.recognition import AUTO


class QueryOptionsInput(serializers.Serializer):
    """For the schema, and for the names of the options; the page's own form parses them."""

    format = ChoiceField(choices=FORMAT_NAMES, required=False, help_text=f"By default {AUTO}.")
    ids = ChoiceField(choices=list(IDS), required=False, help_text="Of SMART files; by default file.")
    source = serializers.CharField(  # type: ignore[assignment]  # of queries
        required=False, allow_blank=True, max_length=60, help_text="The slug of the source of those without one."
    )


class QueryFileInput(QueryOptionsInput):
    """The file and its options."""

    file = serializers.FileField()


URLS = import_urls(
    QueryImport,
    noun="queries",
    file=QueryFileInput,
    options=QueryOptionsInput,
    reads=Scope.CORPUS_READ,
    writes=Scope.CORPUS_WRITE,
)
