"""The command `fetch_bench`."""

import logging
import sys
from collections.abc import Sequence

import harness
from harness.cli import command
from harness.cli.parser import Parsed
from harness.errors import UsageError
from harness.options import FetchBench

log = logging.getLogger("turnbench")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return command.run("fetch_bench", FetchBench, work, argv)


def work(parsed: Parsed) -> int:
    """List what there is, or fetch and say what was done."""
    options: FetchBench = parsed.options
    if options.list:
        return _list()
    table = harness.originals()
    if options.name is None:
        raise UsageError(f"name what to fetch: {', '.join(table)}")
    if options.name in table:
        original = table[options.name]
        size = _size(original.size)
        log.info("%s: %s, %s, from %s", original.title, size, original.licence, original.repository)
        if original.notice:
            log.warning("%s", original.notice)
            if not options.yes and sys.stdin.isatty() and not _agrees():
                log.info("nothing was fetched")
                return 0
    fetched = harness.fetch_bench(options.name, options.data_dir, source=options.from_)
    if not fetched.written:
        log.info("%s: every file is there already", fetched.folder)
    for path in fetched.written:
        print(path)
    for next_command in table[options.name].afterwards:
        log.info("next: %s", next_command)
    return 0


def _agrees() -> bool:
    sys.stderr.write("fetch it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _list() -> int:
    from harness.reporting import Column, Page, Table

    rows = [
        {
            "name": name,
            "size": _size(original.size),
            "licence": original.licence,
            "from": f"{original.repository} @ {original.revision[:8]}",
            "what": original.title,
        }
        for name, original in harness.originals().items()
    ]
    columns = [Column(key, hidden_in_text=key in ("from", "what")) for key in rows[0]]
    notes = [f"{row['name']}: {row['what']}" for row in rows]
    command.show(Page("\n".join(notes), [Table("", columns, rows)], title="Benchmarks"))
    return 0


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


if __name__ == "__main__":
    raise SystemExit(main())
