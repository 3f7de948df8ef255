/* A page of votes: shows one item at a time, keeps what was chosen, saves it as JSON Lines. */
(() => {
  "use strict";
  const one = (selector) => document.querySelector(selector);
  const bytes = Uint8Array.from(atob(one("#rows").textContent), (letter) => letter.charCodeAt(0));
  const rows = JSON.parse(new TextDecoder().decode(bytes));
  const winners = { a: "model_a", b: "model_b", tie: "tie", bad: "tie (bothbad)" };
  const items = [...document.querySelectorAll("[data-item]")];
  const choices = items.map(() => null);
  let now = 0;
  const say = (text) => {
    one("#message").textContent = text;
    one("#message").hidden = !text;
  };
  const show = (at) => {
    now = Math.min(Math.max(at, 0), items.length - 1);
    items.forEach((item, number) => (item.hidden = number !== now));
    for (const button of items[now].querySelectorAll("[data-choice]"))
      button.setAttribute("aria-pressed", String(button.dataset.choice === choices[now]?.choice));
    const done = choices.filter(Boolean).length;
    one("#progress").value = done;
    one("#count").textContent = `${done} of ${items.length}`;
    if (done === items.length) say("That was the last one. Save your votes and send the file back.");
  };
  const vote = (choice) => {
    choices[now] = { choice, tstamp: Date.now() / 1000 };
    const next = choices.indexOf(null, now);
    show(next >= 0 ? next : choices.includes(null) ? choices.indexOf(null) : now);
    window.scrollTo(0, 0);
  };
  const save = () => {
    const judge = one("#voter").value.trim();
    if (!judge) {
      say("Type your name first.");
      return one("#voter").focus();
    }
    const lines = rows.flatMap((row, at) => {
      const own = choices[at];
      return own ? [JSON.stringify({ ...row, winner: winners[own.choice], judge, tstamp: own.tstamp })] : [];
    });
    if (!lines.length) return say("Nothing to save yet.");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "application/jsonl" }));
    link.download = `votes-${JSON.parse(one("#bench").textContent)}-${judge.replace(/[^\p{L}\p{N}._-]+/gu, "_")}.jsonl`;
    link.click();
    say("Saved. Send the file back.");
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.id === "save") save();
    else if (button?.dataset.choice) vote(button.dataset.choice);
    else if (button?.dataset.step) show(now + Number(button.dataset.step));
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.closest("input")) return;
    const button = [...items[now].querySelectorAll("[data-key]")].find((own) => own.dataset.key.split(" ").includes(event.key));
    if (button) button.click();
  });
  window.addEventListener("beforeunload", (event) => choices.some(Boolean) && one("#message").textContent !== "Saved. Send the file back." && event.preventDefault());
  show(0);
})();
