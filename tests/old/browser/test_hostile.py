"""Hostile texts and names through every tab of a real browser: nothing runs, nothing is fetched, all of it is read."""

import pathlib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from harness.cli.show_result import main as show_result
from tests.old.browser.conftest import ServeViewer, Watched, settled
from tests.old.browser.hostile import BENCH, CATEGORIES, JUDGES, LONG, LONG_BENCH, MODELS, OUT, by_question, write_hostile

pytestmark = pytest.mark.browser
FOREIGN = """
() => {
  const plain = ".tb-view :is(script, iframe, object, embed, style, link, meta, base, img, picture, video, audio, " +
    "source, track, canvas, template, slot, marquee, portal, gradio-app, textarea:not(.tb-view form textarea))";
  const found = [...document.querySelectorAll(plain)].map((part) => part.outerHTML.slice(0, 200));
  for (const part of document.querySelectorAll(".tb-view *")) {
    for (const { name, value } of part.attributes) {
      if (name.startsWith("on") || ["src", "srcset", "ping", "action", "formaction", "srcdoc"].includes(name))
        found.push(`${name}=${value}`.slice(0, 200));
      if (name === "href" && !/^(\\?|https?:|mailto:|#)/.test(value)) found.push(`${name}=${value}`.slice(0, 200));
      if (name === "xlink:href" && !value.startsWith("#")) found.push(`${name}=${value}`.slice(0, 200));
    }
  }
  const own = "form, input, button, svg, select, [id], [data-key], [data-act], [data-go], [data-refresh]";
  const inner = `.tb-text :is(${own})`;
  for (const part of document.querySelectorAll(inner)) found.push(part.outerHTML.slice(0, 200));
  return found;
}
"""


@pytest.fixture(scope="module")
def hostile_data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a data folder with a benchmark in which everything is hostile."""
    return write_hostile(tmp_path_factory.mktemp("hostile") / "data")


@pytest.fixture(scope="module")
def hostile(serve_viewer: ServeViewer, hostile_data: pathlib.Path) -> str:
    """Return the address of a viewer on it."""
    return serve_viewer(hostile_data)


@pytest.fixture(scope="module")
def opened(hostile: str, chromium: Any) -> Iterator[Watched]:
    """Return one page for all tests."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    watched = Watched(context.new_page(), hostile)
    watched.page.set_default_timeout(60_000)
    watched.page.goto(hostile)
    settled(watched.page)
    yield watched
    context.close()


@pytest.fixture
def page(opened: Watched) -> Iterator[Any]:
    """Return the page; when the test ends it fails if the page did what it should not."""
    yield opened.page
    assert opened.told() == []


def go(page: Any, query: str) -> None:
    """Show another view on the page, and open all that is folded away."""
    before = settled(page)
    page.evaluate("(query) => turnbench.go(query)", query)
    settled(page, before)
    unharmed(page)
    page.evaluate("for (const part of document.querySelectorAll('.tb-view details')) part.open = true")
    unharmed(page)


def address(tab: str, *more: tuple[str, object], bench: str = BENCH) -> str:
    """Return the address of a view of a hostile benchmark."""
    return "?" + urlencode([("tab", tab), ("bench", bench), *more], errors="replace")


def unharmed(page: Any) -> None:
    """Fail if something of the texts runs, is an element, or hinders the page."""
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(FOREIGN) == []
    assert page.evaluate("new Promise((done) => requestAnimationFrame(() => done(document.title)))") == "turnbench"
    assert page.locator(".tb-fault").all_inner_texts() == []


def words(text: str) -> str:
    """Return a text with runs of white space as one space, as a page shows it."""
    return " ".join(text.split())


@pytest.mark.parametrize("number", range(len(by_question())))
@pytest.mark.parametrize("tab", ["answers", "compare"])
def test_every_text_is_read_and_does_nothing(tab: str, number: int, page: Any) -> None:
    key, texts = list(by_question().items())[number]
    models = [("model", MODELS[1]), ("model", MODELS[2])][: 1 if tab == "answers" else 2]
    go(page, address(tab, ("question", key), ("whole", 1), *models))
    turns = page.locator(f"#tb-pane-{tab} .tb-turn")
    assert turns.count() == len(texts)
    for turn, text in zip(turns.all_text_contents(), texts, strict=True):
        assert words(turn).count(words(text.seen)) >= 2, text.name


@pytest.mark.parametrize("number", range(len(LONG)))
@pytest.mark.parametrize("tab", ["answers", "compare"])
def test_a_megabyte_is_cut_and_the_page_goes_on(tab: str, number: int, page: Any) -> None:
    models = (("model", MODELS[1]), ("model", MODELS[2]))
    go(page, address(tab, ("question", number + 1), *models, bench=LONG_BENCH))
    assert "characters are not shown" in page.locator(f"#tb-pane-{tab} .tb-cut").first.inner_text()
    assert LONG[number].seen in page.locator(f"#tb-pane-{tab} .tb-turn").inner_text()
    before = settled(page)
    page.keyboard.press("k" if number else "j")
    settled(page, before)
    unharmed(page)


@pytest.mark.parametrize("number", range(len(LONG)))
def test_a_megabyte_can_be_shown_whole(number: int, page: Any) -> None:
    go(page, address("answers", ("question", number + 1), ("model", MODELS[1]), ("whole", 1), bench=LONG_BENCH))


@pytest.mark.parametrize(
    ("tab", "more"),
    [
        pytest.param("leaderboard", [], id="grades"),
        pytest.param("leaderboard", [("mode", "pairwise-all")], id="pairs"),
        pytest.param("leaderboard", [("mode", "pairwise-baseline")], id="pairs with a baseline"),
        pytest.param("find", [], id="find"),
        pytest.param("find", [("mode", "pairwise-all"), ("f.text", "<script>")], id="find pairs by text"),
        pytest.param("judge", [("mode", "pairwise-all")], id="judge"),
        pytest.param("vote", [], id="vote"),
        pytest.param("runs", [], id="runs"),
    ],
)
@pytest.mark.parametrize("judge", JUDGES)
def test_hostile_names_are_names_on_every_tab(tab: str, more: list[tuple[str, object]], judge: str, page: Any) -> None:
    go(page, address(tab, ("judge", judge), *more))


@pytest.mark.parametrize(
    "queries",
    [
        pytest.param([address("answers", ("question", n), ("model", MODELS[1])) for n in by_question()], id="texts"),
        pytest.param([address(tab) for tab in ("leaderboard", "find", "judge", "vote", "runs")], id="names"),
        pytest.param(["?tab=find&f.text=" + quote("</script><script>window.hacked=1</script>")], id="an address"),
    ],
)
def test_what_comes_with_the_page_does_nothing(queries: list[str], hostile: str, chromium: Any) -> None:
    """Gradio's scripts do not arrive, so that the first view stays."""
    page = chromium.new_page()
    page.route("**/assets/*.js", lambda route: route.abort())
    watched = Watched(page, hostile)
    for query in queries:
        page.goto(hostile + query)
        assert page.locator("#tb-opening .tb-view").inner_text()
        assert page.evaluate("window.hacked") is None
        assert page.evaluate(FOREIGN) == []
    assert [fault for fault in watched.told() if "net::ERR_FAILED" not in fault] == []
    page.close()


def test_names_are_seen_as_they_are(page: Any) -> None:
    go(page, address("leaderboard"))
    shown = words(page.locator("#tb-pane-leaderboard").inner_text())
    for name in (*MODELS[:4], *CATEGORIES):
        assert words(name) in shown


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(f"?tab=<script>{OUT}</script>", id="tab"),
        pytest.param(f"?bench={quote('<img src=x onerror=window.hacked=1>')}", id="bench"),
        pytest.param("?tab=answers&question=" + quote('"><img src=x onerror=window.hacked=1>'), id="question"),
        pytest.param("?tab=answers&model=" + quote("<script>window.hacked=1</script>"), id="model"),
        pytest.param("?tab=leaderboard&judge=" + quote("<script>window.hacked=1</script>"), id="judge"),
        pytest.param("?tab=find&f.text=" + quote('"><script>window.hacked=1</script>'), id="filter"),
        pytest.param("?tab=find&f.column=__proto__&f.sort=constructor&f.page=-1", id="names of JavaScript"),
        pytest.param("?tab=vote&f.voter=" + quote("../../x<script>window.hacked=1</script>"), id="voter"),
        pytest.param("?__theme=" + quote('dark"><img src=x onerror=window.hacked=1>'), id="theme"),
        pytest.param("?%00=%ff&tab=%ff%fe&model=%ed%a0%80", id="bytes that are no text"),
        pytest.param("?" + "model=a&" * 2000, id="long address"),
    ],
)
def test_a_hostile_address_does_nothing(query: str, page: Any, hostile: str) -> None:
    page.goto(hostile + query)
    settled(page)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(FOREIGN) == []


@pytest.mark.parametrize("mode", ["single", "pairwise-all"])
def test_the_report_shows_hostile_names_as_names(
    mode: str, chromium: Any, tmp_path: pathlib.Path, hostile_data: pathlib.Path
) -> None:
    file = tmp_path / "report.html"
    where = ["--data-dir", str(hostile_data), "--bench-name", BENCH, "--judge-model", JUDGES[0], "--mode", mode]
    assert show_result([*where, "--report", str(file), "-q"]) == 0
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.goto(file.as_uri())
    assert page.evaluate("window.hacked") is None
    assert asked == [file.as_uri()]
    assert page.locator("iframe, object, embed, img, [onerror], [onload], [onclick], [autofocus]").count() == 0
    assert words(MODELS[1]) in words(page.inner_text("body"))
    assert not re.search(r'(?:src|href)="(?!#|data:)', file.read_text(encoding="utf-8"))
    page.close()
