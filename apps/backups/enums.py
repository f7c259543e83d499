"""Kinds of jobs, and what can be chosen."""

from enum import StrEnum

BACK_UP = "backups.back_up"
"""The kind of the jobs that make backups."""

DELETE_PROJECT = "backups.delete_project"
"""The kind of the jobs that delete a project."""


class PeopleAs(StrEnum):
    """Who the people of a project are on the server that takes it in."""

    NAMES = "names"
    """Each is a name without an account."""
    PSEUDONYMS = "pseudonyms"
    """As names, but for the name: each is "Person 1", "Person 2", …"""
    MEMBERS = "by-address"
    """Who has an account under the same address is that person, and all others are names."""
