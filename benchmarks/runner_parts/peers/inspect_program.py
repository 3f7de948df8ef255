"""inspect_ai on the same calls, run by inspect's own Python: `inspect_program.py CALLS.jsonl PARALLEL TURNS LOGS`.

The prompts are those that our commands send, so nothing is graded on top; the log that inspect keeps is what it writes.
"""

import json
import pathlib
import sys
from typing import Any

from inspect_ai import Task, eval  # type: ignore[import-not-found]  # noqa: A004
from inspect_ai.dataset import MemoryDataset, Sample  # type: ignore[import-not-found]
from inspect_ai.model import ChatMessageSystem, ChatMessageUser  # type: ignore[import-not-found]
from inspect_ai.solver import Generate, TaskState, generate, solver  # type: ignore[import-not-found]


@solver  # type: ignore[untyped-decorator]
def follow_up() -> Any:
    """Return a solver that asks the second turn: the first one's text with the mark of turn 2."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        first = state.messages[-2].text
        state.messages.append(ChatMessageUser(content=f"{first[:-1]}2"))
        return await generate(state)

    return solve


def main() -> None:
    """Run the task; exit with 1 unless every sample is there."""
    calls, parallel, turns, logs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    bodies = [json.loads(line) for line in pathlib.Path(calls).read_bytes().splitlines()]
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    samples = [
        Sample(input=[kinds[m["role"]](content=m["content"]) for m in body["messages"]])
        for body in bodies
    ]
    task = Task(
        dataset=MemoryDataset(samples), solver=[generate(), *([follow_up()] if turns == 2 else [])]
    )
    done = eval(
        task,
        model="openai/gpt-4",
        model_args={"responses_api": False},
        max_connections=parallel,
        max_samples=parallel,
        max_tokens=bodies[0].get("max_tokens", 4096),
        log_dir=logs,
        display="none",
    )[0]
    whole = sum(
        sample.error is None and bool(sample.output.completion) for sample in done.samples or []
    )
    if done.status != "success" or whole != len(samples):
        sys.exit(f"{done.status}: {whole} of {len(samples)} samples are whole")


if __name__ == "__main__":
    main()
