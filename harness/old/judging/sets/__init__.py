"""Judge sets: the prompt templates, and the rule that picks them for a question and turn. Data, no code.

    judge_set.py     what a set is, once read, and its rule
    loading.py       find one by name or path, and follow what it extends
    settings.py      judge_set.toml             templates.py     the other files of a folder
    placeholders.py  what a template may hold
    fastchat.py  colossalai.py  alpaca_eval.py  what others wrote, as it stands

`judge_prompts/README.md` describes the format. Everything people type is checked: an unknown key or placeholder is an
error that names the file, the key and the nearest known one.
"""

from harness.old.judging.sets.judge_set import JudgeSet, JudgeTemplate
from harness.old.judging.sets.loading import judge_set_name, load_judge_set, shipped_judge_sets

__all__ = ["JudgeSet", "JudgeTemplate", "judge_set_name", "load_judge_set", "shipped_judge_sets"]
