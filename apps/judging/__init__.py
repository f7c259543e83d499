"""Rounds, seats, judgements, adjudication, guidelines."""
