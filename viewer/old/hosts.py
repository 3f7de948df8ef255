"""Which requests are answered: those for the viewer's own host name, from its own page or from none.

A browser also sends requests for pages of other sites, with its user's cookies. So a page of another site
could vote in that person's name; and if its host name resolves to this machine (DNS rebinding), it could
read the replies, too. Two headers that no page can set prevent this: Host is the name that the browser
connected to, and Sec-Fetch-Site, or else Origin, tells which page sent the request.

    Host: 127.0.0.1:7860  Sec-Fetch-Site: same-origin          answered
    Host: evil.example:7860                                    refused: not this viewer's name
    Host: 127.0.0.1:7860  Origin: https://evil.example         refused: a page of somebody else
    Host: 127.0.0.1:7860  Sec-Fetch-Site: cross-site, mode navigate, GET    answered: somebody followed a link
"""

import ipaddress
import re
import socket
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from harness.old.errors import UsageError

_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_ORIGIN = re.compile(r"[\w.+:/\[\]-]{1,200}")
_PORTS = {"http": 80, "https": 443}


class Place(NamedTuple):
    """A host as requests name it."""

    name: str
    """In small letters, without brackets."""
    port: int | None
    """None if it was not given."""


class Hosts:
    """The names that the viewer answers for."""

    def __init__(self, listens_on: str, allowed: Iterable[str] = ()) -> None:
        """`listens_on` is the address that the server listens on, `allowed` further host names.

        A viewer on loopback is reached by the machine's names for itself. One that other machines can reach
        is also reached by any IP address (rebinding needs a name) and by the machine's name.

        Raises:
            UsageError: one of the names is not a host name.
        """
        own = listens_on.strip("[]").lower()
        self._beyond = not is_loopback(own)
        self._allowed = {host_name(name) for name in allowed}
        self._own = {"localhost", own, *(_machine() if self._beyond else ())}

    def allow(self, name: str) -> None:
        """Answer for this name, too."""
        self._allowed.add(host_name(name))

    def refusal(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """Return why a request is refused, in one line that says what to do; None if it is answered."""
        said: dict[str, list[str]] = {}
        for name, value in headers:
            said.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip())
        asked = [_place(value) for value in said.get("host", [""])]
        for place in asked:
            if place is None:
                return "the request names no host"
            if not self._answers_for(place.name):
                return (
                    f"this viewer does not serve {place.name}; "
                    f"if that is its own host name, start it with --allow-host {place.name}"
                )
        stranger = self._stranger(method, {name: values[0] for name, values in said.items()}, asked[0])
        if stranger:
            return (
                f"a page of {stranger} may not send requests to this viewer; "
                "if that is the viewer behind a proxy, start it with --allow-host and the name in its address"
            )
        return None

    def _answers_for(self, name: str) -> bool:
        if name in self._allowed or name in self._own or is_loopback(name):
            return True
        return self._beyond and _address(name) is not None

    def _stranger(self, method: str, headers: Mapping[str, str], asked: Place | None) -> str | None:
        """Return whose page sent the request, if that is not the viewer's."""
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site in {"same-origin", "none"} or (site is None and origin is None):
            return None
        if method in {"GET", "HEAD"} and headers.get("sec-fetch-mode") == "navigate":
            return None
        # Browsers leave Sec-Fetch-Site out where the page came without TLS from another machine.
        if site is None and origin is not None and self._is_own(origin, asked):
            return None
        return origin if origin and origin != "null" and _ORIGIN.fullmatch(origin) else "another site"

    def _is_own(self, origin: str, asked: Place | None) -> bool:
        """Return whether a page from there is the viewer's: from the same host as the request, or allowed."""
        scheme, _, rest = origin.partition("://")
        page = _place(rest)
        if page is None or asked is None or scheme not in _PORTS:
            return False
        if page.name == asked.name:
            # A proxy may have left the port out, or have taken TLS off.
            return asked.port is None or (page.port or _PORTS[scheme]) == asked.port
        return page.name in self._allowed


def is_loopback(name: str) -> bool:
    """Return whether only this machine itself is reached by that name."""
    address = _address(name)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return name == "localhost" if address is None else address.is_loopback


def host_name(text: str) -> str:
    """Return the name of a host in small letters, or raise `UsageError` if the text is anything else.

    >>> host_name("Viewer.Example.org")
    'viewer.example.org'
    """
    name = text.strip().lower().removeprefix("[").removesuffix("]").removesuffix(".")
    if _NAME.fullmatch(name) or _address(name):
        return name
    raise UsageError(
        f"--allow-host {text!r} is not a host name; give it as viewer.example.org, without http:// and port"
    )


def host_of(address: str) -> str:
    """Return the name of the host in an address such as `https://viewer.example.org/`."""
    return urlsplit(address).hostname or ""


def _place(value: str) -> Place | None:
    """Return the value of a Host header; None if it is malformed."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::(\d{1,5}))?", value.lower())
    if found is None:
        return None
    name = found[1].strip("[]").removesuffix(".")
    if not (_NAME.fullmatch(name) or _address(name)):
        return None
    return Place(name, int(found[2]) if found[2] else None)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _machine() -> set[str]:
    """Return the names by which others know this machine."""
    name = socket.gethostname().lower().removesuffix(".")
    short = name.partition(".")[0]
    return {name, short, f"{short}.local"} - {""}
