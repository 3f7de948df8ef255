(() => {
  "use strict";
  const value = (row, at) => {
    const cell = row.cells[at];
    const text = cell.dataset.sort;
    if (text === undefined) return null;
    const number = Number(text);
    return Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  const sort = (table, at) => {
    const head = table.tHead.rows[0].cells;
    const words = head[at].classList.contains("tb-word");
    const now = head[at].getAttribute("aria-sort");
    const next = now === null ? (words ? "ascending" : "descending") : now === "ascending" ? "descending" : "ascending";
    for (const cell of head) cell.removeAttribute("aria-sort");
    head[at].setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    const rows = Array.from(table.tBodies[0].rows, (row) => [value(row, at), row]);
    rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };
  const prepare = (table) => {
    if (table.dataset.sortable) return;
    table.dataset.sortable = "1";
    Array.from(table.tHead.rows[0].cells).forEach((cell, at) => {
      const button = document.createElement("button");
      button.append(...cell.childNodes);
      button.addEventListener("click", () => sort(table, at));
      cell.append(button);
    });
  };
  window.makeSortable = () => document.querySelectorAll(".tb-table").forEach(prepare);
  window.makeSortable();
})();
