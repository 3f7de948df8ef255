"""A server on loopback that speaks OpenAI's, Anthropic's and Gemini's protocols, for tests that run the real SDKs.

Its parts are in `tests/protocol`.

    with ProtocolServer(faults={0: rate_limited()}, refuses={"temperature"}) as server:
        ...                       # server.openai_url; server.url for Anthropic's and Gemini's
        server.requests           # everything that arrived, with its order, headers and body
        server.statuses           # Counter({200: 3, 429: 1})

By hand: `python -m tests.old.protocol_server --port 8000 --judge`.
"""

import argparse
import threading

from tests.old.protocol.batches import BatchDesk, Script
from tests.old.protocol.faults import (
    Fault,
    bad_request,
    cut_json,
    dropped,
    error_in_200,
    html_page,
    no_choices,
    no_credit,
    on_the_wire,
    outage,
    overloaded,
    rate_limited,
    raw,
    seeded,
    slow_drip,
)
from tests.old.protocol.messages import Asked, Said, parrot, verdict
from tests.old.protocol.server import ProtocolServer

__all__ = [
    "Asked",
    "BatchDesk",
    "Fault",
    "ProtocolServer",
    "Said",
    "Script",
    "bad_request",
    "cut_json",
    "dropped",
    "error_in_200",
    "html_page",
    "no_choices",
    "no_credit",
    "on_the_wire",
    "outage",
    "overloaded",
    "parrot",
    "rate_limited",
    "raw",
    "seeded",
    "slow_drip",
    "verdict",
]


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted; the first line printed is the address."""
    parser = argparse.ArgumentParser(prog="python -m tests.old.protocol_server", description=main.__doc__)
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: any free one)")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply (default: 0)")
    parser.add_argument("--judge", action="store_true", help="answer in the verdict form that the prompt asks for")
    parser.add_argument("--refuse", nargs="*", default=[], metavar="NAME", help="parameters to refuse with a 400")
    parser.add_argument("--fault-share", type=float, default=0.0, help="share of calls that fail (default: 0)")
    parser.add_argument("--seed", type=int, default=0, help="which calls fail (default: 0)")
    parser.add_argument("--polls", type=int, default=1, help="looks that find a batch in progress (default: 1)")
    options = parser.parse_args(arguments)
    faults = seeded(options.fault_share, (rate_limited(0.1), outage(), dropped(), cut_json()), seed=options.seed)
    with ProtocolServer(
        verdict if options.judge else parrot,
        faults=faults,
        refuses=options.refuse,
        latency=options.latency,
        port=options.port,
        batches=BatchDesk(Script(polls=options.polls)),
    ) as server:
        print(server.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(dict(server.statuses), flush=True)


if __name__ == "__main__":
    main()
