"""API of importing triples: upload a file, preview the plan, confirm. The same steps as the pages."""

from rest_framework import serializers

from apps.accounts.enums import Scope
from apps.common.web.forms import ChoiceField
from apps.corpus.edges.import_api import import_urls
from apps.triples.edges.imports import LONGEST_MACHINE, TripleImport
from apps.triples.formats import FORMAT_NAMES


class TripleOptionsInput(serializers.Serializer):
    """For the schema, and for the names of the options; the page's own form parses them."""

    format = ChoiceField(choices=FORMAT_NAMES)
    corpus = serializers.CharField(required=False, allow_blank=True)
    machine = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_MACHINE)
    near = serializers.BooleanField(required=False)


class TripleFileInput(TripleOptionsInput):
    """The file and its options."""

    file = serializers.FileField()


URLS = import_urls(
    TripleImport,
    noun="triples",
    file=TripleFileInput,
    options=TripleOptionsInput,
    reads=Scope.TRIPLES_WRITE,
    writes=Scope.TRIPLES_WRITE,
)
