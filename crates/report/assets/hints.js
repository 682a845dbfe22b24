// What a pointer over a cell tells: its verdict, why it has none, what would decide it, and its warnings.

async function showHints() {
  const views = (await load("views"))[model.systems.indexOf(state.base)];
  const columns = model.clients.length * model.systems.length;
  const hint = (at) => views.notes.cells[at].map((place) => views.notes.words[place]).join("\n");
  for (const table of matrices) {
    if (table.dataset.matrix === "efficiency") continue;
    cellsOf.get(table).forEach((cell, at) => setHint(cell.querySelector("a"), hint(at)));
  }
  for (const link of document.querySelectorAll("#forest a[href^='#cell=']")) {
    const place = cellOf(link.getAttribute("href").slice("#cell=".length));
    if (place) setHint(link, hint(place.row * columns + place.column));
  }
}

function setHint(link, hint) {
  if (!link) return;
  if (hint) link.title = hint;
  else link.removeAttribute("title");
}
