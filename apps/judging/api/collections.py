"""API of importing collections: upload a zip, look at the plan, confirm. The same steps as the pages."""

from rest_framework import serializers

from apps.accounts.enums import Scope
from apps.common.web.forms import ChoiceField
from apps.corpus.edges.import_api import import_urls
from apps.corpus.edges.target_form import NEW
from apps.corpus.enums import ImportMode
from apps.judging.edges.collections import CollectionImport


class CollectionOptionsInput(serializers.Serializer):
    """For the schema, and for the names of the options; the page's own form parses them."""

    corpus = serializers.CharField(
        required=False, max_length=60, help_text=f"The slug of a corpus; by default {NEW}, a new one."
    )
    name = serializers.CharField(required=False, allow_blank=True, max_length=120, help_text="Of a new corpus.")
    mode = ChoiceField(
        choices=ImportMode.values, required=False, help_text="Whether missing passages are removed; by default replace."
    )
    splits = serializers.CharField(
        required=False, allow_blank=True, max_length=2_000, help_text="Such as test, or dev,test; by default all."
    )
    grades = serializers.CharField(
        required=False, allow_blank=True, max_length=2_000, help_text="Such as 1=3,0=0,-1=skip."
    )
    skip_unknown = serializers.BooleanField(required=False)


class CollectionFileInput(CollectionOptionsInput):
    """The zip and its options."""

    file = serializers.FileField()


URLS = import_urls(
    CollectionImport,
    noun="collections",
    file=CollectionFileInput,
    options=CollectionOptionsInput,
    reads=Scope.CORPUS_READ,
    writes=(Scope.CORPUS_WRITE, Scope.JUDGING_WRITE),
)
