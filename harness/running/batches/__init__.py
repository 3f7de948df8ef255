"""Calls by batches: what is due is handed in together and collected when it is ready, perhaps by a later process.

- `outbox.py`: the engine's calls, which wait for their results: what is due, what is at the provider
- `courier.py`: hands in and collects
- `ledger.py`: what of an output file's requests is at the provider, kept on disk
"""
