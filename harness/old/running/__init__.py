"""Many jobs at once. Knows no benchmark, no provider and no verdict: jobs yield requests and end in records.

- `jobs.py`: what a job is, and the course of one job from request to record
- `pending.py`: replies whose row is not complete yet, kept for the next start
- `outputs.py`: the files of a plan's rows, opened together
- `cache.py`: completions by content, shared by files, benchmarks and processes
- `retry.py`: which failures are retried, and when
- `engine.py`: runs the jobs
- `engines.py`: where their calls are made: in this process, in others, on a cluster
- `processes.py`: other processes of this machine
- `ray_cluster.py`: the workers of a Ray cluster
- `desk.py`: the worker's side of both
- `queue.py`: which job is next
- `lanes.py`: the endpoints of a model, and which of them a call goes to
- `limiter.py`, `rates.py`: how many calls at once, how many per minute
- `breaker.py`: the circuit breaker: when an endpoint that only fails is paused, and when it is given up
- `loops.py`: the event loop of a run
- `selector.py`: simultaneous replies, a few at a time
- `interrupts.py`: Ctrl-C, SIGTERM and SIGHUP
- `batches/`: calls that wait for their result in a batch
- `cost.py`: the budget of a run
- `estimate.py`: what calls not yet made may cost
- `options.py`: how a run is carried out
- `watch.py`: the counts of a run, for a progress bar
"""
