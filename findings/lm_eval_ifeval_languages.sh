#!/usr/bin/env bash
# lm_eval 0.4.13: IFEval's checks of language accept a reply without letters, and refuse short English.
#
# Where langdetect finds nothing to go by (42, "...", a bare link) the instruction counts as followed,
# whatever the language: "42" is Hindi. Where it does, short English is often another language to it,
# and the instruction to write English in capitals fails for the replies YES, NO and PARIS.
# Seen: "Hindi: 42 True, ... True, Hello there, how are you? False",
# "English capitals: YES False, NO False, PARIS False, THE ANSWER IS 42. True". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'lm_eval[ifeval]==0.4.13' langdetect==1.0.9
cd "$folder"
NLTK_DATA="$folder" "$folder/venv/bin/python" -W ignore - 2>/dev/null <<'PY'
import contextlib
import io

with contextlib.redirect_stdout(io.StringIO()):
    from lm_eval.tasks.ifeval.instructions import CapitalLettersEnglishChecker, ResponseLanguageChecker

hindi = ResponseLanguageChecker("language:response_language")
hindi.build_description(language="hi")
capitals = CapitalLettersEnglishChecker("change_case:english_capital")
capitals.build_description()
for name, checker, replies in (
    ("Hindi", hindi, {"42": True, "...": True, "Hello there, how are you?": False}),
    ("English capitals", capitals, {"YES": False, "NO": False, "PARIS": False, "THE ANSWER IS 42.": True}),
):
    # langdetect draws at random: five looks at each.
    seen = {reply: {checker.check_following(reply) for _ in range(5)} for reply in replies}
    print(f"{name}:", ", ".join(f"{reply} {follows}" for reply, (follows, *_) in seen.items()))
    assert seen == {reply: {follows} for reply, follows in replies.items()}, "this has changed"
PY
