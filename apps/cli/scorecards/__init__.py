"""A scorecard as a table for people, and as JSON, CSV and TSV for machines."""

from apps.cli.scorecards.as_json import as_json
from apps.cli.scorecards.as_rows import as_csv, as_tsv
from apps.cli.scorecards.as_table import as_table

FORMATS = {"table": as_table, "json": as_json, "csv": as_csv, "tsv": as_tsv}

__all__ = ["FORMATS", "as_csv", "as_json", "as_table", "as_tsv"]
