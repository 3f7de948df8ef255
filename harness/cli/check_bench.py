"""Look over a benchmark folder: all problems at once, and what the set consists of."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.cli import flags
from harness.cli.command import Parser, run_command
from harness.cli.messages import counted, results

if TYPE_CHECKING:
    from harness.checking import BenchReport

EXAMPLES = (
    "check_bench mt_bench",
    "check_bench data/our_questions",
    "check_bench data/our_questions --format json",
)
_MOST_LINES = 20


def parser() -> Parser:
    """Return the command's parser."""
    p = Parser(
        "check_bench",
        "Check a benchmark folder as the other commands read it, and show what it consists of. Problems, which are "
        "what these commands refuse or misread, make the exit code 1; missing references and near-duplicates do not.",
        EXAMPLES,
    )
    what = p.add_argument_group("benchmark")
    what.add_argument(
        "which", metavar="DIR_OR_NAME", help="a folder that holds question.jsonl, or the name of a benchmark"
    )
    flags.add_data_dir(what, "data folder in which a name is looked for")
    output = p.add_argument_group("output")
    output.add_argument(
        "--format",
        default="table",
        choices=["table", "json"],
        help="how to print; a table shows the first 20 of each list (default: table)",
    )
    return p


def work(args: argparse.Namespace) -> int:
    """Check, print."""
    from harness.checking import check_bench
    from harness.showing import Page, json

    report = check_bench(args.which, args.data_dir)
    results(json(Page("", {}, [], data=_as_object(report))) if args.format == "json" else _as_text(report))
    return 1 if report.problems else 0


def _as_object(report: "BenchReport") -> dict[str, Any]:
    """Return everything in the report as JSON values."""
    return {
        "bench": report.name,
        "folder": str(report.folder),
        "title": report.settings.title,
        "version": report.settings.version,
        "sha256": report.sha256,
        "questions": len(report.questions),
        "turns": {str(turns): count for turns, count in report.turns.items()},
        "problems": [{"path": str(p.path), "line": p.line, "message": p.message} for p in report.problems],
        "notes": list(report.notes),
        "categories": report.categories(),
        "fields": report.values(),
        "references": {author: len(having) for author, having in report.references.items()},
        "missing_references": [missing._asdict() for missing in report.missing],
        "duplicates": [[pair.first, pair.second] for pair in report.alike if pair.same],
        "near_duplicates": [[pair.first, pair.second, pair.share] for pair in report.alike if not pair.same],
    }


def _as_text(report: "BenchReport") -> str:
    """Return the report for people."""
    from harness.cli.output import terminal_width
    from harness.showing import Table
    from harness.showing.text import table_text

    told = " ".join(filter(None, [report.name, report.settings.version]))
    turns = ", ".join(f"{counted(n, 'question')} of {counted(t, 'turn')}" for t, n in report.turns.items())
    parts = [f"{told}: {report.settings.title or 'no title'}\n{report.folder}: {turns or 'no sound question'}"]
    parts[0] += f"\nSHA-256 of question.jsonl: {report.sha256}"
    if report.questions:
        parts.append(table_text(Table("", report.categories()), width=terminal_width()))
    if values := report.values():
        parts.append(
            table_text(
                Table("", [{**row, "value": _shown(row["value"])} for row in values], keys=2), width=terminal_width()
            )
        )
    same = [f"{pair.first} and {pair.second}" for pair in report.alike if pair.same]
    near = [f"{pair.first} and {pair.second}: {pair.share:.0%}" for pair in report.alike if not pair.same]
    lists = {
        "the same words in two questions": same,
        "near-duplicates (share of common eight-word runs)": near,
        "no reference answer, which the judge set mt_bench wants": _missing_told(report),
        "notes": list(report.notes),
        counted(len(report.problems), "problem"): [str(problem) for problem in report.problems],
    }
    parts += [_listed(heading, lines) for heading, lines in lists.items() if lines]
    if not report.problems:
        parts.append("no problems")
    return "\n\n".join(parts)


def _shown(value: Any) -> str:
    return "(none)" if value is None else str(value)


def _missing_told(report: "BenchReport") -> list[str]:
    """Return a line for each category and author of references."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for missing in report.missing:
        groups.setdefault((missing.category, missing.author), []).append(str(missing.question_id))
    return [
        f"{category}{f' ({author})' if author else ''}: {', '.join(ids[:_MOST_LINES])}"
        + (f" and {len(ids) - _MOST_LINES} more" if len(ids) > _MOST_LINES else "")
        for (category, author), ids in groups.items()
    ]


def _listed(heading: str, lines: Sequence[str]) -> str:
    more = [f"  and {len(lines) - _MOST_LINES} more; --format json lists all"] if len(lines) > _MOST_LINES else []
    return "\n".join([f"{heading}:", *(f"  {line}" for line in lines[:_MOST_LINES]), *more])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_command(parser(), work, argv)


if __name__ == "__main__":
    sys.exit(main())
