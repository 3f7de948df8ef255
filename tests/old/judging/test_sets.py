"""Judge sets: the shipped one, FastChat's prompt file, and a clear line for everything that can be wrong in one."""

import json
import pathlib
import re
from typing import Any

import pytest

from harness.old.bench import shipped
from harness.old.errors import DataError, UsageError
from harness.old.judging.sets import JudgeSet, load_judge_set
from harness.old.records import Question, Sampling

GRADE = 'kind = "grade"\nuser = "Grade {answer} to {question}."\n'
COMPARE = 'kind = "compare"\nuser = "Compare {answer_a} and {answer_b}."\n'
CONVERSATION = 'kind = "grade"\nuser = "See {conversation}"\nturn = "{question}: {answer}"\n'
EIGHT = {
    "pair-math-v1",
    "pair-math-v1-multi-turn",
    "pair-v2",
    "pair-v2-multi-turn",
    "single-math-v1",
    "single-math-v1-multi-turn",
    "single-v1",
    "single-v1-multi-turn",
}


def folder(path: pathlib.Path, settings: str = "", **templates: str) -> pathlib.Path:
    """Write a judge set and return its folder."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "judge_set.toml").write_text(settings, encoding="utf-8")
    for name, text in templates.items():
        (path / f"{name}.toml").write_text(text, encoding="utf-8")
    return path


def loaded(path: pathlib.Path, settings: str = "", **templates: str) -> JudgeSet:
    return load_judge_set(str(folder(path, settings, **(templates or {"grade": GRADE}))))


def prompts(path: pathlib.Path, *rows: dict[str, Any]) -> pathlib.Path:
    """Write a prompt file in FastChat's format."""
    usual = {"type": "single", "system_prompt": "Be just.", "category": "general", "output_format": "[[rating]]"}
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"name": "single-v1", **usual, "prompt_template": "{question} {answer}", **row}) for row in rows
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# The shipped set.


def test_the_shipped_set_has_the_eight_templates() -> None:
    ours = load_judge_set()
    assert (ours.name, ours.path) == ("mt_bench", shipped("judge_prompts") / "mt_bench")
    assert set(ours.templates) == EIGHT
    assert (ours.fence, ours.attempts, ours.scale) == (True, 1, (1, 10))
    assert ours.references.required | ours.references.if_any == {"math", "reasoning", "coding", "extraction"}
    assert set(ours.contents) == EIGHT
    assert len(set(ours.contents.values())) == 8


def asked(turns: int) -> Question:
    """Return a question of so many turns."""
    return Question(1, "writing", ("?",) * turns)


@pytest.mark.parametrize("kind", ["grade", "compare"])
@pytest.mark.parametrize("turn", [1, 2, 3, 9])
@pytest.mark.parametrize("reference", [False, True])
def test_one_rule_picks_among_the_eight(kind: Any, turn: int, reference: bool) -> None:
    name = "single-math-v1" if reference else "single-v1"
    if kind == "compare":
        name = "pair-math-v1" if reference else "pair-v2"
    chosen = load_judge_set().choose(kind, asked(9), turn, reference=reference)
    assert chosen is not None
    assert chosen.name == (name if turn == 1 else f"{name}-multi-turn")


@pytest.mark.parametrize("name", sorted(EIGHT))
def test_every_shipped_template_asks_for_the_form_that_is_parsed(name: str) -> None:
    template = load_judge_set().templates[name]
    text = "".join(literal for literal, _ in template.user.pieces)
    if template.kind == "grade":
        assert template.verdict == "[[rating]]"
        assert "Rating: [[number]]" in text
    else:
        assert template.verdict == "[[A]]"
        assert all(form in text for form in ("[[A]]", "[[B]]", "[[C]]"))
    assert "between two marker lines" in text


# Where a set is looked for.


def test_a_set_is_found_by_path_then_with_the_benchmark_then_among_the_shipped(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = tmp_path / "data" / "bench"
    inner, outer = folder(bench / "tone", grade=GRADE), folder(tmp_path / "data" / "other", grade=GRADE)
    monkeypatch.chdir(tmp_path)
    assert load_judge_set("tone", bench).path == inner
    assert load_judge_set("other", bench).path == outer
    assert load_judge_set("mt_bench", bench).path == shipped("judge_prompts") / "mt_bench"
    near = folder(tmp_path / "tone", grade=GRADE)
    assert load_judge_set("tone", bench).path.resolve() == near
    assert load_judge_set(str(inner)).path == inner


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("mt_bensh", "no judge set 'mt_bensh'; did you mean 'mt_bench'?", id="near"),
        pytest.param("zzz", r"no judge set 'zzz'; known: .*mt_bench", id="far"),
        pytest.param("../secret", r"no judge set '\.\./secret'", id="a path to nothing"),
        pytest.param("", "no judge set ''", id="empty"),
        pytest.param("x" * 5000, "no judge set", id="long"),
    ],
)
def test_an_unknown_set_is_told_with_the_known_ones(tmp_path: pathlib.Path, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load_judge_set(name, tmp_path / "bench")


def test_a_folder_that_is_no_set_is_named_with_what_it_lacks(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match=r"not a judge set: the folder contains no judge_set\.toml or "):
        load_judge_set(str(tmp_path))


# What a set may say.


def test_a_small_set_has_the_documented_defaults(tmp_path: pathlib.Path) -> None:
    made = loaded(tmp_path / "tone", kindness=CONVERSATION)
    assert (made.name, made.version, made.fence, made.attempts, made.scale) == ("tone", "1", True, 1, (1, 10))
    assert (made.sampling, made.references.required, made.references.if_any) == (Sampling(), frozenset(), frozenset())
    (template,) = made.templates.values()
    assert (template.name, template.verdict, template.turns) == ("kindness", "[[rating]]", "every")
    assert not template.reference


def test_a_step_holds_for_the_sets_scale_and_for_a_criterions_own(tmp_path: pathlib.Path) -> None:
    settings = "scale = [1, 5]\nstep = 0.5\n[criteria.a]\n[criteria.b]\nscale = [0, 1]\n[criteria.c]\nstep = 1"
    made = loaded(tmp_path / "set", settings, grade=GRADE)
    template = made.templates["grade"]
    forms = [made.form(template, name) for name in (None, "a", "b", "c")]
    assert [(form.scale, form.step) for form in forms] == [((1, 5), 0.5), ((1, 5), 0.5), ((0, 1), None), ((1, 5), 1)]


def test_everything_that_a_set_says_is_read(tmp_path: pathlib.Path) -> None:
    settings = """
name = "mine"
version = "7"
title = "Mine"
language = "de"
fence = false
attempts = 3
scale = [0, 1]
sampling = { temperature = 1, max_tokens = 5, top_p = 0.5, seed = 9 }
references = { required = ["math"], if_any = ["stem"] }
"""
    made = loaded(tmp_path / "set", settings)
    assert (made.name, made.version, made.title, made.language) == ("mine", "7", "Mine", "de")
    assert (made.fence, made.attempts, made.scale) == (False, 3, (0, 1))
    assert made.sampling == Sampling(1.0, 5, 0.5, 9)
    assert (made.references.required, made.references.if_any) == (frozenset({"math"}), frozenset({"stem"}))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        pytest.param("name =", "not valid TOML", id="no TOML"),
        pytest.param("fense = true", "unknown key 'fense'; did you mean 'fence'?", id="unknown key"),
        pytest.param("zzz = true", "unknown key 'zzz'; known: name, version", id="far from any key"),
        pytest.param("[references]\nrequire = []", "unknown key 'references.require'", id="unknown key in a table"),
        pytest.param("[sampling]\ntemprature = 1", "did you mean 'temperature'?", id="unknown sampling"),
        pytest.param("[sampling]\ntemperature = 'hot'", "sampling.temperature must be a number", id="no number"),
        pytest.param("[sampling]\ntemperature = nan", "sampling.temperature must be a number", id="nan"),
        pytest.param("[sampling]\ntemperature = -1", "must be a number from 0 to 2", id="below nought"),
        pytest.param("[sampling]\nmax_tokens = 1.5", "sampling.max_tokens must be a whole number", id="half a token"),
        pytest.param("sampling = 1", "sampling must be a table", id="no table"),
        pytest.param("[references]\nrequired = 'math'", "references.required must be a list", id="no list"),
        pytest.param("scale = [10, 1]", "scale must be", id="scale upside down"),
        pytest.param("scale = [1]", "scale must be", id="half a scale"),
        pytest.param("scale = [-5, 5]", "without -1, which means no verdict", id="scale with -1"),
        pytest.param('order = "randm"', 'order must be "both", "random" or "as_given"', id="order"),
        pytest.param("order_seed = -1", "order_seed must be a whole number from 0", id="seed"),
        pytest.param('turns = "second"', 'turns must be "first", "later", "every" or "last"', id="turns"),
        pytest.param("[labels]\nYES = 2", "labels.YES must be the label's share", id="share"),
        pytest.param("[labels]\nYES = 1\nyes = 0", "differ in capital letters only", id="labels alike"),
        pytest.param("questions = 'math'", "questions must be a table", id="questions"),
        pytest.param("criteria = 'a'", "criteria must be a table", id="criteria"),
        pytest.param(
            "[criteria.a]\nstep = ''", "criteria.a.step must be a number above 0 (instructions are 'steps')", id="step"
        ),
        pytest.param("[criteria.a]\nstpe = 1", "unknown key 'criteria.a.stpe'; did you mean 'step'", id="unknown step"),
        pytest.param("step = 0", "step must be a number above 0", id="a step of nought"),
        pytest.param("step = 0.4", "step must divide the scale 1-10, this is 0.4", id="a step that misses the end"),
        pytest.param("[criteria.a]\nscale = [2, 1]", "criteria.a.scale must be", id="a criterion's scale"),
        pytest.param(
            "[criteria.a.by_category.math]\ndefine = ''", "'criteria.a.by_category.math.define'", id="in a category"
        ),
        pytest.param("[criteria.a]\n[categories]\nmath = ['a']", "categories.default is missing", id="no default"),
        pytest.param(
            "[criteria.tone]\n[categories]\ndefault = ['tome']",
            "categories.default names the unknown criterion 'tome'; did you mean 'tone'?",
            id="unknown criterion",
        ),
        pytest.param("[categories]\ndefault = ['a']", "'a'; the set declares none", id="no criteria"),
        pytest.param(
            "[criteria.a]\n[criteria.b]\n[categories]\ndefault = ['a']",
            "criteria.b is for no category",
            id="a criterion for nothing",
        ),
        pytest.param(
            "extends = 'mt_bensh'", "extends names the judge set 'mt_bensh', which does not exist", id="extends"
        ),
        pytest.param("attempts = 0", "attempts must be a whole number from 1 to 20", id="no attempt"),
        pytest.param("attempts = true", "attempts must be a whole number", id="attempts true"),
        pytest.param("fence = 'yes'", "fence must be true or false", id="fence of text"),
        pytest.param("version = 1", "version must be a text in quotes, this is 1", id="version a number"),
        pytest.param("name = ' '", "name must be a text that is not empty", id="empty name"),
        pytest.param("name = 'a#1'", "without # and @, which separate parts of file names", id="name of a sample"),
    ],
)
def test_what_is_wrong_in_the_settings_is_named(tmp_path: pathlib.Path, settings: str, words: str) -> None:
    with pytest.raises(DataError, match=rf"judge_set\.toml(:\d)?: .*{re.escape(words)}"):
        loaded(tmp_path / "set", settings)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        pytest.param("kind", "not valid TOML", id="no TOML"),
        pytest.param(
            'user = "{answer}"',
            """the key 'kind' is missing; it must be "grade", "compare", "label" or "dimensions\"""",
            id="no kind",
        ),
        pytest.param(
            'kind = "grade"',
            "the key 'user' is missing; it must be a text that is not empty: the prompt itself",
            id="no prompt",
        ),
        pytest.param(
            'kind = "grade"\nuser = "\\n "', "user must be a text that is not empty: the prompt itself", id="blank"
        ),
        pytest.param(GRADE + 'turn_ = "x"', "unknown key 'turn_'; did you mean 'turn'?", id="unknown key"),
        pytest.param(GRADE + 'turns = "second"', 'turns must be "first", "later", "every" or "last"', id="turns"),
        pytest.param(GRADE + 'verdict = "[[number]]"', "unknown verdict format '[[number]]'; known:", id="format"),
        pytest.param(GRADE + 'verdict = "[[A]]"', "the verdict [[A]] cannot be used to grade", id="grade by letter"),
        pytest.param(COMPARE + 'verdict = "[[rating]]"', "cannot be used to compare", id="compare by number"),
        pytest.param(
            'kind = "grade"\nuser = "{anwser}"',
            "user contains the unknown placeholder {anwser}; did you mean 'answer'?",
            id="placeholder",
        ),
        pytest.param('kind = "grade"\nuser = "{Answer}"', "unknown placeholder {Answer}", id="capital letter"),
        pytest.param(GRADE + 'system = "{criteria}"', "system contains the unknown placeholder", id="in system"),
        pytest.param(GRADE + 'system = "{steps}"', "the set declares no criteria", id="steps of nothing"),
        pytest.param(GRADE + 'criterion = "a"', "for the unknown criterion 'a'; the set declares none", id="criterion"),
        pytest.param('kind = "label"\nuser = "{answer}"', "(label = value) is required", id="labels"),
        pytest.param(GRADE + "labels = { YES = 1 }", 'only templates of the kind "label" have it', id="idle labels"),
        pytest.param('kind = "dimensions"\nuser = "{answer}"', "'dimensions', the list", id="no dimensions"),
        pytest.param(
            'kind = "dimensions"\nuser = "{answer}"\ndimensions = ["a", "a"]', "names one twice", id="dimensions twice"
        ),
        pytest.param(
            'kind = "dimensions"\nuser = "{answer}"\ndimensions = ["depth"]\ntotal = "dept"',
            "total is 'dept', which is not one of the dimensions; did you mean 'depth'?",
            id="total",
        ),
        pytest.param(COMPARE + 'sides = ["A", "A"]', "sides must be two names", id="sides alike"),
        pytest.param(GRADE + 'sides = ["A", "B"]', 'only templates of the kind "compare" have it', id="sides of one"),
        pytest.param(GRADE + 'score_method = "logprob"', 'score_method must be "text" or "logprobs"', id="method"),
        pytest.param(
            GRADE + 'score_method = "logprobs"', "[[rating]] is not a single token; these are: grade", id="no token"
        ),
        pytest.param(GRADE + "top_logprobs = 50", "top_logprobs must be a whole number from 1 to 20", id="logprobs"),
        pytest.param(GRADE + 'schema = "{"', "schema is not valid JSON", id="schema"),
        pytest.param(GRADE + "schema = { type = 'array' }", 'a JSON schema with "type": "object"', id="no object"),
        pytest.param(
            CONVERSATION.replace("{question}:", "{conversation}:"),
            "turn contains the unknown placeholder {conversation}",
            id="conversation in a turn",
        ),
        pytest.param(
            'kind = "grade"\nuser = "{conversation}"', "the sub-template 'turn' is required", id="no sub-template"
        ),
        pytest.param(
            'kind = "grade"\nuser = "{answer}"\nsystem = "{conversation}"',
            "the sub-template 'turn' is required",
            id="no sub-template for the system",
        ),
        pytest.param(GRADE + 'turn = "{answer}"', "the prompt contains no {conversation}", id="idle sub-template"),
        pytest.param(
            'kind = "grade"\nuser = "{question}"', "a prompt to grade must contain {answer}", id="nothing to grade"
        ),
        pytest.param(
            'kind = "grade"\nuser = "{answer_a} {answer_b}"',
            "a prompt to grade must contain {answer}",
            id="grade a pair",
        ),
        pytest.param(
            'kind = "compare"\nuser = "{answer}"',
            "a prompt to compare must contain {answer_a} and {answer_b}",
            id="compare one",
        ),
        pytest.param(
            'kind = "compare"\nuser = "{answer_a}"',
            "a prompt to compare must contain {answer_a} and {answer_b}",
            id="half a pair",
        ),
        pytest.param(
            'kind = "compare"\nuser = "{answer_a} {answer_b} {answer}"', "and no other answer", id="a pair and one"
        ),
        pytest.param(GRADE + "reference = true", "reference is true, but the prompt does not contain one", id="none"),
        pytest.param(
            'kind = "grade"\nuser = "{answer} {reference}"\nreference = false',
            "reference is false, but the prompt contains one",
            id="one",
        ),
        pytest.param(
            GRADE + 'reference = "yes"', "reference must be true or false, this is 'yes'", id="reference of text"
        ),
        pytest.param(
            'kind = "grade"\nuser = "{answer} {question_2}"',
            "{question_2} does not exist yet at turn 1",
            id="a turn that is not there yet",
        ),
        pytest.param(
            'kind = "grade"\nturns = "later"\nuser = "{answer} {ref_answer_3}"',
            "{ref_answer_3} does not exist yet at turn 2",
            id="a third turn for the second",
        ),
    ],
)
def test_what_is_wrong_in_a_template_is_named(tmp_path: pathlib.Path, template: str, words: str) -> None:
    with pytest.raises(DataError, match=rf"(broken|judge_set)\.toml(:\d)?: .*{re.escape(words)}"):
        loaded(tmp_path / "set", broken=template)


def test_a_set_without_templates_is_none(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match="the set has no templates"):
        load_judge_set(str(folder(tmp_path / "set")))


def test_a_turns_numbers_are_the_turns_that_are_there(tmp_path: pathlib.Path) -> None:
    later = 'kind = "compare"\nturns = "later"\nuser = "{question_1} {answer_a_1} {answer_b_2}"'
    assert loaded(tmp_path / "set", later=later).templates["later"].turns == "later"


# What makes a judgment another one.


@pytest.mark.parametrize(
    ("settings", "template", "same"),
    [
        pytest.param("", GRADE, True, id="nothing"),
        pytest.param('title = "T"\nversion = "2"', GRADE, True, id="labels"),
        pytest.param("[sampling]\ntemperature = 0.5", GRADE, True, id="sampling, which has a hash of its own"),
        pytest.param("", GRADE + 'description = "d"', True, id="a description"),
        pytest.param("", GRADE + 'turns = "first"', True, id="the turns it is for"),
        pytest.param("scale = [1.0, 10.0]", GRADE, True, id="the same scale otherwise written"),
        pytest.param("", GRADE.replace("Grade", "Rate"), False, id="a word"),
        pytest.param("", GRADE + 'system = "Be just."', False, id="a system prompt"),
        pytest.param("fence = false", GRADE, False, id="the fence"),
        pytest.param("scale = [1, 5]", GRADE, False, id="the scale"),
        pytest.param("step = 0.5", GRADE, False, id="the step"),
        pytest.param("attempts = 2", GRADE, False, id="the attempts"),
        pytest.param('name = "other"', GRADE, False, id="the name, which shapes the markers"),
    ],
)
def test_the_hash_of_a_template_is_over_what_shapes_its_judgments(
    tmp_path: pathlib.Path, settings: str, template: str, same: bool
) -> None:
    before = loaded(tmp_path / "a" / "set", grade=GRADE).contents["grade"]
    after = loaded(tmp_path / "b" / "set", settings, grade=template).contents["grade"]
    assert (before == after) is same


# FastChat's prompt file.


def test_a_prompt_file_of_fastchats_is_a_judge_set(tmp_path: pathlib.Path) -> None:
    path = prompts(
        tmp_path / "judge_prompts.jsonl",
        {},
        {"name": "single-v1-multi-turn", "prompt_template": "{question_1} {answer_1} {question_2} {answer_2}"},
        {"name": "single-math-v1", "category": "general", "prompt_template": "{question} {ref_answer_1} {answer}"},
        {
            "name": "pair-v2",
            "type": "pairwise",
            "system_prompt": "Say {x}.",
            "prompt_template": "{{}} {answer_a} {answer_b}",
            "output_format": "[[A]]",
        },
    )
    made = load_judge_set(str(path))
    assert (made.name, made.fence, made.attempts, made.sampling) == ("judge_prompts", False, 1, Sampling(0.0, 2048))
    chosen = [
        made.choose("grade", asked(3), 1, reference=False),
        made.choose("grade", asked(3), 2, reference=False),
        made.choose("grade", asked(3), 1, reference=True),
        made.choose("compare", asked(3), 1, reference=False),
        made.choose("compare", asked(3), 2, reference=False),
        made.choose("grade", asked(3), 3, reference=False),
    ]
    names = ["single-v1", "single-v1-multi-turn", "single-math-v1", "pair-v2", None, None]
    assert [template and template.name for template in chosen] == names
    pair = made.templates["pair-v2"]
    assert pair.system is not None
    assert (pair.system.fill({}), pair.user.fill({"answer_a": "1", "answer_b": "2"})) == ("Say {x}.", "{} 1 2")
    assert {"math", "reasoning", "coding"} <= made.references.required


def test_a_prompt_file_never_takes_the_name_of_our_own_set(tmp_path: pathlib.Path) -> None:
    prompts(tmp_path / "mt_bench" / "judge_prompts.jsonl", {})
    assert load_judge_set(str(tmp_path / "mt_bench")).name == "judge_prompts"
    assert load_judge_set(str(prompts(tmp_path / "mt_bench.jsonl", {}))).name == "judge_prompts"
    prompts(tmp_path / "mine" / "judge_prompts.jsonl", {})
    assert load_judge_set(str(tmp_path / "mine")).name == "mine"


def test_a_changed_prompt_is_another_version(tmp_path: pathlib.Path) -> None:
    first = load_judge_set(str(prompts(tmp_path / "p.jsonl", {})))
    second = load_judge_set(str(prompts(tmp_path / "p.jsonl", {"prompt_template": "{answer}"})))
    assert first.version != second.version


@pytest.mark.parametrize(
    ("row", "words"),
    [
        pytest.param({"name": 1}, "the field 'name' of a judge prompt must be a text", id="no name"),
        pytest.param({"type": "triple"}, "type must be single or pairwise, this is 'triple'", id="type"),
        pytest.param({"output_format": "[[X]]"}, "unknown output_format '[[X]]'", id="format"),
        pytest.param({"prompt_template": "{answer} {x}"}, "unknown placeholder or unmatched brace: {x}", id="name"),
        pytest.param({"prompt_template": "{answer} }"}, "unknown placeholder or unmatched brace", id="brace"),
        pytest.param({"prompt_template": "{answer_2} {answer}"}, "{answer_2} does not exist yet at turn 1", id="turn"),
        pytest.param({"prompt_template": "{question}"}, "must contain {answer}", id="no answer"),
        pytest.param({"system_prompt": 5}, "system_prompt must be a text", id="system"),
    ],
)
def test_what_is_wrong_in_a_prompt_file_is_named_with_its_line(
    tmp_path: pathlib.Path, row: dict[str, Any], words: str
) -> None:
    path = prompts(tmp_path / "p.jsonl", {"name": "good"}, row, {"name": "last"})
    with pytest.raises(DataError, match=rf"p\.jsonl:2: .*{re.escape(words)}"):
        load_judge_set(str(path))


def test_a_prompt_file_names_each_prompt_once(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=r"p\.jsonl:2: the name 'single-v1' occurs twice"):
        load_judge_set(str(prompts(tmp_path / "p.jsonl", {}, {})))
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DataError, match="contains no judge prompt"):
        load_judge_set(str(tmp_path / "empty.jsonl"))


@pytest.mark.reference
def test_the_official_prompt_file_loads_as_it_stands(reference_data: pathlib.Path) -> None:
    official = load_judge_set(str(reference_data / "mt_bench" / "judge_prompts.jsonl"))
    assert set(official.templates) == EIGHT
    with_reference = {name for name, template in official.templates.items() if template.reference}
    assert with_reference == {name for name in EIGHT if "math" in name}
