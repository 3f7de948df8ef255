"""Originals on request: pinned files of other projects, brought into a folder of the data folder and verified.

    originals.toml ─▶ Original ─▶ .turnbench/fetch/<sha256>.part ─▶ verified ─▶ question.jsonl, judge_prompts.jsonl, ...

- `originals.toml`, `table.py`: what can be fetched, each file known by its size and SHA-256
- `sources.py`: where files come from: the upstream, a mirror, a folder
- `fetching.py`: brings and verifies them; public folders never hold a part of anything
- `readers.py`: makes judge sets and benchmarks of ours of what was fetched; `sets/`: what they hold beside its words
"""
