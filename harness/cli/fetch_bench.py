"""The command `fetch_bench`."""

import harness
from harness.cli.command import agrees, at_terminal, log, show
from harness.cli.parser import Parsed
from harness.errors import UsageError
from harness.options import FetchBench
from harness.reporting import Column, Page, Table


def work(parsed: Parsed) -> int:
    """List what there is, or fetch and say what was done; return the exit code."""
    options: FetchBench = parsed.options
    originals = harness.originals()
    if options.list:
        return _list()
    if options.name is None:
        raise UsageError(f"name what to fetch: {', '.join(originals)}")
    original = originals.get(options.name)
    if original is not None:
        size = _size(original.size)
        log.info("%s: %s, %s, from %s", original.title, size, original.licence, original.repository)
        if original.notice:
            log.warning("%s", original.notice)
            if not options.yes and at_terminal() and not agrees("fetch it?", default=False):
                log.info("nothing was fetched")
                return 0
    fetched = harness.fetch_bench(options.name, options.data_dir, source=options.from_)
    if not fetched.written:
        log.info("%s: every file is there already", fetched.folder)
    for path in fetched.written:
        print(path)
    for next_command in originals[options.name].afterwards:
        log.info("next: %s", next_command)
    return 0


def _list() -> int:
    originals = harness.originals()
    rows = [
        {"name": name, "size": _size(original.size), "licence": original.licence}
        for name, original in originals.items()
    ]
    titles = "\n".join(f"{name}: {original.title}" for name, original in originals.items())
    show(Page(titles, [Table("", [Column(key) for key in rows[0]], rows)]))
    return 0


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
