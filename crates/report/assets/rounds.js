// The rounds of a cell, with one dot each for the ratio to the base and for the rate.

const ROUNDS = { widthMax: 860, height: 96, left: 64, right: 8, top: 8, bottom: 18 };

function makeSvg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Dots over rounds. `groups` are { label, shade, points: [round, value] }; `band` is an interval. `one` requests
// a line at 1 if it is within the scale.
function roundsChart(label, groups, { band, one } = {}) {
  const { widthMax, height, left, right, top, bottom } = ROUNDS;
  // As wide as its place, so that letters keep their size.
  const width = Math.min(widthMax, Math.max(280, sheet.clientWidth - 48));
  const points = groups.flatMap((group) => group.points);
  const values = [...points.map(([, value]) => value), ...(band ?? [])].filter((value) => value > 0);
  if (!values.length) return null;
  const reach = Math.max(Math.max(...values) / Math.min(...values), 1.02) ** 0.12;
  const [low, high] = [Math.min(...values) / reach, Math.max(...values) * reach];
  const last = Math.max(...points.map(([round]) => round));
  const x = (round) => left + 10 + (round / Math.max(last, 1)) * (width - left - right - 20);
  const y = (value) => top + (1 - Math.log(value / low) / Math.log(high / low)) * (height - top - bottom);
  const line = (value, name) =>
    makeSvg("path", { class: name, d: `M${left} ${y(value)}H${width - right}` });
  const text = (at, down, anchor, words) =>
    makeSvg("text", { x: at, y: down, "text-anchor": anchor }, words);
  const parts = [];
  if (band) {
    const [bottomEnd, topEnd] = band.map(y);
    const size = { width: width - right - left, height: Math.max(bottomEnd - topEnd, 1) };
    parts.push(makeSvg("rect", { class: "band", x: left, y: topEnd, ...size }));
  }
  if (one && low < 1 && high > 1) parts.push(line(1, "one"), text(left - 8, y(1) + 4, "end", "1"));
  for (const { shade, points, label } of groups) {
    for (const [round, value] of points) {
      if (!(value > 0)) continue;
      const title = makeSvg("title", {}, `round ${round + 1}, ${label}: ${threeDigits(value)}`);
      parts.push(makeSvg("circle", { class: shade, cx: x(round), cy: y(value), r: 4 }, title));
    }
  }
  parts.push(text(left - 8, top + 8, "end", threeDigits(high)));
  parts.push(text(left - 8, height - bottom, "end", threeDigits(low)));
  parts.push(text(x(0), height - 4, "middle", "round 1"));
  if (last > 0) parts.push(text(x(last), height - 4, "end", `${last + 1}`));
  return makeSvg("svg", { class: "rounds", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...parts);
}

// Ratios with their interval, then rates beside the base's. A single round without interval has no chart.
function roundCharts({ own, base, isBase, cell, rounds, interval }) {
  const charts = [];
  const hue = (system) => `s${model.systems.indexOf(system) % 8}`;
  const shade = `own ${hue(cell.system)}`;
  if (!isBase && rounds.length) {
    const label = `Ratio of each round to ${state.base}`;
    const chart = roundsChart(label, [{ label: "ratio", shade, points: rounds }], { band: interval, one: true });
    charts.push(make("h3", {}, interval ? `${label}; shaded: the interval` : label), chart);
  }
  const rates = (data) => data.trials.filter((trial) => !trial.failure && trial.rate).map((trial) => [trial.round, trial.rate]);
  const groups = [{ label: cell.system, shade, points: rates(own) }];
  if (!isBase && base) groups.unshift({ label: state.base, shade: `base ${hue(state.base)}`, points: rates(base) });
  const label = "Operations a second in each round";
  // One round has nothing to be compared with.
  const chart = groups.some((group) => group.points.length > 1) ? roundsChart(label, groups) : null;
  if (chart) charts.push(make("h3", {}, groups.length > 1 ? `${label}; hollow: ${state.base}` : label), chart);
  return charts;
}
