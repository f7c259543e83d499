"""Questions with expected block and answer: revisions, the bench and its checks, the state table."""
