// Why a cell differs from the plan's base: what changed, plans, suspects.

function explanation(explained) {
  if (!explained) return [];
  const row = ([name, base, own, ratio]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("code", {}, name)),
      make("td", {}, base),
      make("td", {}, own),
      make("td", {}, ratio),
    );
  const head = ["for an operation", model.base, "this", "ratio"];
  return [
    make("h3", {}, `Why, against ${model.base}`),
    ...explained.says.map((says) => make("p", {}, says)),
    explained.changes.length
      ? make(
          "div",
          { class: "counters", tabindex: "0" },
          make(
            "table",
            {},
            make("caption", { class: "hidden-text" }, "Costs and counters that clearly changed"),
            make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))),
            make("tbody", {}, ...explained.changes.map(row)),
          ),
        )
      : null,
    explained.note ? make("p", { class: "fine" }, explained.note) : null,
    ...(explained.plans ?? []).flatMap(planPair),
    explained.suspects
      ? make("ul", { class: "notes" }, ...explained.suspects.map((says) => make("li", {}, says)))
      : null,
  ];
}

function planPair({ title, base, own }) {
  const plan = (whose, text) =>
    make("figure", { class: "listing" }, make("figcaption", {}, whose), make("pre", { tabindex: "0" }, text));
  return [
    make("p", { class: "fine" }, title),
    make("div", { class: "listings" }, plan(model.base, base), plan("this", own)),
  ];
}
