"""One module for each tab; `viewer.old.context` says what a tab is."""
