"use strict";
// Sorting and filtering of the result tables. The page is complete without it, so every control is made here.
(() => {
  const all = (selector, root) => [...root.querySelectorAll(selector)];
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
  const collator = new Intl.Collator("en", { numeric: true });

  // A cell as [rank, value]: numbers come before texts. An empty cell has no rank.
  const sortKey = (cell) => {
    const number = cell.dataset.sort === undefined ? NaN : Number(cell.dataset.sort);
    if (!Number.isNaN(number)) return [0, number];
    const text = cell.textContent.trim();
    return text ? [1, text] : null;
  };

  // Empty cells stay last in both directions.
  const compare = (a, b, sign) => {
    if (!a || !b) return Boolean(b) - Boolean(a);
    if (a[0] !== b[0]) return sign * (a[0] - b[0]);
    return sign * (a[0] === 0 ? a[1] - b[1] : collator.compare(a[1], b[1]));
  };

  // Each click goes on: ascending, descending, the order of the grid.
  const sortBy = (table, heading) => {
    const now = heading.getAttribute("aria-sort");
    const next = { none: "ascending", ascending: "descending", descending: "none" }[now];
    for (const other of table.headings) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", next);
    let rows = table.rows;
    if (next !== "none") {
      const sign = next === "ascending" ? 1 : -1;
      const keyed = rows.map((row) => [sortKey(row.element.cells[heading.cellIndex]), row]);
      // The sort is stable, and always starts from the grid's order.
      keyed.sort((a, b) => compare(a[0], b[0], sign));
      rows = keyed.map(([, row]) => row);
    }
    table.body.append(...rows.map((row) => row.element));
  };

  // A word such as epsilon=1 asks for a cell of a column; any other word for a text anywhere.
  const has = (row, word, name) => {
    const [, key, value] = word.match(/^([^=]+)=(.+)$/) || [];
    if (row.cells.has(key)) return row.cells.get(key) === value;
    return row.text.includes(word) || name.includes(word);
  };

  const tables = all(".rows", document).map((box) => {
    const body = box.querySelector("tbody");
    const name = box.closest("article").querySelector("code").textContent.toLowerCase();
    const headings = all("th", box.querySelector("thead")).map((heading) => heading.textContent.trim().toLowerCase());
    const rows = all("tr", body).map((element) => ({
      element,
      cells: new Map([...element.cells].map((cell, i) => [headings[i], cell.textContent.trim().toLowerCase()])),
      verdict: element.dataset.verdict,
      text: [...element.cells].slice(1).map((cell) => cell.textContent).join(" ").toLowerCase(),
    }));
    return { box, body, name, rows, headings: all("th", box).slice(1), verdicts: new Set(), shown: rows.length };
  });
  if (tables.length === 0) {
    window.dpgpReady = true;
    return;
  }

  const everywhere = make("input", { type: "search", placeholder: "for example: sparse epsilon=1" });
  const summary = make("p", {});

  // Only the count beside the box in use is announced, or one letter would announce every table.
  const say = (element, text, announced) => {
    element.setAttribute("aria-live", announced ? "polite" : "off");
    element.textContent = text;
  };

  const update = (used) => {
    const global = words(everywhere.value);
    for (const table of tables) {
      const local = words(table.input.value);
      table.shown = 0;
      for (const row of table.rows) {
        const { element, verdict } = row;
        const shown = (table.verdicts.size === 0 || table.verdicts.has(verdict))
          && local.every((word) => has(row, word, ""))
          && global.every((word) => has(row, word, table.name));
        element.hidden = !shown;
        table.shown += shown;
      }
      table.box.hidden = table.shown === 0;
      say(table.count, `${table.shown} of ${table.rows.length} rows`, used === table);
    }
    const sum = (number) => tables.reduce((total, table) => total + number(table), 0);
    const rows = `${sum((table) => table.shown)} of ${sum((table) => table.rows.length)} rows`;
    say(summary, `${rows}, in ${sum((table) => table.shown > 0)} of ${tables.length} tables`, !used);
  };

  const verdictChip = (table, verdict, number) => {
    const chip = make("button", { type: "button", className: "chip" }, `${verdict || "not published"} (${number})`);
    chip.setAttribute("aria-pressed", "false");
    chip.onclick = () => {
      if (!table.verdicts.delete(verdict)) table.verdicts.add(verdict);
      chip.setAttribute("aria-pressed", table.verdicts.has(verdict));
      update(table);
    };
    return chip;
  };

  const clear = (table) => {
    table.input.value = everywhere.value = "";
    table.verdicts.clear();
    for (const chip of table.chips) chip.setAttribute("aria-pressed", "false");
    update(table);
  };

  // A link to a row that a filter hides shows it again.
  const reveal = () => {
    const row = document.querySelector("tr:target");
    const table = row && row.hidden && tables.find(({ body }) => body === row.parentNode);
    if (!table) return;
    clear(table);
    row.scrollIntoView();
  };

  for (const table of tables) {
    for (const heading of table.headings) {
      const button = make("button", { type: "button" }, ...heading.childNodes);
      button.onclick = () => sortBy(table, heading);
      heading.setAttribute("aria-sort", "none");
      heading.append(button);
    }
    const chips = ["agrees", "differs", "inconclusive", "not-judged", "fitted", "stand-in", ""]
      .map((verdict) => [verdict, table.rows.filter((row) => row.verdict === verdict).length])
      .filter(([, number]) => number > 0);
    table.input = make("input", { type: "search", oninput: () => update(table) });
    table.count = make("p", {});
    table.chips = chips.length < 2 ? [] : chips.map(([verdict, number]) => verdictChip(table, verdict, number));
    const label = make("label", {}, "Filter rows", table.input);
    table.box.before(make("div", { className: "controls" }, label, ...table.chips, table.count));
  }
  const place = document.getElementById("filter");
  place.append(make("label", {}, "Filter the rows of all tables", everywhere), summary);
  place.hidden = false;
  everywhere.oninput = () => update(null);
  update(null);

  addEventListener("hashchange", reveal);

  // What is folded away would be missing on paper.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])", document);
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });

  window.dpgpReady = true;
})();
