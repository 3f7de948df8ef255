"""Answers in another project's files → an existing benchmark: each record is matched to its question.

    report = import_answers("alpaca_eval", ["outputs/*.json"], load_bench("alpaca_eval"))   # adds to model_answer/

Existing answers are kept; a record that differs from one is an error, since a judged answer must not
change.
"""

import glob
import pathlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.old.bench import Bench
from harness.old.errors import DataError, UsageError
from harness.old.importing import FORMATS
from harness.old.importing.items import BadRecordError, FurtherAnswer
from harness.old.importing.records import ImportReport, PathLike, Progress
from harness.old.jsonl import Journal
from harness.old.names import check_model_name
from harness.old.records import Answer, Choice, QuestionId, Reply, content_hash
from harness.old.rows import answer_to_row
from harness.old.written import takes_only


def expanded(files: Sequence[PathLike]) -> list[pathlib.Path]:
    """Return the files that match names and patterns such as `outputs/*.json`, each once.

    Raises:
        UsageError: a pattern matches no file.
    """
    found: dict[pathlib.Path, None] = {}
    for file in map(str, files):
        there = [file] if pathlib.Path(file).exists() or not glob.has_magic(file) else sorted(glob.glob(file))
        if not there:
            raise UsageError(f"no file matches the pattern {file!r}")
        found |= dict.fromkeys(map(pathlib.Path, there))
    return list(found)


@takes_only()
def import_answers(
    format_name: str,
    files: Sequence[PathLike],
    bench: Bench,
    *,
    model_id: Sequence[str] = (),
    progress: Progress = lambda count: None,
) -> ImportReport:
    """Add the answers in files of another project to a benchmark; return a report.

    `model_id` names the models of the files, in order, overriding their records.

    Raises:
        UsageError: no such format, or the records are not answers.
        DataError: a file can't be read, none of its records matches a question, or one differs from an existing answer.
        StorageError: an answer can't be written.
    """
    form = FORMATS.get(format_name)
    if form is None or form.answer is None:
        there = ", ".join(name for name, own in FORMATS.items() if own.answer is not None)
        raise UsageError(f"no format {format_name!r} of answers; there are: {there}")
    paths = expanded(files)
    if model_id and len(model_id) != len(paths):
        raise UsageError(f"--model-id names {len(model_id)} models, but there are {len(paths)} files")
    ids = {question.turns[0]: question.question_id for question in bench.questions if len(question.turns) == 1}
    ids |= {str(question.question_id): question.question_id for question in bench.questions if form.names}
    answer_of: Callable[[Mapping[str, Any]], FurtherAnswer] = form.load(form.answer)
    report = ImportReport(bench.folder)
    read: dict[str, dict[QuestionId, str]] = {}
    for path, named in zip(paths, model_id or [""] * len(paths), strict=True):

        def take(value: Mapping[str, Any], path: pathlib.Path = path, named: str = named) -> None:
            found = answer_of(value)
            question_id = ids.get(found.key)
            if question_id is None:
                raise BadRecordError(f"it answers no question in {bench.name} ({found.key.strip()[:60]!r})")
            model = check_model_name(named or found.model or path.stem)
            if read.setdefault(model, {}).setdefault(question_id, found.text) != found.text:
                raise BadRecordError(f"it answers question {question_id} differently from an earlier record")

        if not list(report.good(path, take, progress)):
            raise report.nothing(f"no record matches a question in {bench.name}", path)
    report.new.update(add_answers(bench, read))
    report.answers.update({model: len(own) for model, own in read.items()})
    return report


def add_answers(bench: Bench, read: Mapping[str, Mapping[QuestionId, str]]) -> dict[str, int]:
    """Add answers by model and question to a benchmark; return how many of each model were new.

    Raises:
        DataError: one differs from an existing answer; nothing was written.
        StorageError: an answer can't be written.
    """
    known = {model: bench.answers(model) for model in read}
    for model, own in read.items():
        there = known[model]
        if other := [key for key, text in own.items() if key in there and there[key].choices[0].turns != (text,)]:
            which = ", ".join(map(str, other[:5])) + (", ..." if len(other) > 5 else "")
            raise DataError(
                f"{model} already has other answers, to question {which}; what stands is not replaced: give these "
                "another name with --model-id",
                path=bench.answer_file(model),
            )
    contents = {question.question_id: question.content for question in bench.questions}
    missing = {model: {key: own[key] for key in own if key not in known[model]} for model, own in read.items()}
    for model, own in missing.items():
        if not own:
            continue
        with Journal(bench.answer_file(model), bench.answer_state) as journal:
            for key, text in own.items():
                choices = (Choice(0, (Reply(text, note="imported"),)),)
                answer = Answer(key, model, choices, question_content=contents[key], tstamp=time.time())
                journal.append(answer_to_row(replace(answer, answer_id=content_hash(model, key, [text]))))
    return {model: len(own) for model, own in missing.items()}
