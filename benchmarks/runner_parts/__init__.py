"""The parts of `benchmarks/runner.py`.

latency.py     how long each request waits, and a scheduler without overhead on the same waits
server.py      the mock server
bare.py        the smallest clients
workload.py    what is run, and the benchmark folder for it
contenders.py  who runs: bare clients, our commands, peers
measure.py     processes, seconds, memory, and what the server saw
launch.py      one command, and what it used
memory.py      peak memory with many matches planned
table.py       Markdown
peers/         programs that peers need to do the same work
"""
