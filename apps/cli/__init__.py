"""Commands that need no server: score, agree, eval, verify, and their output."""
