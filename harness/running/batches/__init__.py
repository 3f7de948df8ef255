"""Jobs run by batches: what is due is handed in together and collected when it is ready, perhaps by a later process.

- `engine.py`: the engine, which runs the same jobs as the direct one
- `lanes.py`: one model and output file: what is due, what is at the provider
- `expenses.py`: what it costs
- `waiting.py`: the time between two looks, and Ctrl-C in it
- `ledger.py`: what of an output file's requests is at the provider, kept on disk
"""
