"""Many jobs at once. Knows no benchmark, no provider and no verdict: jobs yield requests and end in records.

- `jobs.py`: what a job is, and the course of one job from request to record
- `pending.py`: replies whose row is not complete yet, kept for the next start
- `retry.py`: which failures are tried again, and when
- `direct.py`: the engine that calls chat models directly
- `watch.py`: what a run tells whoever watches it
"""
