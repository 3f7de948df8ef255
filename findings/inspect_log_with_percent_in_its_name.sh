#!/usr/bin/env bash
# inspect_ai 0.3.285: a log whose name has an escaped slash is listed, and then cannot be read.
#
# list_eval_logs gives file:// addresses without quoting the name; read_eval_log unquotes them. So
# org%2Fmodel.eval, which opens by its path, is looked for as org/model.eval. The listing itself
# reads the log in this way too, so that `inspect log list` shows it without its task.
# Seen: "by path: t", "listed task: ''", "from the list: FileNotFoundError". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check inspect_ai==0.3.285
cd "$folder"
mkdir logs
"$folder/venv/bin/python" -W ignore - <<'PY'
from inspect_ai.log import (
    EvalConfig, EvalDataset, EvalLog, EvalSpec, list_eval_logs, read_eval_log, write_eval_log,
)

spec = EvalSpec(created="2026-11-28T18:00:00+00:00", task="t", dataset=EvalDataset(), model="m", config=EvalConfig())
write_eval_log(EvalLog(status="success", eval=spec, samples=[]), "logs/org%2Fmodel.eval")
print("by path:", read_eval_log("logs/org%2Fmodel.eval").eval.task)
(listed,) = list_eval_logs("logs")
print("listed task:", repr(listed.task))
seen = "read"
try:
    read_eval_log(listed)
except FileNotFoundError as error:
    seen = type(error).__name__
print("from the list:", seen)
assert (listed.task, seen) == ("", "FileNotFoundError"), "this has changed"
PY
