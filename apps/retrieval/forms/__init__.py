"""The forms of systems, runs and pools."""

from apps.retrieval.forms.fields import RunsField, SnapshotField
from apps.retrieval.forms.pools import GrowForm, PoolForm, SamplingForm
from apps.retrieval.forms.queries import QueryChoiceForm
from apps.retrieval.forms.remote import FORMS, PaceForm, RemoteForm
from apps.retrieval.forms.runs import LedgerForm, RunForm, TagForm, UploadForm
from apps.retrieval.forms.systems import VALUE_LABELS, SystemForm

__all__ = [
    "FORMS",
    "VALUE_LABELS",
    "GrowForm",
    "LedgerForm",
    "PaceForm",
    "PoolForm",
    "QueryChoiceForm",
    "RemoteForm",
    "RunForm",
    "RunsField",
    "SamplingForm",
    "SnapshotField",
    "SystemForm",
    "TagForm",
    "UploadForm",
]
