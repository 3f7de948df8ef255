"""Download a published benchmark from its upstream and verify it."""

import argparse

from harness.old.cli import flags
from harness.old.cli.command import Parser, main_of
from harness.old.cli.messages import ask_to_go_on, byte_bar, results, say, warn
from harness.old.cli.output import show
from harness.old.errors import UsageError

EXAMPLES = (
    "fetch_bench --list",
    "fetch_bench mt_bench_lmsys",
    "fetch_bench mt_bench_lmsys --from /media/stick/FastChat",
)


def parser() -> Parser:
    """Return the command's parser."""
    p = Parser(
        "fetch_bench",
        "Download a published benchmark from its upstream into the data folder; verify every file by SHA-256.",
        EXAMPLES,
    )
    what = p.group("what to fetch")
    names = "one of the names that --list shows; becomes a folder in the data folder"
    flags.add_object(what, "--bench-name", "NAME", about=names)
    what.add("--list", "list what can be fetched, with licence and size")
    flags.add_data_dir(what, "data folder, where the new folder goes")
    what.add(
        "--from DIR_OR_URL",
        "a folder, or the address of a mirror, in which each file is looked for under its path in the upstream "
        "repository, then under its path in our folder, then under its bare name (default: the upstream on GitHub)",
        dest="source",
    )
    what.add("-y, --yes", "do not ask to accept terms of use (default: ask, on a terminal only)")
    return p


def work(args: argparse.Namespace) -> int:
    """List, or fetch and say what was done."""
    from harness.old.importing.originals.fetching import fetch
    from harness.old.importing.originals.sources import source_of
    from harness.old.importing.originals.table import find_original

    if args.list:
        _show_list(args)
        return 0
    if args.bench_name is None:
        raise UsageError("name what to fetch; fetch_bench --list shows what is available")
    original = find_original(args.bench_name)
    source_of(original, args.source)  # raises before a secret in an address could be printed
    say(args, f"{original.title}: {_size(original.size)}, {original.licence}, from {args.source or original.upstream}")
    if original.notice:
        warn("fetch_bench", original.notice)
        ask_to_go_on(args, f"{_size(original.size)} will be downloaded")
    with byte_bar(original.size, quiet=args.quiet) as moved_to:
        fetched = fetch(original, args.data_dir, source=args.source, watch=moved_to)
    if fetched.already:
        say(args, f"already there, identical to the pinned files: {', '.join(map(str, fetched.already))}")
    for path in fetched.written:
        results(str(path))
    if original.afterwards:
        say(args, "\n".join(["next steps:", *(f"  {command}" for command in original.afterwards)]))
    return 0


def _show_list(args: argparse.Namespace) -> None:
    """Print the table of what can be fetched."""
    from harness.old.importing.originals.table import load_originals
    from harness.old.showing import Page, Table

    rows = [
        {
            "name": original.name,
            "licence": original.licence,
            "files": str(len(original.files)),
            "size": _size(original.size),
            "from": f"{original.repository} @ {original.revision[:8]}",
            "what": original.title,
        }
        for original in load_originals().values()
    ]
    show(args, Page("Benchmarks", {}, [Table("", rows)]))


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


main = main_of(parser, work)


if __name__ == "__main__":
    raise SystemExit(main())
