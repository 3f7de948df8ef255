"""The command `viewer`."""

import logging
import pathlib
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness import options
from harness.cli.command import run
from harness.cli.parser import Parsed
from harness.errors import UsageError

if TYPE_CHECKING:
    from viewer.data import Home

log = logging.getLogger("turnbench")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run("viewer", options.Viewer, _work, argv)


def _work(parsed: Parsed) -> int:
    own: options.Viewer = parsed.options
    if own.share:
        raise UsageError(
            "the viewer opens no tunnel; reach it from elsewhere with "
            "`ssh -L 7860:localhost:7860 HOST`, or send pages made with --export"
        )
    from viewer.data import Home

    home = Home(own.data_dir, own.bench_name, lambda name: log.debug("reading %s", name))
    if own.export is not None:
        from viewer.export import export

        print(export(home, own.export))
        return 0
    if own.ballot:
        from viewer.ballot_page import write_ballot

        path, count = _ballot(own.ballot)
        print(write_ballot(home.data(), path, count))
        return 0
    return _serve(own, home)


def _ballot(words: Sequence[str]) -> tuple[pathlib.Path, int]:
    if len(words) != 2 or not words[1].isdecimal() or not 0 < int(words[1]) <= 10_000:
        raise UsageError("--ballot takes a file and a number: --ballot votes.html 20")
    return pathlib.Path(words[0]), int(words[1])


def _serve(own: options.Viewer, home: "Home") -> int:
    log.info("starting…")
    from viewer.server import People, is_loopback, serve

    people = People(own.auth_file) if own.auth_file is not None else None
    if people is None and not is_loopback(own.host.strip("[]")):
        log.warning("%s can be reached by others, without a password; see --auth-file", own.host)
    threading.Thread(target=home.prepare, daemon=True).start()  # while Gradio is imported

    def build() -> tuple[Any, str]:
        from viewer import app

        return app.build(app.Views(home, read_only=own.read_only)), app.head()

    served = serve(build, host=own.host, port=own.port, people=people, allowed=own.allow_host)
    print(served.address, flush=True)
    log.info("open this address in a browser; Ctrl-C stops the viewer")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:  # the usual way to stop it
        return 0
    finally:
        served.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
