"""Judging: judge sets, matches, prompts, verdicts."""
