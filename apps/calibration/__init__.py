"""The quality tracker: flag rates, control charts, calibrations of two people."""
