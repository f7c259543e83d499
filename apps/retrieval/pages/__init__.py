"""The pages of systems, runs and pools."""
