// The data of the page.

const byId = (id) => document.getElementById(id);
const model = JSON.parse(byId("model").textContent);

// Decodes a block of base64 with deflated JSON.
async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Decodes each block at most once.
const unpacked = new Map();
function load(id) {
  if (!unpacked.has(id)) unpacked.set(id, unpack(id));
  return unpacked.get(id);
}

// Position of a cell: its row, and its index in the row.
function placeOf(cell) {
  const row = model.steps.findIndex((step) => step.id === cell.step);
  const system = model.systems.indexOf(cell.system);
  const level = model.clients.indexOf(cell.clients);
  if (row < 0 || system < 0 || level < 0) return null;
  return { row, column: level * model.systems.length + system, level };
}

// Creates an element with attributes and children. Strings become text, not HTML.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null && child !== false));
  return element;
}

// Formats three significant digits, in the format of the reports.
function threeDigits(value) {
  if (value === 0) return "0";
  if (Math.abs(value) < 0.00005) return "<0.0001";
  if (Math.abs(value) >= 999.5) return Number(value.toPrecision(3)).toLocaleString("en-US");
  return value.toFixed(
    Math.max(0, Math.min(4, 3 - Number(value.toPrecision(3)).toExponential().split("e")[1] - 1)),
  );
}

// Formats a multiple, in the format of the reports: one below a tenth is turned around.
function times(multiple) {
  return multiple > 0 && multiple < 0.1 ? "÷" + threeDigits(1 / multiple) : "×" + threeDigits(multiple);
}

// Formats a count or a size: whole numbers below a million as they are.
function amount(value) {
  const isExact = Number.isInteger(value) && Math.abs(value) >= 1000 && Math.abs(value) < 1e6;
  return isExact ? value.toLocaleString("en-US") : threeDigits(value);
}

// Formats a latency with the unit that makes it shortest.
function latency(us) {
  if (us >= 1e6) return threeDigits(us / 1e6) + " s";
  return us >= 1e3 ? threeDigits(us / 1e3) + " ms" : threeDigits(us) + " µs";
}

// Formats a latency for ticks, which are round: "10 ms", not "10.0 ms".
function roundLatency(us) {
  return latency(us).replace(/\.0+(?= )/, "");
}
