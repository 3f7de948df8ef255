"""Static pages of results, to be sent: they open from disk or any file server.

    index.html           the board; board-2.html …: other verdicts
    questions.html       all questions; model-1.html …: a model's, the worst first
    flipped.html         flipped pairs
    none.html            judgments without a verdict
    noted.html           those with a note
    question-1.html …    every answer and verdict of a question
    judges.html

They are made by the functions of the viewer. No script runs but the model that sorts tables; a
content security policy in each page forbids everything else. What judges were shown is left out.
"""

import pathlib
from collections.abc import Iterator

from harness.errors import DataError, MissingError
from harness.reporting.html import asset, check_html
from harness.store import write_file
from viewer import board, judges, pages, questions, verdicts
from viewer.data import Data, Home
from viewer.pages import Site
from viewer.state import View

_SHEETS = ("colours.css", "page.css", "table.css", "chart.css")


def export(home: Home, folder: pathlib.Path) -> str:
    """Write the pages of all benchmarks that have answers; return what was written, in words.

    Raises:
        MissingError: there are no answers.
        DataError: a file is damaged, so that numbers would be of a part.
        StorageError: the folder holds something else, or cannot be written.
    """
    every = [home.data(name) for name in home.names()]
    exported = [data for data in every if data.models]
    if not exported:
        raise MissingError(f"{home.data_dir}: nothing to export; run gen_answer first")
    for data in exported:
        for fault in data.faults:
            raise DataError(f"{data.bench.folder}: {fault}; nothing is exported")
    folder.mkdir(parents=True, exist_ok=True)
    check_html(folder / "index.html")
    count = size = 0
    for data in exported:
        target = folder if len(exported) == 1 else folder / data.bench.name
        for name, page in pages_of(data):
            write_file(target / name, page)
            count, size = count + 1, size + len(page.encode())
    if len(exported) > 1:
        links = {data.bench.name: f"{data.bench.name}/index.html" for data in exported}
        write_file(folder / "index.html", document("turnbench", links, "", ""))
    return f"{folder / 'index.html'}: {count:,} pages, {size / 1e6:.1f} MB"


def pages_of(data: Data) -> Iterator[tuple[str, str]]:
    """Yield the name and the HTML of each page of a benchmark."""
    files = _Files(data)
    site = Site(files.href, live=False)
    bench = data.bench.name
    links = {"Board": "index.html", "Questions": "questions.html"}
    if data.verdicts:
        links["Judges"] = "judges.html"
    if "noted" in files.filters:
        links["Notes"] = "noted.html"
    for other in [*data.verdicts.values()][1:]:
        links[f"Board: {other.label}"] = files.href(View("board", bench, other.name))
    views = [View("board", bench, name) for name in data.verdicts] or [View("board", bench)]
    for view in views:
        name = files.href(view)
        yield name, document(f"{bench}: results", links, name, board.show(data, view, site))
    if data.verdicts:
        body = judges.show(data, View("judges", bench), site)
        yield "judges.html", document(f"{bench}: judges", links, "judges.html", body)
    lists = [View("questions", bench), *(View("verdicts", bench, only=o) for o in files.filters)]
    lists += [View("questions", bench, model=(model,), sort="low") for model in data.models]
    for view in lists:
        title = f"{bench}: {view.tab} {view.only}{', '.join(view.model)}".rstrip()
        name = files.href(view)
        show = verdicts.show if view.tab == "verdicts" else questions.show
        yield name, document(title, links, name, show(data, view, site))
    for question in data.bench.questions:
        view = View("questions", bench, question=str(question.question_id), model=files.models)
        title = f"{bench}: question {question.question_id}"
        yield files.page(view), document(title, links, "", questions.show(data, view, site))


class _Files:
    """Which file a view is in."""

    def __init__(self, data: Data) -> None:
        self.models = tuple(dict.fromkeys([*data.best_first(""), *data.models]))
        self.verdicts = list(data.verdicts)
        self.numbers = {str(q.question_id): n for n, q in enumerate(data.bench.questions, 1)}
        self.filters = [
            only
            for only in ("flipped", "none", "noted")
            if verdicts.Found(data, View("verdicts", data.bench.name, only=only)).total
        ]

    def href(self, view: View) -> str:
        """Return a view's file, with the place of its model; "" if there is none."""
        model = view.model[0] if len(view.model) == 1 else ""
        number = self.models.index(model) + 1 if model in self.models else 0
        if view.question:
            return self.page(view) + (f"#turn-1-{number}" if number else "")
        if view.tab == "questions":
            return f"model-{number}.html" if number else "questions.html"
        if view.tab == "verdicts":
            return f"{view.only}.html" if view.only in self.filters else "questions.html"
        if view.tab == "board":
            at = self.verdicts.index(view.verdicts) if view.verdicts in self.verdicts else 0
            return f"board-{at + 1}.html" if at else "index.html"
        return "judges.html" if view.tab == "judges" else ""

    def page(self, view: View) -> str:
        """Return the file of a question."""
        number = self.numbers.get(view.question)
        return f"question-{number}.html" if number else ""


def document(title: str, links: dict[str, str], here: str, body: str) -> str:
    """Return a whole page."""
    values = {"title": title, "links": links, "here": here, "body": body}
    script = asset("sort.js") + pages.own_file("keys.js")
    return pages.sealed("document.html", _SHEETS, script, **values)
