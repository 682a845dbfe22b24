// The drill-down of a cell: its rounds, seconds, latencies, host, counters.

const sheet = byId("drilldown");
let opener = null;

async function showDrilldown() {
  const cell = openCell();
  if (!cell) {
    if (sheet.open) sheet.close();
    return;
  }
  const [data, views] = await Promise.all([load(`cells-${cell.row}`), load("views")]);
  const own = data.cells[cell.column];
  if (!own) return change({ cell: "" });
  const baseColumn = cell.level * model.systems.length + model.systems.indexOf(state.base);
  const context = {
    cell,
    own,
    base: data.cells[baseColumn],
    names: data.counters,
    all: data.cells,
    isBase: baseColumn === cell.column,
    // What changed is known against the plan's base.
    explained: state.base === model.base ? own.explained : null,
  };
  context.trial = own.trials.find((trial) => String(trial.round) === state.round) ?? typical(own);
  const at = cell.row * model.clients.length * model.systems.length + cell.column;
  const view = views[model.systems.indexOf(state.base)];
  context.figures = pick(view, at);
  context.notes = view.notes.cells[at].map((place) => view.notes.words[place]);
  context.rounds = view.rounds.ratios[at];
  context.interval = view.rounds.interval[at];
  if (!sheet.open) {
    opener = document.activeElement;
    sheet.showModal();
  }
  sheet.replaceChildren(head(context), body(context));
  draw(context);
}

// The trial with the median rate, among the completed trials whose seconds are in the page.
function typical(own) {
  const shown = own.trials.filter((trial) => trial.series && !trial.failure).sort((a, b) => a.rate - b.rate);
  return shown[Math.floor((shown.length - 1) / 2)] ?? own.trials[0];
}

const pick = (views, at) => ({
  rate: views.absolute.main[at],
  ratio: views.relative.main[at],
  interval: views.relative.side[at],
});

function head({ cell }) {
  const step = model.steps[cell.row];
  return make(
    "div",
    { class: "sheet-head" },
    make(
      "div",
      {},
      make("h2", { id: "drilldown-title" }, `${cell.step} · ${cell.system}`),
      make(
        "p",
        {},
        `${cell.clients} ${cell.clients === 1 ? "client" : "clients"} · ${step.group} · an operation is a ${step.operation}`,
      ),
    ),
    make(
      "nav",
      { "aria-label": "Cells" },
      make("button", { type: "button", title: "The test before (K)", onclick: () => walk(-1) }, "↑"),
      make("button", { type: "button", title: "The next test (J)", onclick: () => walk(1) }, "↓"),
      make(
        "button",
        { type: "button", title: "Close (Esc)", "aria-label": "Close", onclick: () => sheet.close() },
        "✕",
      ),
    ),
  );
}

function body(context) {
  const { cell, own, base, trial, names, isBase } = context;
  const plot = (name, title) => [make("h3", {}, title), make("div", { class: "plot", "data-plot": name })];
  return make(
    "div",
    { class: "sheet" },
    figures(context),
    context.notes.length ? make("ul", { class: "notes" }, ...context.notes.map((says) => make("li", {}, says))) : null,
    ...explanation(context.explained),
    ...roundCharts(context),
    make("h3", {}, "One round"),
    chips(own, trial),
    failure(trial),
    ...(trial.series
      ? [...plot("rate", trial.slices ? "Operations a second; each point is about a second of slices" : "Operations a second, each second"), ...plot("latency", "Latency, each second")]
      : [
          make(
            "p",
            { class: "fine" },
            "The seconds of this round are not in this file; the results file has them.",
          ),
        ]),
    ...plot(
      "distribution",
      `Latency distribution, all rounds, ${cell.clients} ${cell.clients === 1 ? "client" : "clients"}`,
    ),
    ...(trial.series
      ? [
          ...plot("cpu", "CPUs kept busy"),
          ...plot("io", "Device, MiB a second"),
          ...plot("requests", "Device, requests a second"),
        ]
      : []),
    ...checkTable(own),
    make("h3", {}, isBase ? "Counters" : `Counters, by change against ${state.base}`),
    counterTable(own, isBase ? null : base, names, state.base),
    make("h3", {}, "Data"),
    make(
      "button",
      {
        type: "button",
        onclick: () =>
          download(
            `${model.plan}-${model.run}-${cell.step}-${cell.system}-${cell.clients}`,
            csvRows(cell.step, cell.system, cell.clients, own),
          ),
      },
      "Seconds as CSV",
    ),
    model.thinned
      ? make(
          "p",
          { class: "fine" },
          "This run is long, so the page has only the middle round, thinned: each pair of points is the minimum and the maximum of several seconds. `dyno export` writes every second of every round.",
        )
      : null,
  );
}

function figures({ own, trial, figures, isBase }) {
  const fact = (name, value, small) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value, small ? make("small", {}, small) : null));
  const facts = [fact("operations a second", figures.rate, "median of the rounds")];
  if (!isBase) facts.push(fact(`against ${state.base}`, figures.ratio, figures.interval));
  if (own.latency) {
    // A percentile that unfinished events determine is a lower bound.
    const shown = (us, at) => (own.latency.lower_bounds?.[at] ? "≥ " : "") + latency(us);
    const [p50, p95, p99, slowest] = [...own.latency.percentiles_us, own.latency.max_us].map(shown);
    facts.push(fact("median latency", p50), fact("99th percentile", p99, `95th ${p95}, slowest ${slowest}`));
  }
  if (trial.errors)
    facts.push(
      fact(
        "errors",
        trial.errors.toLocaleString("en-US"),
        Object.entries(trial.error_codes ?? {})
          .map(([code, count]) => `${code}: ${count}`)
          .join(", "),
      ),
    );
  if (trial.slices) {
    const between = trial.rest_cpu_seconds == null ? "" : `; between them the server used ${threeDigits(trial.rest_cpu_seconds)} s of CPU`;
    facts.push(fact("slices in a round", String(trial.slices), `of ${threeDigits(trial.slice_seconds)} s${between}`));
  }
  if (trial.backlog)
    facts.push(
      fact(
        "backlog",
        trial.backlog.toLocaleString("en-US"),
        "events due and not begun at the end",
      ),
    );
  if (trial.unfinished)
    facts.push(fact("unfinished", trial.unfinished.toLocaleString("en-US"), "events in flight that never ended"));
  return make("dl", { class: "figures" }, ...facts);
}

function chips(own, shown) {
  const chip = (trial) =>
    make(
      "label",
      { class: trial.failure ? "failed" : isDisturbed(trial) ? "disturbed" : null },
      make("input", {
        type: "radio",
        name: "round",
        checked: trial === shown,
        onchange: () => {
          change({ round: String(trial.round) });
          showDrilldown().then(() => sheet.querySelector("input[name=round]:checked")?.focus());
        },
      }),
      trial.failure
        ? `${trial.round + 1}: failed`
        : `${trial.round + 1}: ${threeDigits(trial.rate ?? 0)}/s${isDisturbed(trial) ? ", disturbed" : ""}`,
    );
  return make("fieldset", { class: "chips", "aria-label": "Round" }, ...own.trials.map(chip));
}

function failure(trial) {
  if (!trial.failure) return null;
  return make(
    "div",
    { class: "note" },
    trial.failure.message,
    trial.failure.log_tail ? make("pre", { class: "log", tabindex: "0" }, trial.failure.log_tail) : null,
  );
}

function draw(context) {
  const place = (name) => sheet.querySelector(`[data-plot="${name}"]`);
  const { cell, trial, all, base, isBase } = context;
  const systems = model.systems.length;
  drawDistribution(
    place("distribution"),
    model.systems.flatMap((label, at) => {
      const data = all[cell.level * systems + at];
      return data?.latency
        ? [
            {
              label,
              latency: data.latency,
              colour: colourOf(label),
              width: label === cell.system ? 2.6 : 1.4,
            },
          ]
        : [];
    }),
  );
  const series = trial.series;
  if (!series) return;
  const own = colourOf(cell.system);
  const warmupEnd = series.warmup ? series.at[series.warmup - 1] : 0;
  const marks = (trial.marks ?? []).map((mark) => ({
    at: series.at[Math.floor(mark.second / series.bucket) * (series.bucket > 1 ? 2 : 1)] ?? series.at.at(-1),
    what: mark.what,
  }));
  const options = { warmupEnd, marks };
  drawRate(place("rate"), series, own, isBase ? null : partner(base, trial), options);
  drawSeconds(
    place("latency"),
    series.at,
    [
      { label: "p99", values: positive(series.p99_us), colour: own, width: 1.2 },
      { label: "p95", values: positive(series.p95_us), colour: own, width: 1.2, dash: [4, 3] },
      { label: "p50", values: positive(series.p50_us), colour: own, width: 2.2 },
    ],
    {
      ...options,
      log: true,
      unit: roundLatency,
      value: latency,
      bands: [
        { series: [1, 2], fill: faint(own, 0.1) },
        { series: [2, 3], fill: faint(own, 0.18) },
      ],
    },
  );
  const cpu = (label, name, shade) => ({ label, values: series[name], colour: colour(shade) });
  drawSeconds(
    place("cpu"),
    series.at,
    stacked([
      cpu("server, user", "server_user_cpus", "s0"),
      cpu("server, kernel", "server_system_cpus", "s5"),
      cpu("client", "client_cpus", "s2"),
      cpu("others", "other_cpus", "s7"),
      cpu("waiting for storage", "iowait_cpus", "s1"),
      cpu("stolen", "steal_cpus", "s3"),
    ]),
    { ...options, unit: (tick) => tick, value: threeDigits },
  );
  drawSeconds(
    place("io"),
    series.at,
    [
      { label: "read", values: series.device_read_mib_per_second, colour: colour("s0") },
      { label: "written", values: series.device_write_mib_per_second, colour: colour("s1") },
    ],
    { ...options, height: 140, unit: (tick) => tick, value: threeDigits },
  );
  drawSeconds(
    place("requests"),
    series.at,
    [
      { label: "reads", values: series.device_reads_per_second, colour: colour("s0") },
      { label: "writes", values: series.device_writes_per_second, colour: colour("s1") },
      { label: "flushes", values: series.device_flushes_per_second, colour: colour("s2") },
    ],
    { ...options, height: 140, unit: (tick) => threeDigits(tick), value: threeDigits },
  );
}

// Draws throughput, with the base's trial of the same round dashed behind it.
function drawRate(place, series, own, other, options) {
  const label = "operations a second";
  if (series.at.length < 2) return drawSeconds(place, series.at, [], options);
  let data = [series.at, series.operations_per_second ?? series.at.map(() => 0)];
  if (other?.operations_per_second) data = uPlot.join([data, [other.at, other.operations_per_second]]);
  const lines = [{ label, values: data[1], colour: own, width: 2 }];
  if (data[2])
    lines.unshift({ label: state.base, values: data[2], colour: colourOf(state.base), width: 1.2, dash: [4, 3] });
  drawSeconds(place, data[0], lines, { ...options, unit: threeDigits, value: threeDigits });
}

const partner = (base, trial) =>
  (
    base?.trials.find((other) => other.round === trial.round && other.series) ??
    base?.trials.find((other) => other.series)
  )?.series;
const positive = (values) => values?.map((value) => (value > 0 ? value : null));
const faint = (rgb, alpha) => rgb.replace("rgb(", "rgba(").replace(")", `, ${alpha})`);

// Opens the cell of the same system and clients in the next test that has one.
function walk(by) {
  const cell = openCell();
  if (!cell) return;
  for (let row = cell.row + by; model.steps[row]; row += by) {
    const name = cellName(model.steps[row].id, cell.system, cell.clients);
    const exists = [...document.querySelectorAll('table[data-matrix="absolute"] td a')].some(
      (link) => decodeURIComponent(link.hash) === decodeURIComponent("#cell=" + name),
    );
    if (!exists) continue;
    change({ cell: name, round: "" });
    showDrilldown();
    return;
  }
}

function setUpDrilldown() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#cell=']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    change({ cell: link.getAttribute("href").slice("#cell=".length), round: "" });
    showDrilldown();
  });
  sheet.addEventListener("close", () => {
    if (state.cell !== "") change({ cell: "", round: "" });
    sheet.replaceChildren();
    opener?.focus?.();
  });
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
  sheet.addEventListener("keydown", (event) => {
    if (event.target.matches("input[type=search]")) return;
    if (event.key === "j") walk(1);
    if (event.key === "k") walk(-1);
  });
}
