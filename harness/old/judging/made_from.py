"""The hashes of what a judgment was made from: it is current as long as they are the same."""

from harness.old.judging.filling import CHECKS, SAID, brief_for, said_of, system_prompt_shown
from harness.old.judging.materials import Materials
from harness.old.judging.sets import JudgeTemplate
from harness.old.judging.shown import hash_of_said, said_json
from harness.old.judgments.judgment import MadeFrom, Match
from harness.old.records import content_hash


def made_from(materials: Materials, match: Match) -> MadeFrom:
    """Return the hashes of what a judgment of a match depends on; equal for both games of a pair."""
    question, template = match.question, materials.template(match)
    models = sorted(match.models)
    reference, filled, content = materials.once(
        question,
        ("fixed", match.turn, template.name, match.criterion),  # all models have the same
        lambda: (_reference(materials, match, template), _template(materials, match, template), question.content),
    )
    conversation = materials.once(
        question,
        ("said", match.turn, match.choice, *models),
        lambda: hash_of_said(_json(materials, model, match) for model in models),
    )
    return MadeFrom(
        question=content,
        conversation=conversation,
        reference=reference,
        template=filled,
        parameters=materials.once(
            question, ("parameters", template.name, match.sample), lambda: _parameters(materials, match, template)
        ),
    )


def _json(materials: Materials, model: str, match: Match) -> bytes:
    """Return a model's replies as shown to the judge, for hashing."""
    which = ("json", model, match.turn, match.choice)
    return materials.once(match.question, which, lambda: said_json(model, materials.turns(model, match)))


def _reference(materials: Materials, match: Match, template: JudgeTemplate) -> str | None:
    """Return the hash of the reference and the notes that the judge is shown; None where it is shown neither."""
    if template.reference:
        return content_hash(*materials.reference(match))
    notes = match.question.note[: match.turn]
    return content_hash(notes) if any(notes) and materials.judge_set.shows_help(match.question.category) else None


def _template(materials: Materials, match: Match, template: JudgeTemplate) -> str:
    """Return the hash of the template and of everything that fills it except question, answers and reference."""
    content = materials.judge_set.contents[template.name]
    if match.question.user is not None:
        content = content_hash(content, brief_for(materials, match.question).brief)
    if system := system_prompt_shown(materials, template):
        content = content_hash(content, system)
    if CHECKS in template.names:
        from harness.old.checks.check import as_json

        content = content_hash(content, [as_json(check) for check in match.question.checks_of(match.turn)])
    said = said_of(materials, match, template) if template.names & SAID else {}
    criterion = materials.judge_set.criteria[match.criterion] if match.criterion is not None else None
    scale, step = (criterion.scale, criterion.step) if criterion is not None else (None, None)
    stated = [] if step is None else [step]
    return content_hash(content, match.criterion, said, scale, *stated) if said or scale or stated else content


def _parameters(materials: Materials, match: Match, template: JudgeTemplate) -> str:
    schema = template.form.schema if materials.options.structured else None
    return content_hash(materials.sampling(match).stated(), *([] if schema is None else [schema]))
