"""The figures of `karat agree` as a table for people, and as JSON, CSV and TSV for machines."""

from apps.agreement.labelprint.objects import as_json
from apps.agreement.labelprint.rows import as_csv, as_tsv
from apps.agreement.labelprint.table import as_table

__all__ = ["as_csv", "as_json", "as_table", "as_tsv"]
