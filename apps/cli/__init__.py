"""Commands that need no database: score, agree, eval, verify, pull, push, and their output; the Python client."""
