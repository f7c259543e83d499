"""What people say about systems, runs and pools."""

from apps.retrieval.forms.fields import RunsField, SnapshotField
from apps.retrieval.forms.pools import DrawnForm, GrowForm, PoolForm
from apps.retrieval.forms.queries import QueryChoiceForm
from apps.retrieval.forms.remote import FORMS, PaceForm, RemoteForm
from apps.retrieval.forms.runs import LedgerForm, RunForm, UploadForm
from apps.retrieval.forms.systems import WORDS, SystemForm

__all__ = [
    "FORMS",
    "WORDS",
    "DrawnForm",
    "GrowForm",
    "LedgerForm",
    "PaceForm",
    "PoolForm",
    "QueryChoiceForm",
    "RemoteForm",
    "RunForm",
    "RunsField",
    "SnapshotField",
    "SystemForm",
    "UploadForm",
]
