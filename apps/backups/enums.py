"""Kinds of jobs."""

BACK_UP = "backups.back_up"
"""The kind of the jobs that make backups."""

DELETE_PROJECT = "backups.delete_project"
"""The kind of the jobs that delete a project."""
