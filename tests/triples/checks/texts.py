"""What the checks are tried on."""

TEXT = "Archives are encrypted with AES-256-GCM. Keys are rotated every 90 days by two people."
