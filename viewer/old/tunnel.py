"""The viewer made reachable from everywhere, through Gradio's servers: `--share`.

Gradio asks api.gradio.app for a server, writes that server's certificate to `.gradio/certificate.pem` in the working
folder, fetches its program for tunnels if that is not in `HF_HOME` yet (`gradio/frpc/` there), and starts it. It could
do so at its own start; but then the page takes its script from elsewhere, what Gradio prints stands among the results,
and a tunnel that says nothing is waited for without end. So it is done here, in a process of its own, which runs this
file as a script. That process ends, and the tunnel with it, when the viewer does, however that comes about: its stdin
closes.

    viewer ──stdin──▶ this file ──▶ Gradio's program ──▶ the server that Gradio named
           ◀─stdout── {"address": "https://….gradio.live"} or {"fault": "why not"}
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
from typing import Any

MOST_SECONDS = 60.0
"""What a tunnel may take to open."""


class Tunnel:
    """A way to the viewer from everywhere; or the reason why there is none."""

    address: str | None = None
    """The public address; None if the tunnel did not open."""
    fault: str = ""
    """Why it did not, in one line."""

    def __init__(self, host: str, port: int, *, seconds: float = MOST_SECONDS) -> None:
        """Open a tunnel to what listens on host and port, and wait until it is open or will not be."""
        words = [sys.executable, "-P", __file__, host, str(port)]
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the viewer, which then ends the tunnel
        )
        late = threading.Timer(seconds, self._let_go)
        late.daemon = True
        late.start()
        assert self._process.stdout is not None
        try:
            said = self._process.stdout.readline()
        except BaseException:
            self.close()
            raise
        finally:
            late.cancel()
        try:
            found = json.loads(said)
        except ValueError:
            found = {"fault": f"the tunnel did not open within {seconds:g} seconds"}
        self.address, self.fault = found.get("address"), found.get("fault", "")
        if self.address is None:
            self.close()

    def close(self) -> None:
        """Close it."""
        self._let_go()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _let_go(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()


def _main(host: str, port: int) -> None:
    """Open the tunnel, say on stdout what came of it, and keep it open until stdin closes."""
    out, sys.stdout = sys.stdout, sys.stderr  # Gradio prints
    threading.Thread(target=_end_with_the_viewer, daemon=True).start()
    found = _opened(host, port)
    out.write(json.dumps(found) + "\n")
    out.flush()
    if "address" in found:
        threading.Event().wait()


def _end_with_the_viewer() -> None:
    sys.stdin.read()
    if hasattr(os, "killpg"):  # the session is this process's own: Gradio's program ends too, even if it has only begun
        os.killpg(0, signal.SIGKILL)
    tunneling = sys.modules.get("gradio.tunneling")
    for tunnel in getattr(tunneling, "CURRENT_TUNNELS", []):
        if tunnel.proc is not None:
            tunnel.proc.kill()
    os._exit(0)


def _opened(host: str, port: int) -> dict[str, str]:
    """Return the address of a tunnel that was opened, or what was at fault."""
    import secrets

    from gradio import networking

    server = os.environ.get("GRADIO_SHARE_SERVER_ADDRESS")
    try:
        address = networking.setup_tunnel(host, port, secrets.token_urlsafe(32), server, None)
    except Exception as error:  # whatever it is, the viewer goes on without a tunnel
        return {"fault": " ".join(_why(error).split())}
    # Gradio's own servers speak TLS to browsers, others may not; what they report is http either way.
    return {"address": address if server else "https://" + address.partition("://")[2]}


def _why(error: Exception) -> str:
    """Return what went wrong, and where."""
    from gradio import networking, tunneling
    from gradio.exceptions import ChecksumMismatchError

    program = pathlib.Path(tunneling.BINARY_PATH)
    cause: Any = error.__cause__ or error
    detail = f"{type(cause).__name__}: {cause}"
    if isinstance(error, ChecksumMismatchError):
        program.unlink(missing_ok=True)  # Gradio would start it the next time
        return f"the file from {tunneling.BINARY_URL} is not Gradio's program for tunnels; it was removed"
    if isinstance(error, RuntimeError) and error.__cause__ is not None:
        return f"{networking.GRADIO_API_SERVER} cannot be reached ({detail})"
    if not program.exists():
        place = tunneling.BINARY_URL
        return f"Gradio's program for tunnels is not at {program}, and cannot be downloaded from {place} ({detail})"
    if isinstance(error, ValueError):
        said = str(error).removeprefix(tunneling.TUNNEL_ERROR_MESSAGE).strip().splitlines()
        return f"Gradio's program for tunnels did not reach its server ({said[-1] if said else 'no output'})"
    return f"Gradio's program for tunnels, {program}, cannot be used ({detail})"


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
