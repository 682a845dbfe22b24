// A cell's counters beside the base's, in order of decreasing difference.

function counterRows(own, base, names) {
  const others = new Map((base?.counters ?? []).map(([name, , value]) => [name, value]));
  const rows = own.counters.map(([name, isLevel, value]) => {
    const other = others.get(name);
    others.delete(name);
    return { name: names[name], isLevel, value, other, ratio: other ? value / other : null };
  });
  const far = (row) => (row.ratio > 0 ? Math.abs(Math.log(row.ratio)) : -1);
  return rows.sort((a, b) => a.isLevel - b.isLevel || far(b) - far(a) || a.name.localeCompare(b.name));
}

function counterTable(own, base, names, baseName) {
  const rows = counterRows(own, base, names);
  if (!rows.length) return make("p", { class: "fine" }, "No counters were read.");
  const body = make("tbody");
  const show = (part) => {
    const wanted = rows.filter((row) => row.name.toLowerCase().includes(part.toLowerCase())).slice(0, 300);
    body.replaceChildren(
      ...wanted.map((row) =>
        make(
          "tr",
          {},
          make(
            "th",
            { scope: "row" },
            make("code", {}, row.name),
            row.isLevel ? make("span", { class: "fine" }, " level") : null,
          ),
          make("td", {}, (row.isLevel ? amount : threeDigits)(row.value)),
          make("td", {}, row.other == null ? "–" : (row.isLevel ? amount : threeDigits)(row.other)),
          make("td", {}, row.ratio == null ? "–" : times(row.ratio)),
        ),
      ),
    );
  };
  show("");
  const head = ["counter", "per operation", base ? `of ${baseName}` : "of the base", "change"];
  return make(
    "div",
    {},
    make(
      "div",
      { class: "counter-tools" },
      make("input", {
        type: "search",
        placeholder: "part of a name",
        "aria-label": "Part of a counter's name",
        oninput: (event) => show(event.target.value),
      }),
      make("span", { class: "fine" }, `${rows.length} counters; levels as they stood at the end`),
    ),
    make(
      "div",
      { class: "counters", tabindex: "0" },
      make(
        "table",
        {},
        make("caption", { class: "hidden-text" }, "Counters per operation, by change against the base"),
        make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))),
        body,
      ),
    ),
  );
}
