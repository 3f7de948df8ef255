#!/bin/sh
# From questions to verdicts, with nothing but what is shipped: no key, no network, no model. Run it from the top of the
# repository with the commands on the PATH (`make demo` does both). Everything goes to demo/; delete that folder to start
# over. Running it again does only what is missing, so the second time nothing is left to do.
set -e
data="${1:-demo}"

step() { printf '\n\033[1m%s\033[0m\n\n' "$*"; }
[ -t 1 ] || step() { printf '\n%s\n\n' "$*"; }

# 1. Three built-in models answer every question, both turns. `reference` replies with the reference answers (the ceiling),
#    `eliza` turns your words around (the floor), `outline` stands between: it restates what is asked and sorts your words.
step "1. Three models answer the questions"
gen_answer --model builtin/reference builtin/outline builtin/eliza --data-dir "$data"

# 2. A judge grades every answer from 1 to 10. `builtin/overlap` only counts words, numbers and checks; a real judge is a strong
#    chat model. On a terminal gen_judgment shows what it will do and asks first; --yes does not ask.
step "2. A judge grades every answer"
gen_judgment --judge-model builtin/overlap --data-dir "$data" --yes

# 3. The same judge compares all pairs of models. Each pair is judged in both orders; if swapping the two answers changes the
#    verdict, it is a tie.
step "3. It compares all pairs, in both orders"
gen_judgment --judge-model builtin/overlap --mode pairwise-all --data-dir "$data" --yes

# 4. What it adds up to.
step "4. Grades, from 1 to 10"
show_result --mode single --data-dir "$data"

step "5. Wins, losses and ties"
show_result --mode pairwise-all --data-dir "$data"

# 6. Where to look next.
step "6. Where to look next"
cat <<END
Every answer and every verdict is a line of JSON in $data/mt_bench/.

With two models on a local server (vLLM, SGLang, llama.cpp, Ollama) and a judge:
  gen_answer   --model my-model other-model --base-url http://localhost:8000/v1
  gen_judgment --judge-model gpt-4.1
  show_result

turnbench lists the commands, COMMAND --help explains each. If they are not found: . .venv/bin/activate
To see every answer and every verdict in a browser:
  viewer --data-dir $data
END
