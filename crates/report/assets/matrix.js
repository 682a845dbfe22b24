// The matrices: the visible columns and groups, and the base of the numbers.

const matrices = [...document.querySelectorAll("table[data-matrix]")];
const cellsOf = new Map(
  matrices.map((table) => [
    table,
    [...table.querySelectorAll("tbody tr:not(.group)")].flatMap((row) => [...row.querySelectorAll("td")]),
  ]),
);

// Links every number to its drill-down.
function setUpLinks(table) {
  const columns = model.clients.length * model.systems.length;
  cellsOf.get(table).forEach((cell, at) => {
    const link = cell.querySelector("a");
    if (!link) return;
    const [row, column] = [Math.floor(at / columns), at % columns];
    const clients = model.clients[Math.floor(column / model.systems.length)];
    const name = cellName(model.steps[row].id, model.systems[column % model.systems.length], clients);
    link.setAttribute("href", "#cell=" + name);
  });
}

// Base and cost of the numbers in the page. At first they are the plan's base and the first cost.
let shownNumbers = `${defaults.base}/${defaults.cost}`;

async function showMatrices() {
  showParts();
  for (const select of document.querySelectorAll("#controls select")) select.value = state[select.name];
  for (const cards of document.querySelectorAll("[data-against]"))
    cards.hidden = cards.dataset.against !== state.base;
  for (const head of document.querySelectorAll("th[data-system]"))
    head.toggleAttribute("data-base", head.dataset.system === state.base);
  for (const name of document.querySelectorAll("[data-base-name]")) name.textContent = state.base;
  for (const name of document.querySelectorAll("[data-cost-name]"))
    name.textContent = model.costs[Number(state.cost)];
  const wanted = `${state.base}/${state.cost}`;
  if (wanted === shownNumbers) return;
  shownNumbers = wanted;
  const views = (await load("views"))[model.systems.indexOf(state.base)];
  for (const table of matrices) {
    const name = table.dataset.matrix;
    exchange(cellsOf.get(table), name === "efficiency" ? views.costs[Number(state.cost)] : views[name]);
  }
  // These lines come from the same program as the page, which has escaped them.
  const forest = byId("forest-lines");
  if (forest) forest.innerHTML = views.forest;
  showParts();
  await showHints();
}

// Hides the columns and groups that the controls deselect.
function showParts() {
  for (const head of document.querySelectorAll("th[data-clients]")) {
    head.hidden = state.clients !== "" && head.dataset.clients !== state.clients;
  }
  const levelOf = (at) => Math.floor(at / model.systems.length) % model.clients.length;
  for (const cells of cellsOf.values()) {
    cells.forEach((cell, at) => {
      cell.hidden = state.clients !== "" && String(model.clients[levelOf(at)]) !== state.clients;
    });
  }
  // The plot of all tests shows every client count until the reader chooses one.
  const clients = state.clients === defaults.clients ? "" : state.clients;
  for (const part of document.querySelectorAll("tbody[data-group], figure[data-group]")) {
    const isOther = (wanted, own) => wanted !== "" && own !== undefined && own !== wanted;
    part.hidden = isOther(state.group, part.dataset.group) || isOther(clients, part.dataset.clients);
  }
  for (const row of document.querySelectorAll("table[data-matrix] tbody tr:not(.group)")) {
    const shown = [...row.cells].slice(1).filter((cell) => !cell.hidden);
    row.hidden = shown.every((cell) => cell.textContent.trim() === "");
  }
  for (const heading of document.querySelectorAll("table[data-matrix] tbody tr.group")) {
    heading.hidden = ![...heading.parentElement.rows].some((row) => row !== heading && !row.hidden);
  }
}

function exchange(cells, view) {
  cells.forEach((cell, at) => {
    const link = cell.querySelector("a");
    if (!link) return;
    link.querySelector("b").textContent = view.main[at];
    link.querySelector("i")?.remove();
    if (view.side[at]) link.querySelector("b").after(make("i", {}, view.side[at]));
    if (view.tint[at]) cell.dataset.tint = view.tint[at];
    else delete cell.dataset.tint;
  });
}

// Arrow keys move between cells, and Tab leaves the table.
function setUpKeys(table) {
  const links = () => [...table.querySelectorAll("td a")];
  links().forEach((link, at) => (link.tabIndex = at === 0 ? 0 : -1));
  table.addEventListener("focusin", (event) => {
    if (!event.target.matches("td a")) return;
    links().forEach((link) => (link.tabIndex = link === event.target ? 0 : -1));
  });
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td");
    const rows = [...table.querySelectorAll("tbody:not([hidden]) tr:not(.group):not([hidden])")];
    const row = rows.indexOf(cell?.parentElement);
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (row < 0 || !step) return;
    event.preventDefault();
    let [y, x] = [row, cell.cellIndex];
    do {
      y += step[0];
      x += step[1];
      const next = rows[y]?.cells[x];
      if (!next || next.tagName !== "TD") return;
      const link = next.hidden ? null : next.querySelector("a");
      if (link) return link.focus();
    } while (true);
  });
}
