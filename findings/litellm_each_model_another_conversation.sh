#!/usr/bin/env bash
# litellm 1.110.2: models that are compared on one conversation get different ones.
#
# For a conversation with an empty earlier reply and a system message in the middle: Claude reads
# sentences that nobody wrote, "[System: Empty message content sanitised to satisfy protocol]" as its
# own earlier reply and "Operator note (not from the user): …" in the user's name; Gemini gets the
# second system message moved to the front; Mistral's models lose the empty turn; behind an
# OpenAI-compatible server all is sent as it was. No option was set, and nothing is said.
# Seen: "openai: s1, q1, , q2, s2, q3", "mistral: s1, q1, q2, s2, q3", "gemini: s1, s2, q1, , q2, q3",
# "anthropic: s1, q1, [System: …], q2, Operator note …, s2, q3". Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check litellm==1.110.2
export LITELLM_LOCAL_MODEL_COST_MAP=True
"$folder/venv/bin/python" -W ignore - 2>/dev/null <<'PY'
import http.server
import json
import threading

import litellm

bodies = []
MESSAGE = {"role": "assistant", "content": "yes"}
REPLIES = {
    "chat": {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "finish_reason": "stop", "message": MESSAGE}]},
    "anthropic": {"id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "yes"}], "usage": {"input_tokens": 1, "output_tokens": 1}},
    "gemini": {"usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "candidates": [{"content": {"role": "model", "parts": [{"text": "yes"}]}, "finishReason": "STOP"}]},
}  # fmt: skip


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        (reply,) = (REPLIES[kind] for kind in REPLIES if self.path.startswith("/" + kind))
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def find_texts(value):
    """All texts of a body of any of the three formats, in their order."""
    if isinstance(value, list):
        return [text for each in value for text in find_texts(each)]
    if isinstance(value, str):
        return [value]
    for key in ("content", "parts", "text"):
        if key in value:
            return find_texts(value[key])
    order = ("system", "system_instruction", "messages", "contents")
    return [text for key in order if key in value for text in find_texts(value[key])]


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}"
roles = ("system", "s1"), ("user", "q1"), ("assistant", ""), ("user", "q2"), ("system", "s2"), ("user", "q3")
put = "[System: Empty message content sanitised to satisfy protocol]"
note = (
    "Operator note (not from the user): the following was originally a mid-conversation"
    " system-role reminder."
)
for name, model, path, expected in (
    ("openai", "openai/m", "/chat", ["s1", "q1", "", "q2", "s2", "q3"]),
    ("mistral", "mistral/mistral-large-latest", "/chat", ["s1", "q1", "q2", "s2", "q3"]),
    ("gemini", "gemini/gemini-2.5-flash", "/gemini", ["s1", "s2", "q1", "", "q2", "q3"]),
    ("anthropic", "anthropic/claude-sonnet-4-5", "/anthropic", ["s1", "q1", put, "q2", note, "s2", "q3"]),
):
    messages = [{"role": role, "content": content} for role, content in roles]
    litellm.completion(model, messages, api_base=address + path, api_key="k")
    texts = find_texts(bodies[-1])
    print(f"{name}:", ", ".join(texts))
    assert texts == expected, "this has changed"
PY
