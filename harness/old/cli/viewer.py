"""Open the results in a browser."""

import argparse
import pathlib
from typing import TYPE_CHECKING

from harness.old.cli import command, flags, messages
from harness.old.errors import UsageError

if TYPE_CHECKING:
    from viewer.old.serving import Served
    from viewer.old.tunnel import Tunnel

NAME = "viewer"
PURPOSE = "Show answers, verdicts and results in a browser."
EXAMPLES = (
    "viewer",
    "viewer --data-dir demo --bench-name mt_bench",
    "viewer --host 0.0.0.0 --auth-file people.txt --read-only",
)


def parser() -> command.Parser:
    """Return the command's parser."""
    p = command.Parser(NAME, PURPOSE, EXAMPLES, usual="--data-dir")
    what = p.group("what to show")
    flags.add_data_dir(what)
    what.add("--bench-name NAME ...", "benchmarks to show (default: all in the data folder)")
    what.add("--read-only", "hide the tab Vote; nothing is written")
    where = p.group("serving", "Anyone who can open the page sees all answers and verdicts of the benchmarks shown.")
    where.add(
        "--host ADDRESS",
        "address to listen on; the default is reachable from this machine only, 0.0.0.0 from all its networks",
        default="127.0.0.1",
    )
    where.add("--port N", "port to listen on (default: the first free one from 7860)")
    where.add(
        "--allow-host NAME ...",
        "host name under which browsers may reach the viewer, such as that of a proxy in front of it; requests for "
        "other names are refused, against DNS rebinding (default: localhost; with a --host that other machines can "
        "reach, also any IP address and this machine's name)",
    )
    where.add(
        "--auth-file FILE",
        "file with name:password of those who may see the page, one per line; each votes under that name (default: no "
        "password)",
    )
    where.add(
        "--share",
        "also make the page reachable from anywhere, through Gradio's servers; downloads Gradio's program for that "
        "once, into HF_HOME, and writes .gradio/certificate.pem in this folder",
    )
    return p


def _work(args: argparse.Namespace) -> int:
    import threading

    from harness.old.jsonl.copies import local_folder
    from viewer.old.context import Context
    from viewer.old.hosts import is_loopback
    from viewer.old.serving import read_people, serve
    from viewer.old.store import Store

    homes = {local_folder(args.data_dir, name) for name in args.bench_name or (None,)}
    data_dir = homes.pop()
    if args.port and args.port > 65535:
        raise UsageError(f"--port must be at most 65535, this is {args.port}")
    if not args.host.strip("[] "):
        raise UsageError("--host is empty; give an address, such as 127.0.0.1")
    people = read_people(pathlib.Path(args.auth_file)) if args.auth_file else None
    store = Store(data_dir, args.bench_name or ())
    for name in args.bench_name or ():
        store.bench(name)
    if not data_dir.is_dir():
        messages.warn(NAME, f"warning: {data_dir} does not exist; the shipped benchmarks are shown until it does")
    if args.share:
        messages.warn(NAME, f"warning: --share makes everything here reachable from anywhere{_asks(people)}")
    elif not is_loopback(args.host.strip("[]")) and people is None:
        messages.warn(NAME, f"warning: {args.host} can be reached from other machines, without a password")
    context = Context(store, read_only=args.read_only)
    served = serve(context, host=args.host, port=args.port, people=people, allowed=args.allow_host or ())
    tunnel = None
    try:
        messages.results(served.address)
        if args.share:
            tunnel = _share(args, served)
        messages.say(args, "open this address in a browser; Ctrl-C stops the viewer")
        threading.Event().wait()
    except KeyboardInterrupt:  # the usual way to stop it; nothing is left half done
        return 0
    finally:
        if tunnel:
            tunnel.close()
        store.later.close()
        served.app.close(verbose=False)
    return 0


def _share(args: argparse.Namespace, served: "Served") -> "Tunnel":
    """Return the tunnel, and print its address or the reason why there is none."""
    from viewer.old.hosts import host_of
    from viewer.old.tunnel import MOST_SECONDS, Tunnel

    messages.say(args, f"opening a tunnel, for at most {MOST_SECONDS:g} seconds")
    tunnel = Tunnel(args.host, served.port)
    if tunnel.address:
        served.hosts.allow(host_of(tunnel.address))
        messages.results(tunnel.address)
    else:
        messages.warn(NAME, f"warning: not shared, still served at {served.address}: {tunnel.fault}")
    return tunnel


def _asks(people: object) -> str:
    return ", with the names and passwords of --auth-file" if people else ", without a password (see --auth-file)"


main = command.main_of(parser, _work)


if __name__ == "__main__":
    raise SystemExit(main())
