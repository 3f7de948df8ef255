"""Numbers from labels: which share of the answers has which, short facts, and whether confidence means anything."""
