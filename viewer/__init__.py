"""The web viewer: reads single verdicts in a browser, one module a tab; computes nothing that `harness.results` can."""
