#!/usr/bin/env bash
# lm_eval 0.4.13: with --use_cache, a second model is scored on the first one's answers.
#
# The key in the file is the prompt and the task's settings, not the model, its arguments or its
# server. Whoever names one file in the commands for two models gets the first model's score twice,
# each under its own name, without a request or a warning; the same for another quantization behind
# the same address.
# Seen: "good: 1.0, 2 requests", "bad: 1.0, 0 requests", "bad, other file: 0.0, 2 requests".
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check "lm_eval[api]==0.4.13"
cd "$folder"
export HF_HOME="$folder/hf" HF_HUB_OFFLINE=1
"$folder/venv/bin/python" -W ignore - 2>/dev/null <<'PY'
import http.server
import json
import threading

from lm_eval import simple_evaluate

requests = []


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        requests.append(body)
        content = "Paris" if body["model"] == "good" else "Lyon"
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        data = json.dumps({"id": "x", "object": "chat.completion", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions"
with open("cases.jsonl", "w") as file:
    for question in ("What is the capital of France?", "Where is the Louvre?"):
        print(json.dumps({"question": question, "answer": "Paris"}), file=file)
TASK = {
    "task": "capitals", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": "cases.jsonl"}},
    "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{question}}",
    "doc_to_target": "{{answer}}", "generation_kwargs": {"until": ["\n"], "do_sample": False},
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}  # fmt: skip
for name, model, cache, expected in (
    ("good", "good", "answers", (1.0, 2)),
    ("bad", "bad", "answers", (1.0, 0)),
    ("bad, other file", "bad", "other", (0.0, 2)),
):
    requests.clear()
    result = simple_evaluate(
        model="local-chat-completions",
        model_args={"model": model, "base_url": address},
        tasks=[dict(TASK)],
        use_cache=cache,
        apply_chat_template=True,
        bootstrap_iters=0,
    )
    score = result["results"]["capitals"]["exact_match,none"]
    print(f"{name}: {score}, {len(requests)} requests")
    assert (float(score), len(requests)) == expected, "this has changed"
PY
