"""The figures of `karat agree` as a table for people, and as JSON, CSV and TSV for machines."""

from apps.cli.agree.output.as_json import as_json
from apps.cli.agree.output.as_rows import as_csv, as_tsv
from apps.cli.agree.output.as_table import as_table

__all__ = ["as_csv", "as_json", "as_table", "as_tsv"]
