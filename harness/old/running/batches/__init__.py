"""Calls by batches: due requests are submitted together and collected when ready, perhaps by a later process.

- `outbox.py`: the engine's calls, which wait for their results: due requests, and those at the provider
- `courier.py`: submits and collects
- `ledger.py`: which of an output file's requests are at the provider, stored on disk
"""
