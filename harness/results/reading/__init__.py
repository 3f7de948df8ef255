"""Judgment and vote files as columns and arrays, and what of them a table or a report is about."""
