"""One module for each tab; `viewer.context` says what a tab is."""
