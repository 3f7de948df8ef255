#!/usr/bin/env bash
# lm_eval 0.4.13: what a task does not state is sent all the same, and its samples do not say so.
#
# A chat model behind an address is sent temperature 0, seed 1234 and max_tokens 256 where the task's
# generation_kwargs have none of them; `--log_samples` writes the kwargs of the task alone. Messages
# are JSON text in a list of one. With `repeats: 2` both requests are equal, seed included, so that
# a server that honours it gives one reply twice; `filtered_resps` keeps the first.
# Seen: "sent: max_tokens 256, seed 1234, temperature 0; written: until", "messages: list of str",
# "requests for 1 question: 2, different: 1". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'lm_eval[api]==0.4.13'
cd "$folder"
mkdir task
echo '{"q": "Say hi.", "a": "hi"}' >task/q.jsonl
cat >task/t.yaml <<YAML
task: greet
dataset_path: json
dataset_kwargs:
  data_files:
    test: $folder/task/q.jsonl
test_split: test
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
repeats: 2
generation_kwargs:
  until: ["\n\n"]
filter_list:
  - name: first
    filter:
      - function: take_first
metric_list:
  - metric: exact_match
YAML
HF_DATASETS_OFFLINE=1 HF_HUB_OFFLINE=1 HF_HOME="$folder/hf" "$folder/venv/bin/python" -W ignore - <<'PY' 2>/dev/null
import glob
import http.server
import json
import subprocess
import sys
import threading

bodies = []
REPLY = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}]}


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        data = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions"
subprocess.run([sys.executable, "-m", "lm_eval", "--model", "local-chat-completions",
                "--model_args", f"model=m,base_url={url},num_concurrent=1", "--tasks", "greet",
                "--include_path", "task", "--apply_chat_template", "--log_samples",
                "--output_path", "out"], check=True, stdout=subprocess.DEVNULL)
sample = json.loads(open(glob.glob("out/*/samples_*.jsonl")[0]).readline())
asked = sample["arguments"]["gen_args_0"]
sent = {name: bodies[0].get(name) for name in ("max_tokens", "seed", "temperature")}
written = sorted(asked["arg_1"])
print("sent:", ", ".join(f"{k} {v}" for k, v in sent.items()) + "; written:", ", ".join(written))
print("messages: list of", type(asked["arg_0"][0]).__name__)
different = len({json.dumps(body, sort_keys=True) for body in bodies})
print(f"requests for 1 question: {len(bodies)}, different: {different}")
assert sent == {"max_tokens": 256, "seed": 1234, "temperature": 0}, "this has changed"
assert written == ["until"] and isinstance(asked["arg_0"][0], str), "this has changed"
assert (len(bodies), different) == (2, 1), "this has changed"
assert sample["resps"] == [["hello", "hello"]] and sample["filtered_resps"] == ["hello"]
PY
