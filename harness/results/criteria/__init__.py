"""Answers graded by several criteria, or on several dimensions: the mean of each, by model and group."""
