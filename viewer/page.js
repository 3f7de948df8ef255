/* Links of the views and Gradio's controls lead to addresses; an address is fetched through one
   hidden button and put into the address bar. Keys press what has them as data-key. Nothing is loaded from elsewhere. */
(() => {
  "use strict";
  const page = (window.turnbench = { query: location.search, wanted: null, current: null, action: "" });
  const one = (selector) => document.querySelector(selector);
  const busy = (on) => document.body.classList.toggle("tb-busy", on);
  const themed = (query) => {
    const theme = new URLSearchParams(location.search).get("__theme");
    return theme ? query + (query.length > 1 ? "&" : "") + "__theme=" + theme : query;
  };
  const bare = (query) => {
    const rest = new URLSearchParams(query);
    rest.delete("__theme");
    return "?" + rest;
  };

  /* Files have changed: the view is shown anew, unless somebody votes or types. */
  page.follow = () => {
    const view = one(".tb-view [data-title]");
    const version = one(".tb-state [data-version]")?.dataset.version;
    const written = [...document.querySelectorAll(".tb-view textarea")].some((own) => own.value !== own.defaultValue);
    const still = document.body.classList.contains("tb-busy") || typing(document.activeElement) || written;
    if (!view?.dataset.version || !version || view.dataset.version === version || still) return;
    if (new URLSearchParams(page.query).get("tab") !== "vote") page.go(page.query);
  };
  page.asked = () => [(page.wanted = page.query)];
  page.sent = () => ((page.wanted = page.query), [page.action]);
  page.go = (query) => {
    page.query = query;
    busy(true);
    one("#tb-go")?.click();
  };
  page.shown = (query) => {
    if (page.wanted !== page.query) return void setTimeout(() => page.go(page.query)); /* clicked on meanwhile */
    busy(false);
    const other = page.current !== query;
    if (page.current === null) history.replaceState(null, "", themed(query));
    else if (other && bare(location.search) !== query) history.pushState(null, "", themed(query));
    page.query = page.wanted = page.current = query;
    requestAnimationFrame(() => arrive(other));
  };
  const arrive = (other) => {
    const view = one(".tb-view [data-title]");
    if (!view) return;
    document.title = view.dataset.title;
    if (view.matches("[data-wait]")) { /* it is being made */
      const query = page.query;
      page.waits = page.waits || other;
      return void setTimeout(() => page.query === query && page.go(query), 700);
    }
    other = other || page.waits;
    page.waits = false;
    window.makeSortable();
    if (other) {
      const place = view.querySelector("#tb-found, mark") || view.querySelector("[data-here]");
      if (place) place.scrollIntoView({ block: place.matches("mark") ? "center" : "start" });
      else window.scrollTo(0, 0);
    }
    if (page.flip) window.nextFlip();
    page.flip = false;
    if (page.focus) one(page.focus)?.focus();
    page.focus = null;
    document.body.dataset.shown = Number(document.body.dataset.shown || 0) + 1;
  };
  window.addEventListener("popstate", () => bare(location.search) !== page.current && page.go(bare(location.search)));

  const modified = (event) => event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  document.addEventListener("click", (event) => {
    const tab = event.target.closest?.("#tb-tabs [role=tab][data-tab-id]");
    if (tab) return openTab(tab.dataset.tabId);
    const link = event.target.closest?.(".tb-view a[href^='?']");
    if (link && !modified(event)) {
      event.preventDefault();
      page.flip = link.dataset.nextFlip !== undefined;
      return page.go(link.getAttribute("href"));
    }
    const jump = event.target.closest?.(".tb-view a[href^='#']"); /* Gradio's page has a base address */
    if (jump && !modified(event)) {
      event.preventDefault();
      location.hash = jump.getAttribute("href");
    }
  });
  const openTab = (name) => {
    const query = new URLSearchParams(page.query);
    const kept = name === "vote" ? ["bench", "voter", "category", "plan"] : ["bench", "verdicts", "judge", "model"];
    const next = new URLSearchParams([...query].filter(([key]) => kept.includes(key)));
    if (name !== "board") next.set("tab", name);
    page.go("?" + next);
  };
  page.choose = (name, values) => {
    const query = new URLSearchParams(page.query);
    const chosen = values.filter((value) => value !== null && value !== "").map(String);
    if (query.getAll(name).join("\n") === chosen.join("\n")) return;
    if (name === "bench") [...query.keys()].forEach((key) => key === "tab" || query.delete(key));
    if (query.has("question")) query.delete("find");
    for (const own of [name, "part", "show"]) query.delete(own);
    for (const value of chosen) query.append(name, value);
    page.go("?" + query);
  };
  page.save = ([name, text]) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };

  const fields = (form, button) => {
    const found = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]);
    if (button?.name) found.push([button.name, button.value]);
    return found;
  };
  document.addEventListener("submit", (event) => {
    const form = event.target.closest?.(".tb-form");
    if (!form) return;
    event.preventDefault();
    if (document.body.classList.contains("tb-busy")) return;
    page.action = JSON.stringify([...fields(form, event.submitter), ["view", page.current]]);
    busy(true);
    one("#tb-act").click();
  });

  /* What is typed into a drop-down replaces what stands there, and filters. */
  for (const name of ["focusin", "click"])
    document.addEventListener(name, (event) => event.target.matches?.("[role=combobox]") && event.target.select());

  const typing = (part) => part.closest?.("input, textarea, select, [contenteditable], [role=tab]");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === "Escape" && one("#tb-keys[open]")) return one("#tb-keys").removeAttribute("open");
    if (event.defaultPrevented || typing(event.target)) return;
    if (event.key === "/") {
      event.preventDefault();
      page.focus = "#tb-find :is(input, textarea)";
      openTab("verdicts");
    } else if (event.key === "?") one(".tb-view #tb-keys")?.toggleAttribute("open");
  });
})();
