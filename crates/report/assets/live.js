// The progress of a current run, received from the server of this page.

const OPERATIONS = { query: "queries", transaction: "transactions", row: "rows" };
// Name, key, width of the line and its dashes.
const PERCENTILES = [
  ["p50", "p50_us", 2.2],
  ["p95", "p95_us", 1.2, [4, 3]],
  ["p99", "p99_us", 1.2],
];

function setUpLive() {
  const place = byId("live");
  if (!place) return;
  const part = (name) => place.querySelector(`.${name}`);
  let committed = null;
  const plots = {};
  let hue = colour("muted");
  const source = new EventSource("/events");
  source.addEventListener("message", (event) => {
    const now = JSON.parse(event.data);
    if (now.run !== model.run) return ended();
    if (committed === null) committed = now.committed;
    if (now.committed !== committed) renew();
    if (now.live) show(now.live);
  });
  source.addEventListener("error", () => (part("left").textContent = "the server is gone"));

  function show({ doing, says, next, seconds, ...live }) {
    part("doing").textContent = doing ? title(doing) : says;
    const rates = seconds.operations_per_second;
    part("rate").textContent = rates.length
      ? `${threeDigits(rates.at(-1))} ${OPERATIONS[doing?.operation] ?? "operations"} a second`
      : says;
    const now = PERCENTILES.map(([name, key]) => [name, seconds[key].at(-1)]).filter(([, us]) => us != null);
    part("latency").textContent = now.map(([name, us]) => `${name} ${latency(us)}`).join(" · ");
    const failed = live.failed ? `, ${live.failed} failed` : "";
    part("left").textContent = `${live.ended} of ${live.of} trials${failed} · ${timeLeft(live.seconds_left)}`;
    Object.assign(place.querySelector("progress"), { max: Math.max(1, live.of), value: live.ended });
    part("next").replaceChildren(...next.map((trial) => make("li", {}, title(trial))));
    part("after").hidden = !next.length;
    if (doing) hue = colourOf(doing.system);
    draw("rates", { unit: threeDigits, value: threeDigits }, rates, [
      { label: "operations a second", values: rates, colour: hue, width: 2 },
    ]);
    const percentiles = PERCENTILES.map(([name, key, width, dash]) => {
      return { label: name, values: seconds[key], colour: hue, width, dash };
    });
    draw("latencies", { unit: roundLatency, value: latency }, rates, percentiles);
  }

  function draw(name, options, rates, lines) {
    const at = rates.map((_, second) => second + 1);
    const isKnown = lines.every((line) => line.values.some((value) => value > 0));
    // A line belongs to one trial, and its colour to the system under load.
    if (plots[name]?.hue !== hue) {
      plots[name]?.plot.destroy();
      delete plots[name];
    }
    part(name).hidden = at.length < 2 || !isKnown;
    if (part(name).hidden) return;
    if (plots[name]) plots[name].plot.setData([at, ...lines.map((line) => line.values)]);
    else plots[name] = { hue, plot: drawSeconds(part(name), at, lines, { height: 130, ...options }) };
  }

  // Reloads the page, which keeps its view and scroll position. It does not reload while a cell is open.
  function renew() {
    if (!sheet.open) location.reload();
  }

  function ended() {
    source.close();
    renew();
    part("left").textContent = "the run has ended";
  }
}

function title({ step, system, clients, round }) {
  return `${step} · ${system} · ${clients} ${clients === 1 ? "client" : "clients"} · round ${round + 1}`;
}

function timeLeft(seconds) {
  if (seconds == null) return "";
  const minutes = Math.round(seconds / 60);
  if (seconds < 90) return `about ${Math.ceil(seconds)} s left`;
  return minutes < 90
    ? `about ${minutes} min left`
    : `about ${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}
