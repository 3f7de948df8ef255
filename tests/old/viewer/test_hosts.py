"""For whom the viewer answers: requests by its own names, from its own page, from links, from what is no browser."""

import pytest

from harness.old.errors import UsageError
from viewer.old.hosts import Hosts, host_name, host_of, is_loopback


def refused(hosts: Hosts, host: str | None, *, method: str = "GET", **headers: str) -> str | None:
    """Return what a request is told that names this host, None for one that names none."""
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    if host is not None:
        pairs.append((b"Host", host.encode()))
    return hosts.refusal(method, pairs)


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:7860", "LOCALHOST:7860", "localhost.:7860", "127.0.0.1:7860", "127.8.9.1", "[::1]:7860"],
)
def test_on_loopback_the_names_of_this_machine_are_answered(host: str) -> None:
    assert refused(Hosts("127.0.0.1"), host) is None


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("evil.example:7860", id="another name"),
        pytest.param("localhost.evil.example", id="localhost in front"),
        pytest.param("127.0.0.1.evil.example", id="address in front"),
        pytest.param("evil-localhost", id="localhost at the end"),
        pytest.param("192.0.2.7:7860", id="another address"),
        pytest.param("0.0.0.0:7860", id="no address"),
        pytest.param("[::2]:7860", id="another address of version 6"),
    ],
)
def test_on_loopback_other_hosts_are_refused_with_the_way_out(host: str) -> None:
    name = host.removesuffix(":7860").strip("[]")
    assert (refused(Hosts("127.0.0.1"), host) or "").endswith(f"start it with --allow-host {name}")


@pytest.mark.parametrize("host", [None, "", ":7860", "a b", "localhost:x", "me@localhost", "<b>", "localhost/", "[::1"])
def test_a_header_that_names_no_host_is_refused_and_not_repeated(host: str | None) -> None:
    assert refused(Hosts("127.0.0.1"), host) == "the request names no host"


def test_each_of_several_host_headers_must_be_right() -> None:
    pairs = [(b"host", b"localhost"), (b"host", b"evil.example")]
    assert "evil.example" in (Hosts("127.0.0.1").refusal("GET", pairs) or "")


def test_a_name_that_is_allowed_is_answered_in_any_writing_and_at_any_port() -> None:
    hosts = Hosts("127.0.0.1", ["Viewer.Example.org"])
    for host in ("viewer.example.org", "VIEWER.example.org:443", "viewer.example.org."):
        assert refused(hosts, host) is None
    assert refused(hosts, "other.example.org")
    hosts.allow("other.example.org")
    assert refused(hosts, "other.example.org") is None


def test_where_others_reach_it_addresses_and_the_machine_are_answered_and_no_other_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Box.lan")
    hosts = Hosts("0.0.0.0")
    for host in ("192.0.2.7:7860", "[2001:db8::7]:7860", "0.0.0.0:7860", "localhost", "box", "box.lan:80", "box.local"):
        assert refused(hosts, host) is None
    assert "evil.example" in (refused(hosts, "evil.example") or "")
    assert refused(Hosts("box.internal.example"), "box.internal.example:7860") is None


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="no browser"),
        pytest.param({"Sec_Fetch_Site": "same-origin", "Origin": "http://localhost:7860"}, id="its own page"),
        pytest.param({"Sec_Fetch_Site": "same-origin", "Origin": "https://proxy.example"}, id="behind a proxy"),
        pytest.param({"Sec_Fetch_Site": "none"}, id="the address bar"),
        pytest.param({"Origin": "http://localhost:7860"}, id="its own page, without TLS"),
    ],
)
def test_its_own_page_is_answered(headers: dict[str, str], method: str) -> None:
    assert refused(Hosts("127.0.0.1"), "localhost:7860", method=method, **headers) is None


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
@pytest.mark.parametrize(
    ("headers", "whose"),
    [
        pytest.param({"Origin": "https://evil.example"}, "https://evil.example", id="another name"),
        pytest.param({"Origin": "http://localhost:8888"}, "http://localhost:8888", id="another port"),
        pytest.param({"Origin": "http://localhost"}, "http://localhost", id="the port of HTTP"),
        pytest.param({"Origin": "http://127.0.0.1:7860"}, "http://127.0.0.1:7860", id="another name of this machine"),
        pytest.param({"Origin": "null"}, "another site", id="a page without origin"),
        pytest.param({"Origin": "<b>x</b> y"}, "another site", id="no origin"),
        pytest.param({"Sec_Fetch_Site": "cross-site"}, "another site", id="another site"),
        pytest.param({"Sec_Fetch_Site": "same-site"}, "another site", id="another port, as the browser says"),
        pytest.param(
            {"Sec_Fetch_Site": "cross-site", "Origin": "http://localhost:7860"}, "http://localhost:7860", id="both"
        ),
        pytest.param({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}, "another site", id="as a picture"),
    ],
)
def test_a_page_of_somebody_else_is_refused(headers: dict[str, str], whose: str, method: str) -> None:
    told = refused(Hosts("127.0.0.1"), "localhost:7860", method=method, **headers) or ""
    assert told.startswith(f"a page of {whose} may not send requests")
    assert "--allow-host" in told


def test_a_link_on_another_page_is_followed_and_a_form_there_is_not() -> None:
    headers = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Origin": "https://chat.example"}
    assert refused(Hosts("127.0.0.1"), "localhost:7860", **headers) is None
    assert refused(Hosts("127.0.0.1"), "localhost:7860", method="POST", **headers)


def test_a_proxy_may_change_host_and_port_where_its_name_is_allowed() -> None:
    hosts = Hosts("127.0.0.1", ["viewer.example.org"])
    for host in ("127.0.0.1:7860", "viewer.example.org", "viewer.example.org:443"):
        assert refused(hosts, host, method="POST", Origin="https://viewer.example.org") is None
    assert refused(hosts, "127.0.0.1:7860", method="POST", Origin="https://evil.example")
    assert refused(hosts, "127.0.0.1:7860", method="POST", Origin="file://viewer.example.org")


@pytest.mark.parametrize("name", ["http://a.example", "a.example:80", "a.example/x", "*", "", "a b", "a..b"])
def test_what_is_no_name_of_a_host_cannot_be_allowed(name: str) -> None:
    with pytest.raises(UsageError, match="is not a host name; give it as viewer"):
        host_name(name)


def test_loopback_is_known_by_address_and_name() -> None:
    assert all(map(is_loopback, ["localhost", "127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.0.2.1", "localhost.example", ""]))


def test_the_host_in_an_address_is_found() -> None:
    assert host_of("https://Abc.gradio.live") == "abc.gradio.live"
    assert host_of("no address") == ""
