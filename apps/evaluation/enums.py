RUN_AGAIN = "evaluation.run_again"
"""The job kind that runs systems again for a version on a newer snapshot, and scores the runs."""
