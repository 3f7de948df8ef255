"""Judge sets: the prompt templates, and the rule that picks one for a question and turn. Data, no code.

A judge set is a folder of TOML, one `judge_set.toml` and one file for each template, or FastChat's
`judge_prompts.jsonl` as it stands. `judge_prompts/README.md` describes the format. Everything people type is checked:
an unknown key or placeholder is an error that names the file, the key and the nearest known one.
"""

import json
import math
import pathlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness.bench import OWN_JUDGE_SET, nearest, read_toml, shipped
from harness.errors import DataError, UsageError
from harness.jsonl import read_rows
from harness.judging.parse import known_formats
from harness.judging.template import Template
from harness.records import Sampling, content_hash

Kind: TypeAlias = Literal["grade", "compare"]


"""The name of the shipped set, which no other prompt file may take."""

_MOST_TURNS = 20
_PER_TURN = ("question", "answer", "answer_a", "answer_b", "ref_answer")
TURN_PLACEHOLDERS = frozenset({"turn", "question", "answer", "answer_a", "answer_b", "reference"})
"""What the sub-template `turn`, one for each turn so far, may hold."""
PLACEHOLDERS = frozenset(
    {"question", "answer", "answer_a", "answer_b", "reference", "conversation", "rubric", "context"}
) | {f"{name}_{n}" for name in _PER_TURN for n in range(1, _MOST_TURNS + 1)}
"""The closed set of what a template may hold."""
_NUMBERED = re.compile(r"(.+?)_(\d+)")
_ANSWERS = {"grade": {"answer"}, "compare": {"answer_a", "answer_b"}}
"""What a prompt of each kind shows."""

_SET_KEYS = ("name", "version", "title", "language", "fence", "attempts", "scale", "sampling", "references")
_REFERENCE_KEYS = ("required", "if_any")
_TEMPLATE_KEYS = ("kind", "turns", "reference", "verdict", "description", "system", "user", "turn")
_SAMPLING_KEYS = ("temperature", "max_tokens", "top_p", "seed")
FASTCHAT_REFERENCE_CATEGORIES = frozenset({"math", "reasoning", "coding", "arena-hard-200"})
"""Where FastChat's own code uses a template with reference; its prompt file does not say."""


@dataclass(frozen=True, slots=True)
class JudgeTemplate:
    """One prompt of a judge set."""

    name: str
    kind: Kind
    turns: tuple[int, int | None]
    """The first and the last turn that it is for; None: no last one."""
    verdict: str
    """The form in which the verdict is asked for, such as `[[rating]]`."""
    user: Template
    system: Template | None = None
    turn: Template | None = None
    """The sub-template of which `{conversation}` is made, once for each turn so far."""

    @property
    def reference(self) -> bool:
        """Whether the judge is shown a reference answer."""
        return bool({"reference", "ref_answer"} & self.fields)

    @property
    def names(self) -> frozenset[str]:
        """All placeholders that occur."""
        parts = (self.user, self.system, self.turn)
        return frozenset().union(*(part.names for part in parts if part is not None))

    @property
    def fields(self) -> frozenset[str]:
        """All placeholders that occur, without the number of a turn."""
        return frozenset(found[1] if (found := _NUMBERED.fullmatch(name)) else name for name in self.names)

    def fits(self, turn: int) -> bool:
        """Return whether the template is for that turn."""
        first, last = self.turns
        return turn >= first and (last is None or turn <= last)


@dataclass(frozen=True, slots=True)
class JudgeSet:
    """A judge set, read and checked."""

    name: str
    version: str
    path: pathlib.Path
    templates: Mapping[str, JudgeTemplate]
    required: frozenset[str] = frozenset()
    """Categories that are judged with a reference; a question without one is an error."""
    if_any: frozenset[str] = frozenset()
    """Categories that are judged with a reference if the benchmark has any for them."""
    fence: bool = True
    attempts: int = 1
    """Calls to make until the judge gives a verdict."""
    scale: tuple[float, float] = (1, 10)
    sampling: Sampling = field(default_factory=Sampling)
    title: str = ""
    language: str = "en"
    contents: Mapping[str, str] = field(default_factory=dict)
    """For each template, the hash of everything in the set that shapes its prompt and its verdict."""

    def choose(self, kind: Kind, turn: int, *, reference: bool) -> JudgeTemplate | None:
        """Return the template for matches of that kind and turn, with or without reference; None if there is none."""
        for template in self.templates.values():
            if template.kind == kind and template.reference == reference and template.fits(turn):
                return template
        return None


def load_judge_set(name: str = "mt_bench", bench_folder: pathlib.Path | None = None) -> JudgeSet:
    """Return the judge set of that name.

    `name` is a path (a folder, or a FastChat prompt file), else a name looked for in the benchmark's folder, then among
    the shipped ones.

    Raises:
        UsageError: there is none; the message lists the shipped ones.
        DataError: a file of the set is not what it must be.
    """
    places = [pathlib.Path(name)]
    if pathlib.PurePath(name).name == name:
        # A prompt file in the data folder must not take the place of a shipped set of the same name: it comes last.
        places += [bench_folder / name] if bench_folder is not None else []
        places.append(shipped("judge_prompts") / name)
        places += [bench_folder.parent / name] if bench_folder is not None else []
    for place in places:
        if place.is_file():
            return _from_fastchat(place)
        if (place / "judge_set.toml").is_file():
            return _from_folder(place)
        if (place / "judge_prompts.jsonl").is_file():
            return _from_fastchat(place / "judge_prompts.jsonl", place.name)
    known = sorted(path.parent.name for path in shipped("judge_prompts").glob("*/judge_set.toml"))
    raise UsageError(
        f"no judge set {name!r}; {nearest(name, known)} (or give the path of a folder or of a judge_prompts.jsonl)"
    )


def _from_folder(folder: pathlib.Path) -> JudgeSet:
    path = folder / "judge_set.toml"
    table = read_toml(path)
    _check_keys(table, _SET_KEYS, path)
    references = _table(table, "references", _REFERENCE_KEYS, path)
    sampling = _sampling(_table(table, "sampling", _SAMPLING_KEYS, path), path)
    scale = table.get("scale", [1, 10])
    if not (isinstance(scale, list) and len(scale) == 2 and all(_is_number(v) for v in scale) and scale[0] < scale[1]):
        raise DataError(f"scale must be [least, greatest], this is {scale!r}", path=path)
    attempts = table.get("attempts", 1)
    if not isinstance(attempts, int) or isinstance(attempts, bool) or not 1 <= attempts <= 20:
        raise DataError(f"attempts must be a whole number from 1 to 20, this is {attempts!r}", path=path)
    fence = table.get("fence", True)
    if not isinstance(fence, bool):
        raise DataError(f"fence must be true or false, this is {fence!r}", path=path)
    templates = {f.stem: _template(f) for f in sorted(folder.glob("*.toml")) if f.name != "judge_set.toml"}
    if not templates:
        raise DataError("the set has no templates: put one TOML file for each beside it", path=path)
    name = _text(table, "name", path, folder.name)
    if not name.strip():
        raise DataError("name is empty", path=path)
    shaping = [name, fence, attempts, [float(v) for v in scale]]
    return JudgeSet(
        name=name,
        version=_text(table, "version", path, "1"),
        path=folder,
        templates=templates,
        required=_names(references, "required", path),
        if_any=_names(references, "if_any", path),
        fence=fence,
        attempts=attempts,
        scale=(scale[0], scale[1]),
        sampling=sampling,
        title=_text(table, "title", path, ""),
        language=_text(table, "language", path, "en"),
        contents={key: content_hash(_shape(template), shaping) for key, template in templates.items()},
    )


def _template(path: pathlib.Path) -> JudgeTemplate:
    """Return the template in a file, checked."""
    table = read_toml(path)
    _check_keys(table, _TEMPLATE_KEYS, path)
    kind = table.get("kind")
    if kind not in {"grade", "compare"}:
        raise DataError(f'kind must be "grade" or "compare", this is {kind!r}', path=path)
    turns = {"first": (1, 1), "later": (2, None), "every": (1, None)}.get(str(table.get("turns", "every")))
    if turns is None:
        raise DataError(f'turns must be "first", "later" or "every", this is {table["turns"]!r}', path=path)
    verdict = _text(table, "verdict", path, "[[rating]]" if kind == "grade" else "[[A]]")
    if verdict not in known_formats():
        raise DataError(f"unknown verdict format {verdict!r}; known: {', '.join(known_formats())}", path=path)
    user = _placeholders(table, "user", path, PLACEHOLDERS)
    if user is None:
        raise DataError("the key 'user', the prompt itself, is missing", path=path)
    system = _placeholders(table, "system", path, PLACEHOLDERS)
    turn = _placeholders(table, "turn", path, TURN_PLACEHOLDERS)
    template = JudgeTemplate(path.stem, kind, turns, verdict, user, system, turn)
    told = table.get("reference", template.reference)
    if told is not template.reference:
        raise DataError(
            f"reference is {json.dumps(told)}, but the prompt {'holds' if template.reference else 'does not hold'} one",
            path=path,
        )
    fault = _fault(template)
    if fault:
        raise DataError(fault, path=path)
    return template


def _fault(template: JudgeTemplate) -> str | None:
    """Return what keeps a template from being filled for every turn that it is for; None if nothing does."""
    shown = "conversation" in template.user.names | (template.system.names if template.system else frozenset())
    if shown and template.turn is None:
        return "the prompt holds {conversation}, so the sub-template 'turn' is needed"
    if template.turn is not None and not shown:
        return "the sub-template 'turn' is there, but the prompt holds no {conversation}"
    needed = _ANSWERS[template.kind]
    if template.fields & {"answer", "answer_a", "answer_b"} != needed:
        names = " and ".join(f"{{{name}}}" for name in sorted(needed))
        return f"a prompt to {template.kind} must hold {names} and no other answer"
    if (template.verdict == "[[rating]]") != (template.kind == "grade"):
        return f"the verdict {template.verdict} is not one to {template.kind} with"
    first = template.turns[0]
    late = [name for name in sorted(template.names) if (found := _NUMBERED.fullmatch(name)) and int(found[2]) > first]
    return f"{{{late[0]}}} is not there yet at turn {first}, which the template is for too" if late else None


def _shape(template: JudgeTemplate) -> list[Any]:
    """Return what shapes a template's prompts and verdicts, for its hash."""
    parts = (template.user, template.system, template.turn)
    return [template.verdict, *(part and part.pieces for part in parts)]


def _placeholders(table: Mapping[str, Any], key: str, path: pathlib.Path, known: frozenset[str]) -> Template | None:
    text = _text(table, key, path, "")
    text = text if key == "turn" else text.strip("\n")
    if not text.strip():
        return None
    try:
        return Template.parse(text, known)
    except ValueError as error:
        plain = sorted(name for name in known if not name[-1].isdigit())
        hint = nearest(str(error), plain)
        raise DataError(
            f"{key} holds the unknown placeholder {{{error}}}; {hint} (write {{{{ and }}}} for braces)", path=path
        ) from None


def _from_fastchat(path: pathlib.Path, folder: str = "") -> JudgeSet:
    """Return the judge set that a FastChat `judge_prompts.jsonl` makes, named after its folder or else itself.

    The file carries no rule: its `type` gives the mode, slots for reference answers make a template one with reference,
    and `-multi-turn` in the name makes it turn 2's. Its `category` field is not to be trusted and is not read.
    """
    templates: dict[str, JudgeTemplate] = {}
    for line, row in read_rows(path, whole=True):
        try:
            template = _fastchat_template(row)
        except ValueError as error:
            raise DataError(str(error), path=path, line=line) from None
        if template.name in templates:
            raise DataError(f"the name {template.name!r} stands twice", path=path, line=line)
        templates[template.name] = template
    if not templates:
        raise DataError("holds no judge prompt", path=path)
    contents = {name: content_hash(_shape(template)) for name, template in templates.items()}
    return JudgeSet(
        name=next(name for name in (folder, path.stem, "judge_prompts") if name and name != OWN_JUDGE_SET),
        version=content_hash(sorted(contents.items()))[:8],
        path=path,
        templates=templates,
        required=FASTCHAT_REFERENCE_CATEGORIES,
        fence=False,
        sampling=Sampling(temperature=0.0, max_tokens=2048),
        contents=contents,
    )


def _fastchat_template(row: Mapping[str, Any]) -> JudgeTemplate:
    """Return the template on a line of FastChat's file, or raise `ValueError` that says what is wrong with it."""
    for key in ("name", "type", "prompt_template", "output_format"):
        if not isinstance(row.get(key), str):
            raise ValueError(f"the field {key!r} of a judge prompt must be a text")
    kinds: dict[str, Kind] = {"single": "grade", "pairwise": "compare"}
    if row["type"] not in kinds:
        raise ValueError(f"type must be single or pairwise, this is {row['type']!r}")
    if row["output_format"] not in known_formats():
        raise ValueError(f"unknown output_format {row['output_format']!r}; known: {', '.join(known_formats())}")
    try:
        user = Template.parse_format(row["prompt_template"], PLACEHOLDERS)
    except ValueError as error:
        raise ValueError(f"prompt_template: unknown placeholder or unmatched brace: {error}") from None
    system = row.get("system_prompt") or None
    if not isinstance(system, str | None):
        raise ValueError("system_prompt must be a text")
    turns = (2, 2) if "-multi-turn" in row["name"] else (1, 1)
    literal = Template(((system, None),)) if system else None
    template = JudgeTemplate(row["name"], kinds[row["type"]], turns, row["output_format"], user, literal)
    fault = _fault(template)
    if fault:
        raise ValueError(f"prompt_template: {fault}")
    return template


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], path: pathlib.Path, where: str = "") -> None:
    for key in table:
        if key not in known:
            raise DataError(f"unknown key {where + key!r}; {nearest(key, list(known))}", path=path)


def _table(table: Mapping[str, Any], key: str, known: tuple[str, ...], path: pathlib.Path) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise DataError(f"{key} must be a table, this is {value!r}", path=path)
    _check_keys(value, known, path, f"{key}.")
    return value


def _text(table: Mapping[str, Any], key: str, path: pathlib.Path, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise DataError(f"{key} must be a text, this is {value!r}", path=path)
    return value


def _names(table: Mapping[str, Any], key: str, path: pathlib.Path) -> frozenset[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise DataError(f"references.{key} must be a list of categories, this is {value!r}", path=path)
    return frozenset(value)


def _sampling(table: dict[str, Any], path: pathlib.Path) -> Sampling:
    for key, value in table.items():
        if not _is_number(value) or value < 0:
            raise DataError(f"sampling.{key} must be a number from 0, this is {value!r}", path=path)
        if key in {"max_tokens", "seed"} and not isinstance(value, int):
            raise DataError(f"sampling.{key} must be a whole number, this is {value!r}", path=path)
    real: dict[str, Any] = {
        key: float(value) if key in {"temperature", "top_p"} else value for key, value in table.items()
    }
    return Sampling(**real)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
