"""Agents: the tools of `/mcp`, with which a program does a lead's legwork and grades, decides and signs nothing."""
