"""Answers that try to run something, to fetch something from elsewhere, or to break the page; and names that do.

Whatever succeeds sets `window.hacked`, opens a dialog, or asks `evil.example` for something. Every row says what a
reader must still see of it.
"""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.old.names import file_stem
from tests.old.small_bench import answer, question, write

RUN = "window.hacked=1"
OUT = "http://evil.example"
BENCH = 'hostile "><img src=x onerror=window.hacked=1>'
LONG_BENCH = "long"


class Hostile(NamedTuple):
    """One text."""

    name: str
    text: str
    seen: str
    """A part that the reader sees as it was written."""


TEXTS: Sequence[Hostile] = (
    # what runs
    Hostile("script", f"<script>{RUN}</script>", f"<script>{RUN}</script>"),
    Hostile("script from outside", f'<script src="{OUT}/a.js"></script>', '<script src="'),
    Hostile("script in capitals, with a tab", f"<SCRIPT\t>{RUN}</SCRIPT\n>", "<SCRIPT"),
    Hostile("script in an unclosed tag", f"<script\n{RUN}//", "<script"),
    Hostile("the end of the page's own script", f"</script><script>{RUN}</script>", "</script><script>"),
    Hostile("picture with a handler", f"<img src=x onerror={RUN}>", f"<img src=x onerror={RUN}>"),
    Hostile("picture within a word", f'a<img/src="x"/onerror="{RUN}">b', "<img/src="),
    Hostile("svg with a handler", f"<svg onload={RUN}><circle r=9></svg>", "<svg onload="),
    Hostile("svg with a script", f"<svg><script href='data:text/javascript,{RUN}'/></svg>", "<svg><script"),
    Hostile("svg that sets an attribute", f"<svg><animate onbegin={RUN} attributeName=x dur=1s>", "onbegin="),
    Hostile("svg that uses another", f'<svg><use href="{OUT}/a.svg#x"/></svg>', "<use href="),
    Hostile("details that open", f"<details open ontoggle={RUN}>x</details>", "ontoggle="),
    Hostile("field with focus", f"<input autofocus onfocus={RUN}>", "<input autofocus"),
    Hostile("video", f"<video><source onerror={RUN}></video>", "<video><source"),
    Hostile("marquee", f"<marquee onstart={RUN}>x</marquee>", "<marquee onstart"),
    Hostile("body", f"<body onload={RUN} onpageshow={RUN}>", "<body onload"),
    Hostile(
        "pointer", f"<div onpointerover={RUN} onmouseover={RUN} style='position:fixed;inset:0'>x</div>", "<div onp"
    ),
    Hostile("frame", f'<iframe src="javascript:parent.{RUN}"></iframe>', "<iframe src="),
    Hostile("frame with a page in it", f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>", "srcdoc="),
    Hostile("object", f'<object data="data:text/html,<script>parent.{RUN}</script>"></object>', "<object data="),
    Hostile("embed", f'<embed src="{OUT}/a.swf"><applet code=x>', "<embed src="),
    Hostile("comment that ends early", f"<!--><img src=x onerror={RUN}>-->", "<!-->"),
    Hostile("noscript", f'<noscript><p title="</noscript><img src=x onerror={RUN}>">', "<noscript>"),
    Hostile(
        "template with a shadow", f"<template shadowrootmode=open><img src=x onerror={RUN}></template>", "<template"
    ),
    Hostile("text area that ends", f"</textarea></title></xmp><img src=x onerror={RUN}>", "</textarea>"),
    Hostile("end of the view", f"</div></div></details></section></main><h1 onclick={RUN}>x", "</div></div></details>"),
    # links
    Hostile("link that runs", f"[press](javascript:{RUN})", "[press](javascript:"),
    Hostile("link with a tab in it", f"[press](java\tscript:{RUN})", "[press](java"),
    Hostile("link in entities", f"[press](&#106;avascript:{RUN}) [b](&#x6A;avascript:{RUN})", "&#106;avascript"),
    Hostile("link to a page of data", f"[press](data:text/html,<script>{RUN}</script>)", "data:text/html"),
    Hostile("link of vbscript and file", "[a](vbscript:x) [b](file:///etc/passwd) [c](//evil.example/x)", "vbscript:x"),
    Hostile("link with a title that breaks out", f'[a](https://example.org/ "x\\" onmouseover={RUN} ")', "a"),
    Hostile("link with quotes", f"[a](https://example.org/'\"onmouseover={RUN}//)", "a"),
    Hostile("link within angle brackets", f'<javascript:{RUN}> <https://example.org/"onclick={RUN}>', "<javascript:"),
    Hostile("reference link", f"[press][1] ![p][1]\n\n[1]: javascript:{RUN} 'x'", "[press][1]"),
    Hostile("anchor", f'<a href="javascript:{RUN}" ping="{OUT}/p">press</a>', "<a href="),
    Hostile("link to the viewer", "[vote](?tab=vote&f.voter=me) [x](/gradio_api/file=/etc/passwd)", "?tab=vote"),
    # what is fetched
    Hostile("picture from outside", f"![chart]({OUT}/a.png)", f"{OUT}/a.png"),
    Hostile("picture with a title", f'![a]({OUT}/b.png "b" ) ![](//evil.example/c.png)', f"{OUT}/b.png"),
    Hostile("picture as a reference", f"![a][pic]\n\n[pic]: {OUT}/d.png", f"{OUT}/d.png"),
    Hostile("picture of data", "![a](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)", "data:image/svg"),
    Hostile("picture in a link", f"[![a]({OUT}/e.png)]({OUT}/f)", f"{OUT}/e.png"),
    Hostile("style", f"<style>@import '{OUT}/a.css'; *{{display:none}}</style>", "@import"),
    Hostile("style of an element", f'<p style="background:url({OUT}/g.png);position:fixed">x</p>', "background:url("),
    Hostile("style sheet", f'<link rel=stylesheet href="{OUT}/a.css"><link rel=prefetch href="{OUT}/b">', "<link rel="),
    Hostile("another base", f'<base href="{OUT}/"><meta http-equiv=refresh content="0;url={OUT}/">', "<base href="),
    Hostile("form", f'<form action="{OUT}/"><input name=password><button>Log in</button></form>', "<form action="),
    Hostile(
        "form of the page", '<form class="tb-form" data-act="1"><input name=tab value=vote></form>', 'data-act="1"'
    ),
    Hostile("key of the page", '<a href="?tab=runs" data-key="j" data-refresh="1">x</a>', "data-refresh"),
    Hostile("picture set", f'<picture><source srcset="{OUT}/h.png"><img src=x></picture>', "<picture>"),
    Hostile("audio", f'<audio src="{OUT}/i.mp3" autoplay><track src="{OUT}/t.vtt"></audio>', "<audio src="),
    # entities, encodings, characters
    Hostile(
        "types of a language", "`List<int>` and List<int>, Map<K, V>, a < b > c, <div>", "and List<int>, Map<K, V>"
    ),
    Hostile("entities", f"&lt;script&gt;{RUN}&lt;/script&gt; &amp;lt; &#60;b&#62;", "&lt;script&gt;"),
    Hostile("entities twice", f"&amp;lt;img src=x onerror={RUN}&amp;gt;", "&amp;lt;img"),
    Hostile("address encoding", f"%3Cscript%3E{RUN}%3C/script%3E %253Cscript%253E", "%3Cscript%3E"),
    Hostile("escapes of a language", "\\u003cscript\\u003e \\x3cscript\\x3e", "\\u003cscript"),
    Hostile("half a character", "before \ud800 after \udfff", "before"),
    Hostile(
        "other alphabets' brackets", f"\uff1cscript\uff1e{RUN}\uff1c/script\uff1e \u02c2img\u02c3", "\uff1cscript\uff1e"
    ),
    Hostile("control characters", "a\x00b\x08c\x1b[31mred\x7f\x85 <scr\x00ipt>", "U+0000"),
    Hostile("writing from right to left", "abc\u202etxt.exe\u2066\u2067\u200f שלום", "U+202E"),
    Hostile("tags without a shape", "\U000e0041\U000e0042\ufeff\u2028next", "U+E0041"),
    Hostile("many accents", "Z" + "\u0300\u0301\u0302\u0303" * 200, "Z"),
    Hostile("one wide picture character", "👩‍👩‍👧‍👦" * 300, "👩‍👩‍👧‍👦"),
    Hostile("Chinese", "你好，世界。**重点** `代码<尖括号>`", "代码<尖括号>"),
    # Markdown
    Hostile("fence that never ends", f"```html\n<script>{RUN}</script>\n", "<script>"),
    Hostile("language of a fence", f'```"><img src=x onerror={RUN}>\nx\n```', "x"),
    Hostile("fence that loads a lexer", "```../../etc/passwd\nx = 1\n```", "x = 1"),
    Hostile(
        "table in a table",
        f"| a | <table><tr><td> |\n|---|---|\n| <img src=x onerror={RUN}> | </table> |",
        "<table><tr>",
    ),
    Hostile("table with cells without end", "| a |\n|---|\n" + "| <td> |\n" * 200, "<td>"),
    Hostile("quotes in quotes", ">" * 500 + f" deep <img src=x onerror={RUN}>", "deep"),
    Hostile("lists in lists", "".join(f"{'  ' * n}- item {n}\n" for n in range(300)), "item 0"),
    Hostile("brackets in brackets", "[" * 3000 + "x" + "](y)" * 3000, "x"),
    Hostile("marks without end", "*_~`" * 3000 + " end of marks", "end of marks"),
    Hostile("backticks", " ".join("`" * n for n in range(1, 200)), "`"),
    Hostile("line of dashes", "a\n" + "-" * 5000 + "\nb", "b"),
    # formulas
    Hostile("formula with a link", f"$\\href{{javascript:{RUN}}}{{x}}$ done", "done"),
    Hostile("formula with an address", f"$\\url{{{OUT}/x}}$ \\(\\includegraphics{{{OUT}/y.png}}\\) done", "done"),
    Hostile("formula with HTML", f"$\\text{{<img src=x onerror={RUN}>}}$ done", "<img src=x"),
    Hostile("formula that sets classes", "$$\\htmlClass{tb-form}{x}\\style{color:red}{y}$$\n\ndone", "done"),
    Hostile("formula that doubles", "$$\\def\\a{\\b\\b}\\def\\b{\\c\\c}\\def\\c{\\a\\a}\\a$$\n\ndone", "done"),
    Hostile("formula without end", "$$\\frac{" * 300 + "\n\ndone", "done"),
    Hostile("formula in a formula", "$" + "{" * 800 + "x" + "}" * 800 + "$ done", "done"),
    Hostile("formula with matrices", "$\\begin{matrix}" + "a&b\\\\" * 200 + "\\end{matrix}$ done", "done"),
    Hostile(
        "MathML",
        f'<math><annotation-xml encoding="text/html"><img src=x onerror={RUN}></annotation-xml></math>',
        "<annotation-xml",
    ),
    Hostile("MathML with a link", f'<math href="javascript:{RUN}"><mtext>press</mtext></math>', "<math href="),
    # the page's own machinery
    Hostile("template literal", f"${{{RUN}}} `${{alert(1)}}` ${{value}}", f"${{{RUN}}}"),
    Hostile(
        "template with braces",
        "{{constructor.constructor('window.hacked=1')()}} {{#each x}} {% raw %}",
        "{{constructor",
    ),
    Hostile("file of Gradio", "![a](/gradio_api/file=/etc/passwd) <img src=/file=/etc/passwd>", "file=/etc/passwd"),
    Hostile(
        "component of Gradio", f'<gradio-app src="{OUT}"></gradio-app> <button id="tb-go">x</button>', "<gradio-app"
    ),
    Hostile("names of the page", '<input id="tb-query" value="?tab=runs"><img name=turnbench>', 'id="tb-query"'),
    Hostile("tool call", '<tool_call>{"name": "shell"}</tool_call><think>hidden</think>', "<think>hidden</think>"),
    Hostile("nothing but spaces", " \n\t\n ", "(no text)"),
)
LONG: Sequence[Hostile] = (
    Hostile("a line of a megabyte", "x" * 1_000_000, "xxxx"),
    Hostile("a line of tags of a megabyte", "<b onclick=1>" * 77_000, "<b onclick=1>"),
    Hostile("a megabyte of lines", "- [a](b) *c* `d` <e>\n" * 48_000, "<e>"),
    Hostile("a megabyte of formulas", "$x^2$ and \\(y\\) " * 62_000, "and"),
)
"""Long ones, which no page may take long for."""
MODELS = (
    "plain",
    f"<img src=x onerror={RUN}>",
    f'"><script>{RUN}</script>',
    f"'+{RUN}+' ${{{RUN}}} [a](javascript:{RUN})",
    "../../etc/passwd",
    "?tab=vote&model=x#y",
    "\u202eevil \u2066name",
)
JUDGES = (f"<svg onload={RUN}>", f'j" onmouseover={RUN} x="')
CATEGORIES = (f"<iframe src=javascript:parent.{RUN}>", f'"onfocus={RUN} autofocus="', "List<int>")
VOTERS = (f"<b onclick={RUN}>voter", '"><img src=x onerror=alert(1)>')
PER_QUESTION = 12
"""Texts that stand in one question, a turn each."""


def by_question() -> Mapping[int | str, Sequence[Hostile]]:
    """Return the texts by the question that has them, a turn each; some ids are hostile too."""
    ids: list[int | str] = [
        f"<img src=x onerror={RUN}>",
        f'"><svg onload={RUN}>',
        "../../../etc/passwd",
        "?tab=vote&x=1",
    ]
    parts = [TEXTS[at : at + PER_QUESTION] for at in range(0, len(TEXTS), PER_QUESTION)]
    return dict(zip([*ids, *range(1, len(parts))], parts, strict=False))


def write_hostile(data_dir: pathlib.Path) -> pathlib.Path:
    """Write a benchmark in which everything is hostile and one with long texts, and return the data folder."""
    _write(data_dir / BENCH, by_question(), MODELS, JUDGES)
    long = {number: (text,) for number, text in enumerate(LONG, 1)}
    _write(data_dir / LONG_BENCH, long, MODELS[1:3], JUDGES[:1])
    return data_dir


def _write(
    folder: pathlib.Path,
    texts: Mapping[int | str, Sequence[Hostile]] | Mapping[int, Sequence[Hostile]],
    models: Sequence[str],
    judges: Sequence[str],
) -> None:
    """Write the files of a benchmark."""
    asked, answers, grades, pairs, votes = [], [], [], [], []
    for at, (key, own) in enumerate(texts.items()):
        said = [one.text for one in own]
        category = CATEGORIES[at % len(CATEGORIES)]
        more = {CATEGORIES[1]: said[0][:300]} if at % 2 else {}
        turns = [text if text.strip() else "Say nothing." for text in said]
        asked.append({**question(0, category, turns), "question_id": key, **more})
        answers.append({**answer(0, "", *said), "question_id": key})
        for turn, text in enumerate(said, 1):
            score = 1 + (at + turn) % 10
            judge = judges[(at + turn) % len(judges)]
            row = {**_judged(key, turn, judge), "score": score, **_words(text)}
            grades += [{**row, "model": model} for model in models[:4]]
            pairs.append(_pair(key, turn, judge, text, at + turn))
            if turn <= 2:
                votes.append(_vote(key, turn, at + turn))
    write(folder / "question.jsonl", asked)
    for at, model in enumerate(models):
        rows = [{**row, "model_id": model} for row in (answers if at < 3 else answers[:1])]
        write(folder / "model_answer" / f"{file_stem(model)}.jsonl", rows)
    write(folder / "reference_answer" / f"{file_stem(MODELS[1])}.jsonl", answers)
    for judge in judges:
        for kind, rows in (("single", grades), ("pair", pairs)):
            own_rows = [row for row in rows if row["judge"][0] == judge]
            write(folder / "model_judgment" / f"{file_stem(judge)}_{kind}.jsonl", own_rows)
    for number, voter in enumerate(VOTERS):
        rows = [{**row, "judge": voter} for row in votes[:: number + 1]]
        write(folder / "human_judgment" / f"{file_stem(voter)}.jsonl", rows)


def _judged(key: int | str, turn: int, judge: str) -> dict[str, Any]:
    return {"question_id": key, "turn": turn, "judge": [judge, "x-v1"], "tstamp": 1.0}


def _words(text: str, prefix: str = "") -> dict[str, Any]:
    short = text[:200_000]
    return {f"{prefix}user_prompt": short, f"{prefix}judgment": short}


def _sides(number: int) -> dict[str, Any]:
    winners = ("model_1", "model_2", "tie")
    first, second = winners[number % 3], winners[(number // 2) % 3]
    return {"model_1": MODELS[1], "model_2": MODELS[2], "winner": first, "g1_winner": first, "g2_winner": second}


def _pair(key: int | str, turn: int, judge: str, text: str, number: int) -> dict[str, Any]:
    row = {**_judged(key, turn, judge), **_sides(number), **_words(text, "g1_"), **_words(text[::-1], "g2_")}
    del row["winner"]
    return row


def _vote(key: int | str, turn: int, number: int) -> dict[str, Any]:
    winner = ("model_a", "model_b", "tie")[number % 3]
    return {
        "question_id": key,
        "turn": turn,
        "model_a": MODELS[1],
        "model_b": MODELS[2],
        "winner": winner,
        "tstamp": 1.0,
    }
