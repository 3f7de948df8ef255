/* Keys press what has them as data-key; `n` goes to the next flip of the page, then of the next
   question that has one. */
(() => {
  "use strict";
  const seen = (part) => part && part.getClientRects().length;
  const all = (selector) => [...document.querySelectorAll(".tb-view " + selector)].filter(seen);
  const typing = (part) => part.closest?.("input, textarea, select, [contenteditable], [role=tab]");
  window.nextFlip = () => {
    const flips = all("[data-flip]");
    const next = flips[flips.findIndex((own) => "#" + own.id === location.hash) + 1];
    if (next) location.hash = next.id;
    return next;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing(event.target)) return;
    const part = all("[data-key]").find((own) => own.dataset.key.split(" ").includes(event.key));
    if (part) {
      event.preventDefault();
      return part.matches("input") ? (part.focus(), part.select()) : part.click();
    }
    if (event.key === "n" && !window.nextFlip()) all("[data-next-flip]")[0]?.click();
  });
})();
