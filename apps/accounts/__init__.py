"""People, projects, memberships, invitations, tokens, secrets; the access check of every page."""
