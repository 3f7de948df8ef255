"""What FastChat's own loaders make of a benchmark folder, as JSON; run as a script, with the folder as its argument.

FastChat imports its adapters of local models, which need torch; the loaders use none of them, so an empty module stands
in their place.
"""

import json
import pathlib
import sys
import types


def main(folder: pathlib.Path) -> None:
    """Print, for each question and model, what FastChat's viewer would show."""
    adapter = types.ModuleType("fastchat.model.model_adapter")
    adapter.__dict__.update(get_conversation_template=None, ANTHROPIC_MODEL_LIST=(), OPENAI_MODEL_LIST=())
    sys.modules["fastchat.model"] = types.ModuleType("fastchat.model")
    sys.modules["fastchat.model.model_adapter"] = adapter
    from fastchat.llm_judge import common

    questions = common.load_questions(str(folder / "question.jsonl"), None, None)
    answers = common.load_model_answers(str(folder / "model_answer"))
    references = common.load_model_answers(str(folder / "reference_answer"))
    graded = common.load_single_model_judgments(str(folder / "model_judgment" / "gpt-4_single.jsonl"))
    compared = common.load_pairwise_model_judgments(str(folder / "model_judgment" / "gpt-4_pair.jsonl"))
    shown: dict[str, dict[str, str]] = {"single": {}, "pair": {}}
    models = sorted(answers)
    for question in questions:
        key = question["question_id"]
        for turn, later in ((1, False), (2, True)):
            single = common.resolve_single_judgment_dict(question, graded, graded, multi_turn=later)
            pair = common.resolve_pairwise_judgment_dict(question, compared, compared, multi_turn=later)
            for n, first in enumerate(models):
                place = f"{key} {turn} {first}"
                shown["single"][place] = common.get_single_judge_explanation((key, first), single)
                for second in models[n + 1 :]:
                    text = common.get_pairwise_judge_explanation((key, first, second), pair)
                    shown["pair"][f"{place} {second}"] = text
    counts = {model: sum(len(row["choices"][0]["turns"]) for row in rows.values()) for model, rows in answers.items()}
    described = {
        "questions": [question["question_id"] for question in questions],
        "turns_answered": counts,
        "references": {author: len(rows) for author, rows in references.items()},
        "judges": sorted("|".join(judge) for judge in (*graded, *compared)),
        **shown,
    }
    json.dump(described, sys.stdout)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
