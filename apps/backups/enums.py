BACK_UP = "backups.back_up"
"""The kind of the jobs that make backups."""
