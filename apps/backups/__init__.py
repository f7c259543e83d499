"""Backups of everything Karat stores, restoring them, and moving from one database to another."""
