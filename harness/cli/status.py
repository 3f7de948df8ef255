"""Show where a benchmark stands."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.cli import command, flags, messages

if TYPE_CHECKING:
    from harness.status import BenchStatus

NAME = "status"
PURPOSE = "Show what is answered, judged, missing and out of date in a benchmark, and what the rest would cost."
EXAMPLES = ("status", "status --bench-name mt_bench_zh --format json")


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--bench-name")
    flags.add_models_file(flags.add_bench(p))
    output = p.add_argument_group("output")
    output.add_argument("--format", default="table", choices=["table", "json"], help="how to print (default: table)")
    return p


def work(args: argparse.Namespace) -> int:
    """Read, count, print."""
    from harness.bench import load_bench
    from harness.cli.tables import as_json
    from harness.status import bench_status

    bench = load_bench(args.bench_name, args.data_dir)
    status = bench_status(bench, models_file=args.models)
    messages.detail(args, f"results: {bench.folder}")
    messages.results(as_json(_json(status)) if args.format == "json" else _tables(status))
    return 0


def _tables(status: "BenchStatus") -> str:
    """Return the tables for people."""
    from harness.cli.tables import as_table, printable

    parts = [f"{status.bench}: {messages.counted(status.questions, 'question')}"]
    if status.models:
        parts.append(as_table(_bare([model.row() for model in status.models])))
    else:
        parts.append("nothing is answered yet")
    if status.judges:
        parts.append(as_table(_bare([judge.row() for judge in status.judges])))
    else:
        parts.append("nothing is judged yet")
    if status.rest:
        parts += ["the rest", as_table(status.rest_rows(), places=2)]
    notes = [f"{judge.path.name}: {judge.note}" for judge in status.judges if judge.note]
    notes += [f"{name}: {count} failed: {cause}" for name, why in status.causes.items() for cause, count in why.items()]
    notes += [f"{name}: {messages.counted(count, 'torn line')} set aside" for name, count in status.torn.items()]
    notes += [
        f"{name}: {messages.counted(count, 'superseded row')} kept in .turnbench/"
        for name, count in status.set_aside.items()
    ]
    notes += [
        f"{name}: {messages.counted(count, 'row')} at a provider in batches; run the same command with --batch to go on"
        for name, count in status.batched.items()
    ]
    if notes:
        parts.append("\n".join(f"note: {printable(note)}" for note in notes))
    return "\n\n".join(parts)


_ALWAYS = ("model", "judge", "judge set", "mode", "answered", "judged", "missing", "superseded")


def _bare(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows without columns that hold nothing, but for the main ones."""
    kept = [name for name in rows[0] if name in _ALWAYS or any(row[name] for row in rows)]
    return [{name: row[name] for name in kept} for row in rows]


def _json(status: "BenchStatus") -> dict[str, Any]:
    """Return what json shows: the same, and which questions are missing."""
    return {
        "bench": status.bench,
        "questions": status.questions,
        "models": [
            {
                **_keys(model.row()),
                "missing_questions": model.missing,
                "superseded_questions": model.superseded,
                "flagged": dict(model.flagged),
                "file": str(model.path),
            }
            for model in status.models
        ],
        "judges": [
            {**_keys(judge.row()), "note": judge.note or None, "file": str(judge.path)} for judge in status.judges
        ],
        "rest": status.rest_rows(),
        "causes": status.causes,
        "torn": status.torn,
        "batched": status.batched,
        "set_aside": status.set_aside,
    }


def _keys(row: dict[str, Any]) -> dict[str, Any]:
    """Return a table's row with the names and the absent values of json."""
    return {name.replace(" ", "_"): None if value == "" else value for name, value in row.items()}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return command.run_command(parser(), work, argv)


if __name__ == "__main__":
    sys.exit(main())
