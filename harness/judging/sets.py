"""Judge sets: prompt templates, criteria, and the rule that picks them for a question and turn.

A set is a folder of TOML, `judge_set.toml` and one file a template (`judge_prompts/README.md` is
the manual), or one file of another project. `load` finds it, follows what it extends, checks it.
"""

import functools
import json
import pathlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from harness import registry, store
from harness.bench import shipped
from harness.errors import DataError, UsageError
from harness.judging.forms import BY_LOGPROBS, FORMATS, SCALE_WORDS, Form, Kind, Scale
from harness.judging.templates import Template, UnknownPlaceholderError
from harness.types import Mode, Question, Sampling, content_hash

Order: TypeAlias = Literal["both", "random", "as_given"]
Turns: TypeAlias = Literal["first", "later", "every", "last"]
AnyTurns: TypeAlias = Literal["first", "later", "every", "last", "second"]
"""`second` comes only from FastChat's files."""
Filled: TypeAlias = Annotated[str, Meta(min_length=1, pattern=r"\S")]
Numbers: TypeAlias = tuple[int | float, int | float]
"""A scale as it is written: whole numbers stay whole, since rows repeat them."""
Step: TypeAlias = Annotated[float, Meta(gt=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]

ANY = "*"
"""In a list of categories: every one."""
DEFAULT = "default"
"""In the table of categories: those without an entry of their own."""
OWN_TEXTS = ("rubric", "context")
"""Placeholders that a question's fields may fill."""
FILE = "judge_set.toml"

_PER_TURN = ("question", "answer", "answer_a", "answer_b", "ref_answer")
_TURN_NAMES = frozenset({"turn", "question", "answer", "answer_a", "answer_b", "reference"})
_NAMES = SCALE_WORDS | frozenset(
    {"question", "answer", "answer_a", "answer_b", "reference", "conversation", "criterion"}
    | {"steps", "rubric", "context", "checks", "system", "checklist"}
)
PLACEHOLDERS = _NAMES | {f"{name}_{n}" for name in _PER_TURN for n in range(1, 21)}


# What people write


class Wording(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A criterion's text in a prompt."""

    definition: str = ""
    """What it asks: `{criterion}` in a template."""
    steps: str = ""
    """How to go about it: `{steps}`."""
    rubric: str = ""
    """What earns which grade: `{rubric}`, before a question's own."""


class CategoryWording(Wording, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A criterion in one category; what is empty is as usual."""

    turns: Turns | None = None


class Criterion(Wording, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A criterion; each gives a judgment of its own."""

    scale: Numbers | None = None
    categories: frozenset[Filled] = frozenset()
    """Categories that it is for in addition to the set's table."""
    by_category: dict[str, CategoryWording] = {}
    turns: Turns = "every"
    default: bool = True
    """Whether it is used without being named."""
    reference: bool = True
    """Whether the judge may be shown a reference answer for it."""

    def is_for(self, question: Question, turn: int) -> bool:
        """Return whether a turn of a question is among the criterion's turns."""
        own = self.by_category.get(question.category, CategoryWording())
        return fits(own.turns or self.turns, turn, len(question.turns))

    def words(self, category: str) -> Wording:
        """Return the texts for a question of a category."""
        own = self.by_category.get(category, CategoryWording())
        names = ("definition", "steps", "rubric")
        texts = {name: getattr(own, name) or getattr(self, name) for name in names}
        return Wording(**{name: text.strip("\n") for name, text in texts.items()})


class References(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Categories, by whether they are judged with a reference answer."""

    required: frozenset[Filled] = frozenset()
    """With one; a question without one is an error."""
    if_any: frozenset[Filled] = frozenset()
    """With one if the benchmark has any for them."""
    never: frozenset[Filled] = frozenset()
    """Without a reference or note, in spite of the other two."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of `judge_set.toml`."""

    name: Annotated[str, Meta(pattern=r"^[^#@]*[^#@\s][^#@]*$")] = ""
    """A text without # and @, which separate parts of file names."""
    version: str = ""
    title: str = ""
    language: str = "en"
    extends: str = ""
    fence: bool = True
    """Whether answers stand between marker lines that they cannot contain."""
    attempts: Annotated[int, Meta(ge=1, le=20)] = 1
    """Calls to make until the judge gives a verdict."""
    scale: Numbers = (1, 10)
    step: Step | None = None
    sampling: Sampling = Sampling()
    references: References = References()
    criteria: dict[str, Criterion] = {}
    categories: dict[str, list[Filled]] = {}
    """The criteria of each category, and of all others under `default`; empty: all everywhere."""
    turns: Turns = "every"
    order: Order = "both"
    order_seed: Annotated[int, Meta(ge=0)] = 0
    mode: Mode | None = None
    baseline: Filled | None = None
    board: Literal["win_rate", "length_controlled_winrate"] | None = None
    """The column by which a board of the set ranks models."""
    judge: Filled | None = None
    """The judge that published numbers of the set are by."""
    compatible: bool = False
    aggregate: Literal["mean", "min", "last"] | None = None
    """How the grades of a conversation's turns are combined."""
    rubric: str = ""
    labels: dict[Filled, Share] = {}


class TemplateFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a template's file."""

    kind: Kind
    user: Filled
    system: str = ""
    turn: str = ""
    """The sub-template of which `{conversation}` is made, once for each turn so far."""
    turns: Turns = "every"
    reference: bool | None = None
    verdict: str = ""
    description: str = ""
    questions: dict[str, Any] = {}
    """The questions that it is for: by field, a value or the values it may have."""
    dimensions: tuple[Filled, ...] = ()
    total: str = ""
    score_method: Literal["text", "logprobs"] = "text"
    top_logprobs: Annotated[int, Meta(ge=1, le=20)] = 20
    sides: tuple[Filled, Filled] | None = None
    schema: dict[str, Any] | None = None
    """The JSON schema of the reply; a property that is "scale" becomes the scale's values."""


# What a set is, once read


class JudgeTemplate(Struct, frozen=True, kw_only=True, dict=True):
    """One prompt of a judge set."""

    name: str
    form: Form
    user: Template
    turns: AnyTurns = "every"
    system: Template | None = None
    turn: Template | None = None
    questions: Mapping[str, tuple[Any, ...]] = {}
    top_logprobs: int = 20

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """All placeholders that occur."""
        parts = [part for part in (self.user, self.system, self.turn) if part is not None]
        return frozenset().union(*(part.names for part in parts))

    @functools.cached_property
    def fields(self) -> frozenset[str]:
        """All placeholders that occur, without the number of a turn."""
        return frozenset(re.sub(r"_\d+$", "", name) for name in self.names)

    @property
    def reference(self) -> bool:
        """Whether the judge is shown a reference answer."""
        return bool({"reference", "ref_answer"} & self.fields)

    @property
    def compares(self) -> bool:
        """Whether it shows two answers."""
        return self.form.kind == "compare"

    def on(self, scale: Scale, language: str) -> "JudgeTemplate":
        """Return the template with a scale's words in its prompt, its values in the schema."""
        words = scale.words(language)
        made = replace(self, form=replace(self.form, scale=scale, schema=self._schema(scale)))
        if not words.keys() & self.names:
            return made
        parts = {part: getattr(self, part) for part in ("user", "system", "turn")}
        return replace(
            made, **{name: part.bound(words) for name, part in parts.items() if part is not None}
        )

    def _schema(self, scale: Scale) -> Mapping[str, Any] | None:
        schema = self.form.schema
        if schema is None or "scale" not in schema.get("properties", {}).values():
            return schema
        properties = {
            name: scale.schema() if member == "scale" else member
            for name, member in schema["properties"].items()
        }
        return {**schema, "properties": properties}


class JudgeSet(Settings, frozen=True, kw_only=True):
    """A judge set, read and checked: its settings with those of its bases, and its templates.

    This is what the loader of another project's file (registry kind `judge_file`) returns:
    `made(path, Settings(...), [JudgeTemplate(...), ...])`.
    """

    path: pathlib.Path
    templates: dict[str, JudgeTemplate]
    chosen: tuple[str, ...] = ()
    """The requested criteria; empty: the set's default ones."""
    bases: tuple[str, ...] = ()
    """The sets that it was made from, the nearest first."""
    contents: dict[str, str] = {}
    """For each template, the hash of everything in the set that shapes prompt and verdict."""

    def choose(
        self,
        compare: bool,
        question: Question,
        turn: int,
        *,
        reference: bool,
        criterion: str | None,
    ) -> JudgeTemplate | None:
        """Return the template for a match; None: there is none.

        Of several, one that shows no text which the question lacks comes first, then one for
        certain questions, then one that shows a rubric or context; then the order of their names.
        """
        fitting = [
            template
            for template in self.templates.values()
            if template.compares == compare
            and template.reference == reference
            and fits(template.turns, turn, len(question.turns))
            and passes(template.questions, question)
        ]

        def rank(template: JudgeTemplate) -> tuple[bool, ...]:
            own = [self.own_text(n, question, criterion) for n in OWN_TEXTS if n in template.fields]
            return None not in own, bool(template.questions), bool(own)

        found = max(fitting, key=rank, default=None)
        return None if found is None else found.on(self.scale_of(criterion), self.language)

    def scale_of(self, criterion: str | None) -> Scale:
        """Return the scale of a criterion's grades."""
        own = self.criteria[criterion].scale if criterion is not None else None
        return Scale(*self.scale, self.step) if own is None else Scale(*own)

    def own_text(self, name: str, question: Question, criterion: str | None) -> str | None:
        """Return a question's rubric or context: the criterion's, its own, else the set's."""
        if name == "rubric" and criterion is not None:
            rubric = self.criteria[criterion].words(question.category).rubric
            if rubric:
                return rubric
        value = question.extra.get(name)
        if isinstance(value, str) and value.strip():
            return value
        return (self.rubric.strip("\n") or None) if name == "rubric" else None

    def is_for(self, question: Question, turn: int) -> bool:
        """Return whether the set judges this turn of this question at all."""
        kinds = {one.form.kind for one in self.templates.values()}
        if kinds == {"checklist"} and not any(question.checklist[turn - 1 : turn]):
            return False
        return fits(self.turns, turn, len(question.turns))

    def criteria_of(self, question: Question, turn: int) -> tuple[str | None, ...]:
        """Return the criteria by which a turn is judged; `(None,)` if the set knows none."""
        if not self.is_for(question, turn):
            return ()
        if self.chosen:
            return tuple(n for n in self.chosen if self.criteria[n].is_for(question, turn))
        usual = {name: one for name, one in self.criteria.items() if one.default}
        if not usual:
            return (None,)
        category = question.category
        listed = self.categories.get(category, self.categories.get(DEFAULT, []))
        return tuple(
            name
            for name, one in usual.items()
            if one.is_for(question, turn)
            and (
                name in listed
                or {category, ANY} & one.categories
                or not (self.categories or one.categories)
            )
        )

    def games(self, question: Question, turn: int, sample: int) -> tuple[Literal[1, 2], ...]:
        """Return the games of a pair: both, or the one that the set's order gives.

        With `random`, AlpacaEval's choice: `Random("is_switched_outputs" + text + seed)` picks from
        [False, True]; its reference is our second model. Each sample has the next seed.
        """
        if self.order == "both":
            return (1, 2)
        if self.order == "as_given":
            return (1,)
        text = f"is_switched_outputs{question.turns[turn - 1]}{self.order_seed + sample}"
        return (1,) if random.Random(text).choices([False, True], k=1)[0] else (2,)

    def by(self, names: Sequence[str]) -> "JudgeSet":
        """Return the set judging by these criteria only; by its default ones if none is named.

        Raises:
            UsageError: it has no such criterion.
        """
        for name in names:
            if name not in self.criteria:
                near = _near(name, self.criteria)
                raise UsageError(f"the judge set {self.name} has no criterion {name!r}{near}")
        return replace(self, chosen=tuple(dict.fromkeys(names)))

    def for_categories(self, table: Mapping[str, Sequence[str]]) -> "JudgeSet":
        """Return the set judging each of these categories by these criteria, and no other category.

        Raises:
            UsageError: it has no such criterion.
        """
        named = {name for names in table.values() for name in names}
        self.by(sorted(named))
        criteria = {
            name: replace(one, categories=frozenset(), default=name in named)
            for name, one in self.criteria.items()
        }
        return replace(self, criteria=criteria, categories={k: list(v) for k, v in table.items()})

    def without_references(self) -> "JudgeSet":
        """Return the set judging without references and notes."""
        return replace(self, references=References(never=frozenset({ANY})))

    def shows_notes(self, category: str) -> bool:
        """Return whether references and notes are shown at all."""
        return not {category, ANY} & self.references.never

    def shows_reference(self, category: str, *, present: bool) -> bool:
        """Return whether a category is judged with a reference; `present`: there are some."""
        either = {category, ANY}
        shown = either & self.references.required or (present and either & self.references.if_any)
        return bool(shown) and self.shows_notes(category)


def fits(turns: AnyTurns, turn: int, count: int) -> bool:
    """Return whether something with these turns is for one of a question's `count` turns."""
    return {
        "first": turn == 1,
        "second": turn == 2,
        "later": turn >= 2,
        "every": True,
        "last": turn == count,
    }[turns]


def passes(wanted: Mapping[str, tuple[Any, ...]], question: Question) -> bool:
    """Return whether a question is among those that a filter lets through."""
    return all(
        (question.category if name == "category" else question.extra.get(name)) in values
        for name, values in wanted.items()
    )


def filter_of(table: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return a table of values, or lists of values, as a filter of questions."""
    return {
        name: tuple(value) if isinstance(value, list) else (value,) for name, value in table.items()
    }


# Finding and reading


class _Written(Struct):
    """A set of TOML as written, with what it inherits."""

    settings: dict[str, Any]
    templates: dict[str, JudgeTemplate]
    bases: tuple[str, ...] = ()


def load(
    name: str = "mt_bench",
    bench_folder: pathlib.Path | None = None,
    data_dir: pathlib.Path | None = None,
) -> JudgeSet:
    """Return the judge set of a name or path.

    `name` is a path (a folder, or a file of FastChat, ColossalAI or AlpacaEval), else looked for in
    the benchmark's folder, among the shipped sets, and in the data folder.

    Raises:
        UsageError: there is none; the near names are in the message.
        DataError: a file of the set is wrong; file, key and the nearest known key are named.
    """
    for place in _places(name, bench_folder, data_dir or (bench_folder and bench_folder.parent)):
        found = _at(place, bench_folder, ())
        if found is not None:
            return found if isinstance(found, JudgeSet) else _finished(place, found)
    if pathlib.Path(name).is_dir():
        raise UsageError(f"{name}: not a judge set: the folder has no {FILE}")
    raise UsageError(
        f"no judge set {name!r}{_near(name, shipped_sets())} "
        "(or give the path of a folder or of a judge_prompts.jsonl)"
    )


load_judge_set = load
"""The name of `load` where the room is not named: `harness.load_judge_set`."""


def shipped_sets() -> list[str]:
    """Return the names of the judge sets that are shipped."""
    return sorted(path.parent.name for path in shipped("judge_prompts").glob(f"*/{FILE}"))


def _places(
    name: str, bench_folder: pathlib.Path | None, data_dir: pathlib.Path | None
) -> Iterator[pathlib.Path]:
    yield pathlib.Path(name)
    if pathlib.PurePath(name).name == name:
        for home in (bench_folder, shipped("judge_prompts"), data_dir):
            if home is not None:
                yield home / name


_OTHERS = {
    "judge_prompts.jsonl": "fastchat",
    "configs.yaml": "alpaca_eval",
    ".jsonl": "fastchat",
    ".json": "colossalai",
    ".yaml": "alpaca_eval",
    ".yml": "alpaca_eval",
}
"""By name or suffix, the registry's name for the loader of another project's file."""


def _at(
    place: pathlib.Path, bench_folder: pathlib.Path | None, seen: tuple[pathlib.Path, ...]
) -> "_Written | JudgeSet | None":
    """Return the set at a place; None: there is none."""
    try:
        if (place / FILE).is_file():
            return _written(place, bench_folder, (*seen, place.resolve()))
        files = [place, *(place / name for name in _OTHERS if not name.startswith("."))]
        path = next((file for file in files if file.is_file()), None)
    except OSError:  # a text that cannot be a path
        return None
    if path is None:
        return None
    loader = registry.find("judge_file", _OTHERS.get(path.suffix.lower(), "fastchat"))
    loaded: JudgeSet = loader(path)
    if place.is_dir() and path.suffix == ".jsonl" and place.name != "mt_bench":
        return replace(loaded, name=place.name)  # whose file name says nothing
    return loaded


def _written(
    folder: pathlib.Path, bench_folder: pathlib.Path | None, seen: tuple[pathlib.Path, ...]
) -> _Written:
    path = folder / FILE
    settings: dict[str, Any] = store.read_toml(path, dict[str, Any])
    own = store.convert(settings, Settings, path)
    settings.setdefault("name", folder.name)
    files = sorted(file for file in folder.glob("*.toml") if file.name != FILE)
    templates = {file.stem: template_from_file(file) for file in files}
    if not own.extends:
        return _Written(settings, templates)
    data_dir = bench_folder and bench_folder.parent
    for place in (folder / own.extends, *_places(own.extends, bench_folder, data_dir)):
        if place.resolve() == seen[-1] and pathlib.PurePath(own.extends).name == own.extends:
            continue  # a set of the same name as the one that it extends: look further
        if place.resolve() in seen:
            chain = " > ".join(one.name for one in (*seen, place))
            raise DataError(f"extends is circular: {chain}", path)
        base = _at(place, bench_folder, seen)
        if isinstance(base, JudgeSet):
            given = {name: getattr(base, name) for name in Settings.__struct_fields__}
            base = _Written(msgspec.to_builtins(given), base.templates, base.bases)
        if base is not None:
            whole = {"labels"} & settings.keys()
            left = {"name", "version", "title", "extends", *whole}
            inherited = {key: value for key, value in base.settings.items() if key not in left}
            return _Written(
                _merged(inherited, settings),
                {**base.templates, **templates},
                (str(base.settings["name"]), *base.bases),
            )
    near = _near(own.extends, shipped_sets())
    raise DataError(f"extends names the judge set {own.extends!r}, which is not there{near}", path)


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return two tables merged key by key; lists, texts and numbers are replaced."""
    merged = dict(base)
    for key, value in own.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _finished(place: pathlib.Path, found: _Written) -> JudgeSet:
    settings = store.convert(found.settings, Settings, place / FILE)
    return made(place, settings, list(found.templates.values()), found.bases)


def made(
    path: pathlib.Path,
    settings: Settings,
    templates: Sequence[JudgeTemplate],
    bases: tuple[str, ...] = (),
    contents: Mapping[str, str] | None = None,
) -> JudgeSet:
    """Return the judge set of some settings and templates, checked against each other.

    `contents` are the templates' hashes where they are not to be computed. Without a version, the
    set has "1".

    Raises:
        DataError: they do not fit together.
    """
    where = path / FILE if path.is_dir() else path
    if not templates:
        raise DataError("the set has no templates: put one TOML file for each beside it", where)
    usual = Scale(*settings.scale, settings.step)
    bound = {}
    for template in sorted(templates, key=lambda one: one.name):
        form = replace(template.form, scale=usual, compatible=settings.compatible)
        if form.kind == "label":
            if len(settings.labels) < 2:
                raise DataError(
                    f"the template {template.name} asks for a label: the table 'labels' "
                    "(label = share) needs two or more",
                    where,
                )
            form = replace(form, labels=settings.labels)
        bound[template.name] = replace(template, form=form)
    values: dict[str, Any] = {name: getattr(settings, name) for name in Settings.__struct_fields__}
    values["version"] = settings.version or "1"
    values["mode"] = settings.mode or ("pairwise-baseline" if settings.baseline else None)
    judge_set = JudgeSet(**values, path=path, templates=bound, bases=bases)
    _check(judge_set, where)
    hashes = contents or {name: _content(judge_set, one) for name, one in bound.items()}
    return replace(judge_set, contents=dict(hashes))


def _content(judge_set: JudgeSet, template: JudgeTemplate) -> str:
    """Return the hash of what shapes a template's prompts and verdicts."""
    usual = Scale(*judge_set.scale, judge_set.step)
    shaping: list[Any] = [judge_set.name, judge_set.fence, judge_set.attempts]
    shaping.append([float(value) for value in judge_set.scale])
    shaping += [] if judge_set.step is None else [judge_set.step]
    return content_hash(shape(template.on(usual, judge_set.language)), shaping)


def shape(template: JudgeTemplate) -> list[Any]:
    """Return what shapes a template's prompts and verdicts apart from its set, for its hash."""
    parts = (template.user, template.system, template.turn)
    form = template.form
    plain = [form.format, *(part and [list(piece) for piece in part.pieces] for part in parts)]
    more: dict[str, Any] = {
        "kind": "" if form.kind in ("grade", "compare") else form.kind,
        "labels": dict(form.labels) if form.kind == "label" else {},
        "dimensions": form.dimensions,
        "total": form.total,
        "score_method": ["logprobs", template.top_logprobs] if form.by_logprobs else "",
        "sides": "" if form.sides == ("A", "B") else form.sides,
        "patterns": form.patterns,
        "compatible": form.compatible and form.by_logprobs,
    }
    # Rows hold these hashes: what is not stated is left out, so that they stay as they are.
    stated = {key: value for key, value in more.items() if value}
    return [*plain, stated] if stated else plain


def template_from_file(path: pathlib.Path) -> JudgeTemplate:
    """Return the template in a TOML file; its scale and perhaps its labels are the set's.

    Raises:
        DataError: something in it is wrong.
    """
    file = store.read_toml(path, TemplateFile)
    form = Form(
        format=file.verdict or next(name for name, of in FORMATS.items() if file.kind in of),
        kind=file.kind,
        dimensions=file.dimensions,
        total=file.total.strip() or None,
        by_logprobs=file.score_method == "logprobs",
        sides=file.sides or ("A", "B"),
        schema=file.schema,
    )
    template = JudgeTemplate(
        name=path.stem,
        form=form,
        turns=file.turns,
        user=_parsed(file.user.strip("\n"), PLACEHOLDERS, "user", path),
        system=_parsed(file.system.strip("\n"), PLACEHOLDERS, "system", path)
        if file.system.strip()
        else None,
        turn=_parsed(file.turn, _TURN_NAMES, "turn", path) if file.turn.strip() else None,
        questions=filter_of(file.questions),
        top_logprobs=file.top_logprobs,
    )
    if file.reference not in (None, template.reference):
        shown = "shows one" if template.reference else "shows none"
        raise DataError(f"reference is {json.dumps(file.reference)}, but the prompt {shown}", path)
    if fault := _form_fault(form, file) or prompt_fault(template):
        raise DataError(fault, path)
    return template


def _parsed(text: str, known: frozenset[str], key: str, path: pathlib.Path) -> Template:
    try:
        return Template.parse(text, known)
    except UnknownPlaceholderError as error:
        name = str(error)
        near = _near(name, known & (_NAMES | _TURN_NAMES))
        advice = "write {{ and }} for braces"
        raise DataError(f"{key}: unknown placeholder {{{name}}}{near} ({advice})", path) from None


def _form_fault(form: Form, file: TemplateFile) -> str | None:
    """Return what in a verdict does not go with the rest of it."""
    such = [name for name, kinds in FORMATS.items() if form.kind in kinds]
    if form.format not in such:
        return f"verdict: {form.format!r} cannot {form.kind}; these can: {', '.join(such)}"
    owners = {"dimensions": "dimensions", "total": "dimensions", "sides": "compare"}
    for key, kind in owners.items():
        if getattr(file, key) and form.kind != kind:
            return f'{key}: only templates of the kind "{kind}" have it'
    if form.kind == "dimensions" and not form.dimensions:
        return "dimensions: the list of their names is missing"
    if form.total is not None and form.total not in form.dimensions:
        return f"total: {form.total!r} is no dimension{_near(form.total, form.dimensions)}"
    if form.by_logprobs and form.format not in BY_LOGPROBS:
        return f"score_method: only {' and '.join(BY_LOGPROBS)} can be weighed by logprobs"
    return None


def prompt_fault(template: JudgeTemplate) -> str | None:
    """Return what keeps a template from being filled at every turn that it is for."""
    parts = [part for part in (template.user, template.system) if part is not None]
    if any("conversation" in part.names for part in parts) != (template.turn is not None):
        return "{conversation} and the sub-template 'turn' go together; one is missing"
    if template.names == {"context"} and not template.compares:
        return None  # a judge's whole input as it was assembled elsewhere, the answer in it
    needed = {"answer_a", "answer_b"} if template.compares else {"answer"}
    if template.fields & {"answer", "answer_a", "answer_b"} != needed:
        shown = " and ".join(f"{{{name}}}" for name in sorted(needed))
        return f"a prompt to {template.form.kind} must show {shown} and no other answer"
    if template.form.kind == "checklist" and "checklist" not in template.names:
        return "a prompt of the kind checklist must show {checklist}"
    first = 2 if template.turns in ("second", "later") else 1
    for name in sorted(template.names):
        number = name.rpartition("_")[2]
        if number.isdigit() and int(number) > first:
            return f"{{{name}}} is not there at turn {first}, for which the template is too"
    return None


def _check(judge_set: JudgeSet, path: pathlib.Path) -> None:
    """Raise `DataError` unless scales, criteria and categories fit together."""
    scales = {"": Scale(*judge_set.scale, judge_set.step)}
    scales |= {f"criteria.{name}.": judge_set.scale_of(name) for name in judge_set.criteria}
    for where, scale in scales.items():
        if not scale.least < scale.greatest or scale.least <= -1 <= scale.greatest:
            wanted = "[least, greatest], without -1, which means no verdict in files"
            raise DataError(f"{where}scale must be {wanted}", path)
        if not scale.divided():
            ends = f"{scale.least:g}-{scale.greatest:g}"
            raise DataError(f"{where}step must divide the scale {ends}", path)
    for category, names in judge_set.categories.items():
        for name in names:
            if name not in judge_set.criteria:
                near = _near(name, judge_set.criteria)
                raise DataError(f"categories.{category}: no criterion {name!r}{near}", path)
    if judge_set.categories and DEFAULT not in judge_set.categories:
        advice = "it says which criteria every other category has; an empty list leaves those out"
        raise DataError(f"categories.{DEFAULT} is missing: {advice}", path)
    listed = {name for names in judge_set.categories.values() for name in names}
    for name, one in judge_set.criteria.items():
        if judge_set.categories and one.default and not one.categories and name not in listed:
            raise DataError(f"criteria.{name} is for no category: name it in 'categories'", path)
    for template in judge_set.templates.values():
        if "steps" in template.fields and not judge_set.criteria:
            raise DataError(f"{template.name} shows {{steps}}, but there are no criteria", path)
    if len({label.casefold() for label in judge_set.labels}) < len(judge_set.labels):
        raise DataError("labels: two differ in capital letters only", path)


def _near(name: str, known: Any) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 3, 0.5)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; there are {', '.join(sorted(known))}" if known else "; there are none"
