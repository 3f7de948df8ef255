#!/usr/bin/env bash
# ragas 0.4.3: with a cache, the second judge gives the first judge's verdicts.
#
# The key of DiskCacheBackend holds the method's name, its prompt and its arguments, but nothing of the
# object it belongs to: not the judge's model, nor its server, nor the temperature that it was made
# with. Two judges that share a folder (".cache" is the default) agree to the letter, and the second
# is never asked.
# Seen: "judge-small: by judge-small, 1 request", "judge-large: by judge-small, 0 requests",
# "judge-small, temperature 1: by judge-small, 0 requests". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# ragas 0.4.3 does not import with later versions of langchain-community.
"$folder/venv/bin/pip" install -q --disable-pip-version-check ragas==0.4.3 langchain-community==0.3.31
cd "$folder"
RAGAS_DO_NOT_TRACK=true "$folder/venv/bin/python" -W ignore - <<'PY'
import http.server
import json
import threading

from openai import OpenAI
from pydantic import BaseModel
from ragas.cache import DiskCacheBackend
from ragas.llms import llm_factory

requests = []


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        requests.append(body)
        content = json.dumps({"verdict": "by " + body["model"]})
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        reply = {"id": "x", "object": "chat.completion", "created": 1, "model": body["model"]}
        data = json.dumps(reply | {"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Verdict(BaseModel):
    verdict: str


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = OpenAI(api_key="k", base_url=f"http://127.0.0.1:{server.server_address[1]}/v1")
for name, model, options, asked in (
    ("judge-small", "judge-small", {}, 1),
    ("judge-large", "judge-large", {}, 0),
    ("judge-small, temperature 1", "judge-small", {"temperature": 1.0}, 0),
):
    requests.clear()
    judge = llm_factory(model, client=client, cache=DiskCacheBackend(), **options)
    verdict = judge.generate("Is it so?", Verdict).verdict
    print(f"{name}: {verdict}, {len(requests)} request" + "s" * (len(requests) != 1))
    assert (verdict, len(requests)) == ("by judge-small", asked), "this has changed"
PY
