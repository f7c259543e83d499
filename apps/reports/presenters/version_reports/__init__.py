"""The report of a frozen version, one module a subject; the report is put together in `report`."""

from apps.reports.presenters.version_reports.report import version_report

__all__ = ["version_report"]
