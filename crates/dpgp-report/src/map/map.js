/* The numbers of a cell, by pointer and by keyboard. Without it the page shows the same map and table. */
(() => {
  "use strict";
  const map = document.getElementById("map");
  const now = document.getElementById("now");
  const svg = map.querySelector("svg");
  const numbers = (name) => map.dataset[name].split(" ").map(Number);
  const [left, top, width, height] = numbers("rect");
  const edges = [numbers("x"), numbers("y")];
  const headings = [...document.querySelectorAll("#rows thead th")].map((heading) => heading.textContent);
  const here = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  here.setAttribute("class", "here");
  here.setAttribute("stroke-width", 8);
  let at = null;

  const rowOf = (place) => document.getElementById(`c${place[0]}-${place[1]}`);

  const show = (place) => {
    const row = rowOf(place);
    if (!row) return false;
    at = place;
    const [x, y] = edges;
    here.setAttribute("x", left + width * x[place[0]]);
    here.setAttribute("y", top + height * (1 - y[place[1] + 1]));
    here.setAttribute("width", width * (x[place[0] + 1] - x[place[0]]));
    here.setAttribute("height", height * (y[place[1] + 1] - y[place[1]]));
    svg.append(here);
    now.replaceChildren(...[...row.cells].map((cell, i) => {
      const name = document.createElement("b");
      name.textContent = headings[i];
      const item = document.createElement("span");
      item.append(name, ` ${cell.textContent}`);
      return item;
    }));
    return true;
  };

  const place = (event) => {
    const spot = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const parts = [(spot.x - left) / width, 1 - (spot.y - top) / height];
    if (parts.some((part) => !(part >= 0 && part <= 1))) return null;
    return parts.map((part, k) => Math.min(edges[k].filter((edge) => edge <= part).length, edges[k].length - 1) - 1);
  };

  const point = (event) => {
    const found = place(event);
    if (found) show(found);
  };
  map.addEventListener("pointermove", point);
  map.addEventListener("pointerdown", point);

  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };
  map.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    // Over places without a cell, as far as the edge.
    for (let next = at; ;) {
      next = [next[0] + step[0], next[1] + step[1]];
      if (next.some((k, axis) => k < 0 || k > edges[axis].length - 2)) return;
      if (show(next)) return;
    }
  });
  map.addEventListener("focus", () => at || first());
  const first = () => {
    const [, i, j] = document.querySelector("#rows tbody tr").id.match(/^c(\d+)-(\d+)$/);
    show([Number(i), Number(j)]);
  };

  map.tabIndex = 0;
  document.getElementById("hint").hidden = false;
  now.hidden = false;
  window.dpgpReady = true;
})();
