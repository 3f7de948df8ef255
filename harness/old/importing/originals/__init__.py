"""Originals on request: pinned files of other projects, downloaded into a folder of the data folder and verified.

    originals.toml ─▶ Original ─▶ .turnbench/fetch/<sha256>.part ─▶ verified ─▶ question.jsonl, judge_prompts.jsonl, ...

- `originals.toml`, `table.py`: what can be fetched, each file with its size and SHA-256
- `sources.py`: where files come from: the upstream, a mirror, a folder
- `fetching.py`: downloads and verifies them; public folders never contain a part of anything
- `readers.py`: converts downloaded files to our judge sets and benchmarks; `sets/`: their other settings
"""
