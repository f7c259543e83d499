"""Systems outside Karat, run against a released gold set: plain files, no server and no database."""
