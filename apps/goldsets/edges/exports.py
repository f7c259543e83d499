"""The forms that a version is downloaded in, and the download, for pages and the API."""

from django.http import FileResponse
from django.utils import timezone

from apps.accounts.selectors import Member
from apps.common.errors import Forbidden
from apps.goldsets import rules
from apps.goldsets.actions.versions import log_export
from apps.goldsets.enums import Split
from apps.goldsets.execution import exporting
from apps.goldsets.formats.folder import CHOICES
from apps.goldsets.formats.judgements import LOSSES
from apps.goldsets.models import Version
from apps.goldsets.selectors import versions

FORM_WORDS = (
    ("all", "Everything", "All formats below, and the manifest"),
    ("jsonl", "JSONL", "Q&As, queries, judgements and corpus, one object per line"),
    ("csv", "CSV", "One row per judged pair, for spreadsheets"),
    ("trec", "TREC", "Qrels and topics for trec_eval"),
    ("beir", "BEIR", "Corpus, queries and qrels by split"),
    ("parquet", "Parquet", "The tables of JSONL, for pandas and data warehouses"),
    ("huggingface", "Hugging Face", "A folder with a data card for datasets.load_dataset"),
    ("rag", "RAG evaluation", "Question, contexts and ground truth of each Q&A, JSONL"),
    ("ragas", "ragas", "The same with the field names of ragas"),
    ("yaml", "YAML", "Q&As, to read and edit by hand"),
    ("judgements", "Single judgements", "Each person's grade, time and note, under a pseudonym"),
)


def offered_forms(version: Version, member: Member) -> list[tuple[str, str, str, str]]:
    """The files that this person may have, each with what it loses."""
    hidden = {"judgements"} if rules.answers_refusal(member, version) else set()
    lost = {form: loss.words for form, loss in LOSSES.items()}
    return [(*words, lost.get(words[0], "")) for words in FORM_WORDS if words[0] not in hidden]


def export_response(
    version: Version, *, member: Member, form: str, split: str, with_slices: bool = False
) -> FileResponse:
    """The zip file of a version. Leads get both splits unless they choose one; everybody else gets dev."""
    if reason := rules.export_refusal(version):
        raise exporting.ExportRefused(reason, code="export_refused")
    if reason := rules.blind_refusal(member):
        raise Forbidden(reason, code="still_judging")
    if form not in CHOICES:
        raise exporting.WrongChoice(f"“{form[:40]}” is no format. Use {', '.join(CHOICES)}.", code="unknown_form")
    if split not in {"", *Split.values}:
        raise exporting.WrongChoice("A split is dev or test.", code="unknown_split")
    splits = [split] if split else (list(Split.values) if member.is_lead else [Split.DEV.value])
    if Split.TEST in splits and (reason := rules.sealed_refusal(member)):
        raise Forbidden(reason, code="test_is_sealed")
    answers_refusal = rules.answers_refusal(member, version)
    if form == "judgements" and answers_refusal:
        raise Forbidden(answers_refusal, code="answers_hidden")
    at = timezone.now()
    stream = exporting.zipped(
        version,
        formats=[form],
        splits=splits,
        revoked=versions.revoked_sources(version, at=at),
        names=member.is_lead,
        answers=answers_refusal is None,
        with_slices=with_slices,
    )
    log_export(version=version, actor=member.user, formats=[form], splits=splits, at=at)
    name = exporting.file_name(version, [form], splits, with_slices=with_slices)
    answer = FileResponse(stream, as_attachment=True, filename=name, content_type="application/zip")
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
