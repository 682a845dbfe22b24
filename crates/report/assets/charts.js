// Charts of the seconds of a trial and of latency distributions, drawn with uPlot.

const sync = uPlot.sync("seconds");

function axes(unit, isLog) {
  const [ink, grid] = [colour("muted"), colour("line")];
  const axis = { stroke: ink, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  const line = { stroke: grid, width: 1 };
  // On a logarithmic scale, only powers of ten have a grid line.
  const isPower = (tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9;
  const powers = (_, ticks) => ticks.map((tick) => (isLog && !isPower(tick) ? null : tick));
  return [
    { ...axis, grid: line, size: 26, values: (_, ticks) => ticks.map((tick) => tick + " s") },
    {
      ...axis,
      grid: { ...line, filter: powers },
      size: 58,
      values: (_, ticks) => ticks.map((tick) => (tick == null ? "" : unit(tick))),
    },
  ];
}

// Draws series of one trial. `lines` are { label, values, colour, fill, dash, width }.
function drawSeconds(place, at, lines, options) {
  const has = (line, is) => line.values?.some((value) => value != null && is(value));
  const measured = lines.filter((line) => has(line, () => true));
  const shown = measured.filter((line) => has(line, (value) => value !== 0));
  if (!shown.length || at.length < 2) {
    const why =
      at.length < 2
        ? "Too short for a chart: fewer than two samples."
        : measured.length
          ? "None in any second."
          : "Not measured.";
    place.append(make("p", { class: "fine" }, why));
    return null;
  }
  const series = shown.map((line) => ({
    label: line.label,
    stroke: line.colour,
    width: line.width ?? 1.6,
    fill: line.fill,
    dash: line.dash,
    points: { show: at.length < 40, size: 4 },
    spanGaps: true,
    value: (plot, value, at, second) => told(line.own ?? plot.data[at], value, second, options.value),
  }));
  const plot = new uPlot(
    {
      width: place.clientWidth || 600,
      height: options.height ?? 170,
      cursor: { sync: { key: sync.key }, y: false },
      scales: {
        x: { time: false, range: (_, least, most) => [Math.min(0, least), most] },
        y: options.log ? { distr: 3 } : { range: (_, least, most) => [0, most > 0 ? most * 1.06 : 1] },
      },
      axes: axes(options.unit, options.log),
      series: [
        { label: "values", value: (_, value) => (value == null ? "medians" : `at ${value.toFixed(1)} s`) },
        ...series,
      ],
      bands: options.bands,
      hooks: {
        drawClear: [(plot) => shade(plot, options.warmupEnd)],
        draw: [(plot) => drawMarks(plot, options.marks ?? [])],
      },
    },
    [at, ...shown.map((line) => line.values)],
    place,
  );
  return plot;
}

// The legend's value of a line: that under the pointer, or the median without one. `values` are the line's own, where
// it is drawn on top of others.
function told(values, value, at, write) {
  if (at != null) return value == null ? "–" : write(values[at] ?? value);
  const known = values.filter((known) => known != null).sort((a, b) => a - b);
  return known.length ? write(known[Math.floor((known.length - 1) / 2)]) : "–";
}

// Shades the warm-up, which results do not count, in grey.
function shade(plot, end) {
  if (!end) return;
  const { left, top, height } = plot.bbox;
  plot.ctx.fillStyle = colour("panel");
  plot.ctx.fillRect(left, top, Math.max(0, plot.valToPos(end, "x", true) - left), height);
}

// Marks background work of the server with labelled lines.
function drawMarks(plot, marks) {
  const { top, height } = plot.bbox;
  const context = plot.ctx;
  context.save();
  context.strokeStyle = context.fillStyle = colour("worse");
  context.setLineDash([3, 3]);
  context.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  let free = -Infinity;
  for (const { at, what } of marks) {
    const x = plot.valToPos(at, "x", true);
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + height);
    context.stroke();
    if (x > free) {
      context.fillText(what, x + 3, top + 10 * devicePixelRatio);
      free = x + context.measureText(what).width + 12;
    }
  }
  context.restore();
}

// Stacks layers: the values of a line are the sum of its own and those of the layers below.
function stacked(layers) {
  const known = layers.filter((layer) => layer.values);
  let sums = null;
  const lines = known.map((layer) => {
    sums = layer.values.map((value, at) => (value ?? 0) + (sums ? sums[at] : 0));
    return {
      ...layer,
      values: sums,
      own: layer.values,
      fill: layer.colour.replace("rgb(", "rgba(").replace(")", ", 0.35)"),
      width: 1,
    };
  });
  return lines.reverse();
}

// Latency over nines, one line per system: 1 is the 90th percentile, 2 the 99th.
function drawDistribution(place, lines) {
  const PLACES_PER_NINE = 5;
  const longest = Math.max(0, ...lines.map((line) => line.latency.latency_us.length));
  if (longest < 2) return place.append(make("p", { class: "fine" }, "No latencies."));
  const nines = Array.from({ length: longest }, (_, at) => at / PLACES_PER_NINE);
  const names = { 0: "0", 1: "90%", 2: "99%", 3: "99.9%", 4: "99.99%", 5: "99.999%", 6: "99.9999%" };
  const [x, y] = axes(roundLatency, true);
  const quantile = (value) =>
    value == null
      ? "–"
      : `${Number((100 * (1 - 10 ** -value)).toPrecision(Math.max(3, Math.ceil(value) + 2)))}%`;
  new uPlot(
    {
      width: place.clientWidth || 600,
      height: 220,
      cursor: { y: false },
      scales: { x: { time: false }, y: { distr: 3 } },
      axes: [
        {
          ...x,
          splits: () =>
            Object.keys(names)
              .map(Number)
              .filter((nine) => nine <= nines.at(-1)),
          values: (_, ticks) => ticks.map((tick) => names[tick] ?? ""),
        },
        y,
      ],
      series: [
        { label: "latency", value: (_, value) => (value == null ? "median" : `at ${quantile(value)}`) },
        ...lines.map((line) => ({
          label: line.label,
          stroke: line.colour,
          width: line.width,
          points: { show: false },
          value: (_, us, __, at) => (at == null ? latency(line.latency.percentiles_us[0]) : us == null ? "–" : latency(us)),
        })),
      ],
    },
    [nines, ...lines.map((line) => nines.map((_, at) => line.latency.latency_us[at] || null))],
    place,
  );
}
