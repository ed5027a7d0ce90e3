"use strict";
// Unpacks figures and rows, and sorts and filters the tables. Words, claims and the first rows are on the page without it.
(async () => {
  // Rows of a table that are drawn before more are asked for.
  const FIRST = 24;
  // Texts longer than this get a wide cell.
  const LONG = 40;
  const TAGGED = new Set(["verdict", "its spread", "on authors", "on reference"]);
  const VERDICTS = ["agrees", "differs", "inconclusive", "not-judged", "fitted", "stand-in", ""];

  const all = (selector, root) => [...root.querySelectorAll(selector)];
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
  const collator = new Intl.Collator("en", { numeric: true });

  // Opens the folded sections around an element, for readers who follow a link or print.
  const unfold = (element) => {
    for (let at = element; at; at = at.parentElement) if (at.localName === "details") at.open = true;
  };

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  // A cell is a text, or a text and the number that it is sorted by.
  const textOf = (cell) => (typeof cell === "string" ? cell : cell[0]);

  // A cell as [rank, value]: numbers come before texts. An empty cell has no rank.
  const sortKey = (cell) => {
    const text = textOf(cell);
    if (!text) return null;
    const number = typeof cell === "string" ? Number(text) : cell[1];
    return Number.isFinite(number) ? [0, number] : [1, text];
  };

  // Empty cells stay last in both directions.
  const compare = (a, b, sign) => {
    if (!a || !b) return Boolean(b) - Boolean(a);
    if (a[0] !== b[0]) return sign * (a[0] - b[0]);
    return sign * (a[0] === 0 ? a[1] - b[1] : collator.compare(a[1], b[1]));
  };

  const cellElement = (cell, column) => {
    const text = textOf(cell);
    const className = text.length > LONG ? "long" : column.numeric ? "num" : "";
    const tagged = TAGGED.has(column.name) && text;
    return make("td", { className }, tagged ? make("span", { className: `tag ${text}` }, text) : text);
  };

  // Drawn once, when first shown.
  const rowElement = (table, row) => {
    if (!row.element) {
      const link = make("a", { className: "self", href: `#${row.anchor}` }, "#");
      link.setAttribute("aria-label", "Link to this row");
      const cells = row.cells.map((cell, i) => cellElement(cell, table.columns[i]));
      row.element = make("tr", { id: row.anchor }, make("td", { className: "link" }, link), ...cells);
    }
    return row.element;
  };

  // A word such as epsilon=1 asks for a cell of a column; any other word for a text anywhere.
  const has = (table, row, word, name) => {
    const [, key, value] = word.match(/^([^=]+)=(.+)$/) || [];
    const at = table.columns.findIndex((column) => column.name.toLowerCase() === key);
    if (at >= 0) return textOf(row.cells[at]).toLowerCase() === value;
    row.text ??= row.cells.map(textOf).join(" ").toLowerCase();
    return row.text.includes(word) || name.includes(word);
  };

  const sorted = (table, rows) => {
    const at = table.headings.findIndex((heading) => heading.ariaSort !== "none");
    if (at < 0) return rows;
    const sign = table.headings[at].ariaSort === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => [sortKey(row.cells[at]), row]);
    // The sort is stable, and always starts from the grid's order.
    return keyed.sort((a, b) => compare(a[0], b[0], sign)).map(([, row]) => row);
  };

  const draw = (table) => {
    const rows = sorted(table, table.shown);
    const drawn = table.whole ? rows : rows.slice(0, FIRST);
    table.body.replaceChildren(...drawn.map((row) => rowElement(table, row)));
    table.more.hidden = drawn.length === rows.length;
    table.more.textContent = `Show all ${rows.length} rows`;
  };

  // Each click goes on: ascending, descending, the order of the grid.
  const sortBy = (table, heading) => {
    const next = { none: "ascending", ascending: "descending", descending: "none" }[heading.ariaSort];
    for (const other of table.headings) other.ariaSort = "none";
    heading.ariaSort = next;
    draw(table);
  };

  const everywhere = make("input", { type: "search", placeholder: "for example: sparse epsilon=1" });
  const summary = make("p", {});
  const tables = [];

  // Only the count beside the box in use is announced, or one letter would announce every table.
  const say = (element, text, announced) => {
    element.setAttribute("aria-live", announced ? "polite" : "off");
    element.textContent = text;
  };

  const update = (used) => {
    const global = words(everywhere.value);
    for (const table of tables) {
      const local = words(table.input.value);
      table.shown = table.rows.filter((row) => (table.verdicts.size === 0 || table.verdicts.has(row.verdict))
        && local.every((word) => has(table, row, word, ""))
        && global.every((word) => has(table, row, word, table.name)));
      table.box.hidden = table.shown.length === 0;
      if (global.length > 0 && table.shown.length > 0 && used === null) unfold(table.box);
      say(table.count, `${table.shown.length} of ${table.rows.length} rows`, used === table);
      draw(table);
    }
    const sum = (number) => tables.reduce((total, table) => total + number(table), 0);
    const rows = `${sum((table) => table.shown.length)} of ${sum((table) => table.rows.length)} rows`;
    say(summary, `${rows}, in ${sum((table) => table.shown.length > 0)} of ${tables.length} tables`, !used);
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
    table.whole = true;
    update(table);
  };

  // A link to what is folded away, filtered out or not drawn shows it.
  const reveal = () => {
    const anchor = decodeURIComponent(location.hash.slice(1));
    if (!anchor) return;
    const isLinked = (row) => row.anchor === anchor;
    const table = tables.find(({ rows }) => rows.some(isLinked));
    if (table && !document.getElementById(anchor)) clear(table);
    const element = document.getElementById(anchor);
    if (!element) return;
    unfold(element.querySelector(":scope > details") ?? element);
    for (const other of all("tr.target", document)) other.classList.remove("target");
    if (table) element.classList.add("target");
    element.scrollIntoView();
  };

  const headingOf = (table, column) => {
    const button = make("button", { type: "button" }, column.name);
    const heading = make("th", { scope: "col", className: column.numeric ? "num" : "" }, button);
    heading.ariaSort = "none";
    button.onclick = () => sortBy(table, heading);
    return heading;
  };

  const addTable = (article, columns, rows) => {
    const box = article.querySelector(".rows");
    const name = article.querySelector("code").textContent.toLowerCase();
    const table = { box, name, columns, rows, verdicts: new Set(), shown: rows, whole: false };
    table.headings = columns.map((column) => headingOf(table, column));
    const sign = make("abbr", { title: "Link to the row" }, "#");
    const link = make("th", { scope: "col", className: "link" }, sign);
    box.querySelector("thead").replaceChildren(make("tr", {}, link, ...table.headings));
    table.body = box.querySelector("tbody");
    table.input = make("input", { type: "search", oninput: () => update(table) });
    table.count = make("p", {});
    table.more = make("button", { type: "button", className: "more" });
    table.more.onclick = () => {
      table.whole = true;
      draw(table);
    };
    const chips = VERDICTS.map((verdict) => [verdict, rows.filter((row) => row.verdict === verdict).length])
      .filter(([, number]) => number > 0);
    table.chips = chips.length < 2 ? [] : chips.map(([verdict, number]) => verdictChip(table, verdict, number));
    const label = make("label", {}, "Filter rows", table.input);
    box.before(make("div", { className: "controls" }, label, ...table.chips, table.count));
    box.after(table.more);
    tables.push(table);
  };

  const open = async (packed) => {
    const article = packed.closest("article");
    const { figure, columns, rows } = await unpack(packed.textContent);
    if (figure) {
      const element = article.querySelector("figure");
      element.firstElementChild.innerHTML = figure;
      const enlarge = make("button", { type: "button", className: "enlarge", textContent: "Enlarge" });
      enlarge.onclick = () => {
        enlarge.textContent = element.classList.toggle("enlarged") ? "Fit to the page" : "Enlarge";
      };
      element.querySelector("figcaption").append(" ", enlarge);
      element.hidden = false;
    }
    if (rows.length > 0) addTable(article, columns, rows);
    const note = article.querySelector(".packed-note");
    if (note) note.remove();
  };

  if (typeof DecompressionStream !== "undefined") for (const packed of all(".packed", document)) await open(packed);
  if (tables.length > 0) {
    const place = document.getElementById("filter");
    place.append(make("label", {}, "Filter the rows of all tables", everywhere), summary);
    place.hidden = false;
    everywhere.oninput = () => update(null);
    update(undefined);
  }
  addEventListener("hashchange", reveal);
  reveal();

  // Folded sections and undrawn rows would be missing on paper.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])", document);
    for (const details of opened) details.open = true;
    for (const table of tables) {
      table.wasWhole = table.whole;
      table.whole = true;
      draw(table);
    }
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    for (const table of tables) {
      table.whole = table.wasWhole;
      draw(table);
    }
  });

  window.dpgpReady = true;
})();
