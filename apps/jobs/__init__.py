"""The durable job table, workers, uploads, outbox, webhooks, notifications."""
