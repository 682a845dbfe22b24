// The state of the view, and its copy in the address, so that a view can be shared.

// With more columns than this, the page starts with one client count.
const COLUMNS_MAX = innerWidth < 700 ? 3 : 8;

const columnsOfAll = model.clients.length * model.systems.length;
const defaults = {
  base: model.base,
  clients: columnsOfAll > COLUMNS_MAX && model.clients.length > 1 ? String(model.clientsOfMostTests) : "",
  group: "",
  cost: "0",
  round: "",
  cell: "",
};
const state = { ...defaults };

function readAddress() {
  Object.assign(state, defaults);
  for (const part of location.hash.slice(1).split("&")) {
    const [key, value] = part.split("=", 2);
    if (!(key in defaults) || value == null) continue;
    try {
      state[key] = key === "cell" ? value : decodeURIComponent(value);
    } catch {
      // The value is not valid, so the default stays.
    }
  }
  if (!model.systems.includes(state.base)) state.base = defaults.base;
  if (state.clients === "all") state.clients = "";
  if (!model.costs[Number(state.cost)]) state.cost = defaults.cost;
}

function address() {
  const parts = [];
  for (const [key, value] of Object.entries(state)) {
    if (value === defaults[key]) continue;
    const text = key === "clients" && value === "" ? "all" : value;
    parts.push(`${key}=${key === "cell" ? text : encodeURIComponent(text)}`);
  }
  return parts.length ? "#" + parts.join("&") : location.pathname + location.search;
}

// Changes the state and the address. The browser's Back closes an opened cell.
function change(changes) {
  const opens = "cell" in changes && changes.cell !== "" && state.cell === "";
  Object.assign(state, changes);
  history[opens ? "pushState" : "replaceState"](null, "", address());
}

function cellName(step, system, clients) {
  return [step, system, clients].map((part) => encodeURIComponent(part)).join("/");
}

// The cell with a name and its place; none if no cell has that name.
function cellOf(name) {
  try {
    const [step, system, clients] = name.split("/").map(decodeURIComponent);
    const cell = { step, system, clients: Number(clients) };
    const place = placeOf(cell);
    return place && { ...cell, ...place };
  } catch {
    return null;
  }
}

function openCell() {
  return cellOf(state.cell);
}
