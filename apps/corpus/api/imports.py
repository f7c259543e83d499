"""API of importing documents and passages: upload files, look at the plan, confirm. The same steps as the pages."""

from rest_framework import serializers

from apps.accounts.enums import Scope
from apps.common.web.forms import ChoiceField
from apps.corpus.core.documents import EXAMPLES, FIRST_ROWS
from apps.corpus.edges.import_api import NEW, import_urls
from apps.corpus.edges.imports import FORMAT_NAMES, CorpusImport
from apps.corpus.enums import ImportMode
from apps.corpus.formats import IDS


class CorpusOptionsInput(serializers.Serializer):
    """For the schema, and for the names of the options; the page's own form parses them."""

    corpus = serializers.CharField(max_length=60, help_text=f"The slug of the corpus, or {NEW} for a new one.")
    name = serializers.CharField(required=False, allow_blank=True, max_length=120, help_text="Of a new corpus.")
    mode = ChoiceField(
        choices=ImportMode.values, required=False, help_text="Whether missing passages are removed; by default replace."
    )
    format = ChoiceField(choices=FORMAT_NAMES, required=False, help_text="By default recognised for each file.")
    recipe = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text=f"How documents are cut: {', '.join(EXAMPLES)}."
    )
    base_url = serializers.CharField(
        required=False, allow_blank=True, max_length=300, help_text="The address of the site, for links to its pages."
    )
    also_text = serializers.CharField(
        required=False, allow_blank=True, max_length=300, help_text="Endings of files that are read as text."
    )
    first_row = ChoiceField(
        choices=list(FIRST_ROWS),
        required=False,
        help_text='What the first row of a table is, headings or data; "" where that is recognised.',
    )
    empties = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=60,
        help_text="The slug of the corpus that may lose all passages to files without any document of it.",
    )
    ids = ChoiceField(choices=list(IDS), required=False, help_text="Of SMART files; by default file.")


class CorpusFileInput(CorpusOptionsInput):
    """The file and its options. `file` may be sent several times, for several files."""

    file = serializers.FileField()


URLS = import_urls(
    CorpusImport,
    noun="corpus",
    file=CorpusFileInput,
    options=CorpusOptionsInput,
    reads=Scope.CORPUS_READ,
    writes=Scope.CORPUS_WRITE,
)
