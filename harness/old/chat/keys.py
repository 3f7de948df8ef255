"""Addresses and keys as users state them, checked before the first call; a key is never repeated in an error.

Keys are read from the environment only, when a model is opened, and are held by nothing but its client.
"""

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from harness.old.chat.services import Service
from harness.old.errors import MissingError, UsageError


def address(url: str | None, source: str) -> str | None:
    """Return a server's address, None if none is given, or raise `UsageError` if it cannot be one."""
    if url is None or (not url.strip() and source.isupper()):
        return None
    url = url.strip()
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        check_host(parts.hostname or "")
    except ValueError:
        usable, parts = False, urlsplit("")
    if parts.query or parts.fragment:
        raise UsageError(
            f"{source} has something after a ? or #, which calls cannot use; put a key into a variable and name it"
            " with --api-key-env"
        )
    if parts.username or parts.password:
        raise UsageError(
            f"{source} holds a user name or password; put a key into a variable and name it with --api-key-env"
        )
    if not usable or any(character.isspace() or not character.isprintable() for character in url):
        raise UsageError(f"{source} {url!r} is not an address: it must look like http://localhost:8000/v1")
    return url.rstrip("/")


def check_host(host: str) -> None:
    """Raise `ValueError` for a host that the HTTP client would refuse, or that cannot be resolved."""
    if host.replace(".", "").isdecimal() and host.count(".") == 3:
        ipaddress.IPv4Address(host)
    elif host.isascii():
        host.rstrip(".").encode("idna")
    else:
        import idna  # Python's own knows an older rule, which allows more

        idna.encode(host)


def key_variable(
    service: Service,
    environment: Mapping[str, str],
    api_key_env: str | None,
    *,
    given: str | None,
    address: str | None,
) -> str | None:
    """Return the variable whose key is to be sent; None if no key is sent.

    `given` is the address that the user stated (no key goes there unasked), `address` the one that will be used.
    """
    if api_key_env is not None or given is not None:
        return api_key_env
    variables = (service.key_variable, *service.other_key_variables)
    filled = next((name for name in variables if environment.get(name, "").strip()), None)
    return filled if filled or address is not None else service.key_variable


def key(name: str, variable: str, environment: Mapping[str, str]) -> str:
    """Return the key in a variable, or raise `MissingError` that names the variable."""
    value = environment.get(variable, "").strip()
    if not value:
        raise MissingError(f"{name}: no key in the environment variable {variable}; set it: export {variable}=…")
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise MissingError(f"{name}: the value of {variable} is not a key: it has spaces or characters outside ASCII")
    return value


def is_variable(text: str) -> bool:
    """Return whether a text can be the name of an environment variable, and so is hardly a key."""
    return text in os.environ or (text.isascii() and text.isidentifier() and text.isupper())
