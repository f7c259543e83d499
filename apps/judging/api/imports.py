"""API of importing judgements: upload a file, look at the plan, confirm. The same steps as the pages."""

from rest_framework import serializers

from apps.accounts.enums import Scope
from apps.common.web.forms import ChoiceField
from apps.corpus.edges.import_api import import_urls
from apps.judging.edges.imports import FORMAT_NAMES, GRADED, JudgementImport


class JudgementOptionsInput(serializers.Serializer):
    """For the schema, and for the names of the options; the page's own form parses them."""

    format = ChoiceField(choices=FORMAT_NAMES)
    snapshot = serializers.IntegerField(min_value=1, help_text="The key of the snapshot whose texts were judged.")
    columns = serializers.CharField(
        required=False, allow_blank=True, max_length=2_000, help_text="Such as Search=query,URL=passage,Stars=grade."
    )
    grades = serializers.CharField(
        required=False, allow_blank=True, max_length=500, help_text="Such as relevant=3,partly=1,-1=skip."
    )
    sheet = serializers.CharField(required=False, allow_blank=True, max_length=200)
    person = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=120,
        help_text="Who gave the grades of a file that does not say it.",
    )
    graded = ChoiceField(
        choices=[*GRADED],
        required=False,
        allow_blank=True,
        help_text="Of pairs with a grade already: replace the same person's earlier grades, or leave the pairs out.",
    )
    name = serializers.CharField(required=False, allow_blank=True, max_length=100)
    skip_unknown = serializers.BooleanField(required=False)


class JudgementFileInput(JudgementOptionsInput):
    """The file and its options."""

    file = serializers.FileField()


URLS = import_urls(
    JudgementImport,
    noun="judging",
    file=JudgementFileInput,
    options=JudgementOptionsInput,
    reads=Scope.JUDGING_WRITE,
    writes=Scope.JUDGING_WRITE,
)
