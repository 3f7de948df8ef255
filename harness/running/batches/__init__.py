"""Calls by batches: what is due is handed in together and collected when it is ready, perhaps by a later process.

- `lanes.py`: the engine's calls, each of which waits for its result
- `outbox.py`: one model and output file: what is due, what is at the provider
- `courier.py`: hands in and collects
- `ledger.py`: what of an output file's requests is at the provider, kept on disk
"""
