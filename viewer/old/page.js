/* How a click becomes an address: links and forms of the views lead to addresses, which are fetched through one hidden
   button and put into the address bar. It loads nothing. */
(() => {
  "use strict";
  const page = (window.turnbench = { query: location.search, asked: null, action: "", shown: null });
  let timer = 0;

  const press = (id) => document.querySelector(`#${id}`)?.click();
  const here = () => new URLSearchParams(page.query.replace(/^\?/, ""));
  const themed = (query) => {
    const theme = new URLSearchParams(location.search).get("__theme");
    const wanted = new URLSearchParams(query.replace(/^\?/, ""));
    if (theme) wanted.set("__theme", theme);
    return "?" + wanted.toString();
  };

  page.go = (query) => {
    page.query = query;
    document.body.classList.add("tb-busy");
    press("tb-go");
  };
  page.open = () => [(page.asked = page.query)];
  page.sent = () => [(page.asked = page.query), page.action];
  const again = () => {
    if (page.asked === page.query) return;
    press("tb-go");
    setTimeout(again, 100);
  };
  /* What is read until Gradio has made its page; scripts in HTML that is set so do not run, were there any. */
  page.opening = (html) => {
    const theme = new URLSearchParams(location.search).get("__theme");
    const part = document.createElement("div");
    part.id = "tb-opening";
    part.classList.toggle("dark", theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    part.innerHTML = html;
    document.body.append(part);
  };
  page.tab = (name) => {
    const wanted = here();
    if ((wanted.get("tab") || "leaderboard") !== name) {
      wanted.set("tab", name);
      wanted.delete("f.page");
      if (!["answers", "compare", "find"].includes(name)) for (const one of ["found", "at"]) wanted.delete(one);
      page.go("?" + wanted.toString());
    }
  };
  document.addEventListener("click", (event) => {
    const tab = event.target.closest?.("#tb-tabs [role=tab][data-tab-id]");
    if (tab) page.tab(tab.dataset.tabId);
  });
  page.shown_now = (query) => {
    // What was clicked while a view was on its way counts, and not that view.
    if (page.asked !== page.query) return void setTimeout(again);
    document.body.classList.remove("tb-busy");
    if (page.shown === null) {
      remember();
      document.getElementById("tb-opening")?.remove();
    }
    document.body.dataset.shown = Number(document.body.dataset.shown || 0) + 1;
    const before = page.shown;
    page.query = page.asked = page.shown = query;
    const wanted = themed(query);
    if (wanted !== location.search) {
      if (before === null) history.replaceState(null, "", wanted);
      else history.pushState(null, "", wanted);
    }
    requestAnimationFrame(() => settle(before !== query));
  };

  const kept = { focus: null, scrolled: {} };
  const remember = () => {
    kept.focus = document.activeElement?.id || null;
    kept.scrolled = {};
    for (const part of document.querySelectorAll(".tb-view [id]"))
      if (part.scrollTop || part.scrollLeft || part.open)
        kept.scrolled[part.id] = [part.scrollLeft, part.scrollTop, part.open];
  };
  const settle = (other) => {
    for (const [id, [left, top, open]] of Object.entries(kept.scrolled)) {
      const part = document.getElementById(id);
      if (!part) continue;
      if (open) part.open = true;
      if (!other) part.scrollTo(left, top);
    }
    if (kept.focus && document.activeElement === document.body) {
      const part = document.getElementById(kept.focus);
      if (part && part.closest(".tb-view")) part.focus({ preventScroll: true });
    }
    const top = visible(document.querySelectorAll(".tb-view [data-top]"))[0]?.dataset.top;
    if (top && kept.top && top !== kept.top) window.scrollTo(0, 0);
    kept.top = top;
    const here = visible(document.querySelectorAll(".tb-view [data-here]"))[0];
    if (here && here.dataset.here !== kept.here) here.scrollIntoView({ block: "start" });
    kept.here = here?.dataset.here;
    const strip = document.getElementById("tb-strip");
    const now = strip?.querySelector("[aria-current]");
    if (now) strip.scrollLeft = now.offsetLeft - strip.clientWidth / 2;
    clearTimeout(timer);
    const growing = visible(document.querySelectorAll(".tb-view [data-refresh]"))[0];
    if (growing) timer = setTimeout(refresh, Math.max(250, Number(growing.dataset.refresh) || 1000));
  };
  const refresh = () => {
    if (document.hidden) timer = setTimeout(refresh, 1000);
    else {
      remember();
      page.go(page.query);
    }
  };
  const visible = (parts) => [...parts].filter((part) => part.getClientRects().length);

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(".tb-view a[href^='?'], .tb-top a[href^='?']");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    remember();
    page.go(link.getAttribute("href"));
  });

  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      /* a page that came without TLS from another machine has no clipboard */
      const field = document.createElement("textarea");
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.(".tb-view [data-copy]");
    if (!button) return;
    event.preventDefault();
    await copied(button.nextElementSibling.textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });

  const act = () => (page.shown === null ? setTimeout(act, 50) : press("tb-act"));
  const fields = (form, button) => {
    const found = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
    if (button?.name) found.push([button.name, button.value]);
    return found;
  };
  document.addEventListener("change", (event) => {
    const form = event.target.closest?.("form[data-go]");
    if (form) form.requestSubmit();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest?.(".tb-form");
    if (!form) return;
    event.preventDefault();
    remember();
    const given = fields(form, event.submitter).filter(([, value]) => value !== "");
    const asked = JSON.stringify(given);
    if (form.dataset.go && form.dataset.asked === asked) return; /* Enter in a field is a change of it as well */
    form.dataset.asked = asked;
    if (form.dataset.act) {
      if (document.body.classList.contains("tb-busy")) return; /* what is on the page is being replaced */
      page.action = JSON.stringify(given);
      document.body.classList.add("tb-busy");
      act();
    } else page.go("?" + new URLSearchParams(given).toString());
  });

  /* Keys act once for each press, and those that scroll are left to the browser. */
  const scrollKeys = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);
  const scrollsSideways = (part) => {
    for (; part; part = part.parentElement) {
      const root = part === document.documentElement;
      if (part.scrollWidth > part.clientWidth + 1 && (root || /auto|scroll/.test(getComputedStyle(part).overflowX))) return true;
    }
    return false;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.repeat || scrollKeys.has(event.key)) return;
    const where = event.target;
    if (where.closest?.("input, textarea, select, [contenteditable], [role=tab], [role=listbox]")) return;
    if (event.key.startsWith("Arrow") && scrollsSideways(where)) return;
    const key = event.key;
    for (const part of visible(document.querySelectorAll(".tb-view [data-key]")))
      if (part.dataset.key.split(" ").includes(key)) {
        event.preventDefault();
        part.click();
        return;
      }
  });

  window.addEventListener("popstate", () => {
    if (location.search !== themed(page.shown || "")) page.go(location.search || "?");
  });
})();
