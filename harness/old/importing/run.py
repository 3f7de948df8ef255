"""Files of another project → a benchmark folder: read as a stream, bad records listed, good ones kept.

report = import_data("short_facts", ["simple_qa.csv"], "simple_qa")     # writes data/simple_qa/
"""

import pathlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.old.errors import UsageError
from harness.old.importing import FORMATS, Format
from harness.old.importing.folder import ImportFolder
from harness.old.importing.items import BadRecordError, FurtherAnswer, Item
from harness.old.importing.records import ImportReport, PathLike, Progress, read_records
from harness.old.jsonl.copies import local_file, need_near
from harness.old.names import check_bench_name
from harness.old.records import QuestionId, content_hash
from harness.old.written import takes_only


@takes_only()
def import_data(
    format_name: str,
    files: Sequence[PathLike],
    bench_name: str,
    *,
    data_dir: PathLike = "data",
    model_id: Sequence[str] = (),
    language: str | None = None,
    first_n: int | None = None,
    keep_input: bool = False,
    progress: Progress = lambda count: None,
) -> ImportReport:
    """Write the benchmark `data_dir/bench_name` from files of another project; return a report.

    `model_id` names the models of the further files, in order, overriding their records. `first_n`
    takes the first n valid records of the first kind. `keep_input` keeps the judge's whole input, where records have
    one, as the question's `context`, so that it can be sent unchanged. `progress` is called with the number of bytes
    read.

    Raises:
        UsageError: no such format, a file without a model's name, or the folder holds other questions.
        DataError: a file can't be read, or none of its records is valid.
        StorageError: the folder can't be written.
    """
    if format_name not in FORMATS:
        raise UsageError(f"no format {format_name!r}; there are: {', '.join(FORMATS)}")
    form = FORMATS[format_name]
    paths = [local_file(file) for file in files]
    if not paths:
        raise UsageError("no file given")
    questions, further = (paths[:1], paths[1:]) if form.answer else (paths, [])
    if model_id and len(model_id) != len(further):
        raise UsageError(f"--model-id names {len(model_id)} models, but there are {len(further)} further files")
    report = ImportReport(need_near(data_dir) / check_bench_name(bench_name))
    with ImportFolder(report.folder) as folder:
        reading = _Reading(form, folder, report, progress, keep_input)
        reading.questions(questions, first_n)
        for path, named in zip(further, model_id or [""] * len(further), strict=True):
            reading.answers(path, named, partial=first_n is not None)
        if not folder.questions:
            raise report.nothing(f"no record is valid as {format_name}", paths[0])
        report.questions = folder.questions
        title = f"{form.title}, from {', '.join(path.name for path in paths[: 1 if form.answer else None])}"
        folder.settings({"title": title, **({"language": language} if language else {})})
    report.added = folder.added
    return report


class _Reading:
    """Reads records, and writes what they become."""

    def __init__(
        self, form: Format, folder: ImportFolder, report: ImportReport, progress: Progress, keep_input: bool
    ) -> None:
        self.form, self.folder, self.report, self.progress, self.keep_input = form, folder, report, progress, keep_input
        self.by_key: dict[str, tuple[QuestionId, str]] = {}
        """For each key its question and a hash of the whole record."""
        self.taken: set[QuestionId] = set()
        self.answered: set[tuple[str, QuestionId]] = set()
        """Whose answers to which questions there are, where further files may hold answers."""
        self.joined = _Joined(folder, report) if form.joined else None

    def questions(self, paths: Sequence[pathlib.Path], first_n: int | None) -> None:
        """Write the questions of the files; one without an id has its place among all records."""
        item_of: Callable[[Mapping[str, Any]], Item] = self.form.load(self.form.item)
        place = 0
        for path in paths:
            for record in read_records(path, self.progress):
                if first_n is not None and self.folder.questions >= first_n:
                    return
                place += 1
                with self.report.listing(path, record):
                    self._take(item_of(record.said), record.said, path, place)

    def _take(self, item: Item, value: Mapping[str, Any], path: pathlib.Path, place: int) -> None:
        question_id: QuestionId = place if item.question_id is None else item.question_id
        if item.key:
            known, made = self.by_key.get(item.key), content_hash(value)
            if known is not None and known[1] != made:
                raise BadRecordError(f"it differs from an earlier record of the same question ({known[0]})")
            if known is not None:
                self.report.repeated += 1
                return
            self.by_key[item.key] = (question_id, made)
        if question_id in self.taken:
            raise BadRecordError(f"the id {question_id} is already used by an earlier record")
        if self.joined and self.joined.take(item):
            return
        self.taken.add(question_id)
        named = {model or path.stem: text for model, text in item.answers.items()}
        context = {"context": value["instruction"]} if isinstance(value.get("instruction"), str) else {}
        extra = {**item.extra, **(context if self.keep_input else {})}
        # Votes on what is put together stand in one file, whoever cast them.
        votes = () if self.joined else item.votes
        self.folder.add(question_id, replace(item, answers=named, extra=extra, votes=votes))
        self.report.votes += len(votes)
        if self.joined:
            self.joined.begin(question_id, item)
        self.report.answers.update(list(named))
        if self.form.answer:
            self.answered.update((model, question_id) for model in named)

    def answers(self, path: pathlib.Path, named: str, *, partial: bool) -> None:
        """Write the answers of a further file, by the model that is `named` or that its records say, else by that of
        the file's name; `partial`: those to questions that were not taken are passed over."""
        answer_of: Callable[[Mapping[str, Any]], FurtherAnswer] = self.form.load(self.form.answer)

        def take(value: Mapping[str, Any]) -> None:
            found = answer_of(value)
            model, (question_id, _) = named or found.model or path.stem, self.by_key.get(found.key, (None, ""))
            if question_id is None and partial:
                return
            if question_id is None or (model, question_id) in self.answered:
                again = f"is a second answer by {model} to a question"
                what = "answers no question of the first file" if question_id is None else again
                line = " ".join(found.key.split())
                raise BadRecordError(f"it {what} ({line if len(line) <= 60 else f'{line[:57]}...'})")
            self.answered.add((model, question_id))
            self.folder.answer(model, question_id, found.text)
            self.report.answers[model] += 1

        for _ in self.report.good(path, take, self.progress):
            pass


class _Joined:
    """Puts records of one question together, as long as a model has one answer to it."""

    def __init__(self, folder: ImportFolder, report: ImportReport) -> None:
        self.folder, self.report = folder, report
        self.places: dict[str, list[tuple[QuestionId, dict[str, str]]]] = {}
        """By the turns of the user, the questions and for each the hash of each model's answer."""
        self.unnamed: Counter[Any] = Counter()

    def begin(self, question_id: QuestionId, item: Item) -> None:
        """Take the first record of a question."""
        self.places.setdefault(content_hash(item.turns), []).append((question_id, _hashes(item)))
        self._vote(question_id, item)

    def take(self, item: Item) -> bool:
        """Add a record to the question that it is about; return whether there is one that it fits."""
        for question_id, said in self.places.get(content_hash(item.turns), ()):
            own = _hashes(item)
            if all(said.get(model, made) == made for model, made in own.items()):
                for model in own.keys() - said.keys():
                    self.folder.answer(model, question_id, item.answers[model])
                    self.report.answers[model] += 1
                said |= own
                self._vote(question_id, item)
                return True
        return False

    def _vote(self, question_id: QuestionId, item: Item) -> None:
        """Write the votes; several by nobody named on one pair are by as many people."""
        for vote in item.votes:
            judge = vote["judge"]
            if not judge:
                pair = (question_id, frozenset(item.answers))
                self.unnamed[pair] += 1
                judge = f"voter {self.unnamed[pair]}"
            self.folder.vote(question_id, {**vote, "judge": judge}, "battles")
            self.report.votes += 1


def _hashes(item: Item) -> dict[str, str]:
    return {model: content_hash(text) for model, text in item.answers.items()}
