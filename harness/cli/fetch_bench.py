"""The command `fetch_bench`."""

import pathlib
from typing import Any

from harness import options
from harness.cli.console import Console
from harness.cli.parser import record_from
from harness.errors import UsageError
from harness.registry import find
from harness.reporting import Column, Page, Table


def fetch_bench(name: str, data_dir: str | pathlib.Path | None = None, **words: Any) -> Any:
    """Bring a published benchmark into the data folder; return its folder and the files written.

    `words` are the options of the command: `from_`.

    Raises:
        UsageError: there is no such original, or the source cannot be one.
        StorageError: a different file is in the way, or the folder cannot be written.
        MissingError: the source cannot be reached, or has no such file.
        DataError: a file is not the pinned one.
    """
    return run(record_from(options.FetchBench, name=name, data_dir=data_dir, **words), Console())


def run(record: options.FetchBench, console: Console) -> Any:
    """List what there is, or fetch and say what was done."""
    originals = find("importing", "originals")()
    if record.list:
        console.show(_list(originals))
        return originals
    if record.name is None:
        raise UsageError(f"name what to fetch: {', '.join(originals)}")
    original = originals.get(record.name)
    if original is not None:
        size = _size(original.size)
        where = f"from {original.repository}"
        console.tell(f"{original.title}: {size}, {original.licence}, {where}")
        if original.notice:
            console.warn(original.notice)
            if not record.yes and not console.agrees("fetch it?", default=False):
                console.tell("nothing was fetched")
                return None
    fetch = find("importing", "fetch_bench")
    fetched = fetch(record.name, record.data_dir, source=record.from_)
    if not fetched.written:
        console.tell(f"{fetched.folder}: every file is there already")
    for path in fetched.written:
        console.write(str(path))
    afterwards = [f"gen_answer --bench-name {fetched.folder.name} --model ..."]
    for next_command in originals[record.name].afterwards if original else afterwards:
        console.tell(f"next: {next_command}")
    return fetched


def _list(originals: dict[str, Any]) -> Page:
    rows = [
        {"name": name, "size": _size(original.size), "licence": original.licence}
        for name, original in originals.items()
    ]
    titles = "\n".join(f"{name}: {original.title}" for name, original in originals.items())
    return Page(titles, [Table("", [Column(key) for key in rows[0]], rows)])


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
