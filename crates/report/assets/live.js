// A run that goes on: what it is doing, told by the server that this page came from.

const OPERATIONS = { query: "queries", transaction: "transactions", row: "rows" };

function setUpLive() {
  const place = byId("live");
  if (!place) return;
  const part = (name) => place.querySelector(`.${name}`);
  let committed = null;
  let plot = null;
  const source = new EventSource("/events");
  source.addEventListener("message", (event) => {
    const now = JSON.parse(event.data);
    if (now.run !== model.run) return ended();
    if (committed === null) committed = now.committed;
    if (now.committed !== committed) renew();
    if (now.live) show(now.live);
  });
  source.addEventListener("error", () => (part("left").textContent = "the server is gone"));

  function show(live) {
    const { doing } = live;
    part("doing").textContent = doing
      ? `${doing.step} · ${doing.system} · ${doing.clients} ${doing.clients === 1 ? "client" : "clients"} · trial ${doing.trial + 1}`
      : live.says;
    const rate = live.rates.at(-1);
    part("rate").textContent =
      rate == null
        ? live.says
        : `${threeDigits(rate)} ${OPERATIONS[doing?.operation] ?? "operations"} a second`;
    const failed = live.failed ? `, ${live.failed} failed` : "";
    part("left").textContent = `${live.ended} of ${live.of} trials${failed} · ${timeLeft(live.seconds_left)}`;
    Object.assign(place.querySelector("progress"), { max: Math.max(1, live.of), value: live.ended });
    const data = [live.rates.map((_, at) => at + 1), live.rates];
    if (plot) plot.setData(data);
    else if (live.rates.length > 1) plot = drawLive(part("plot"), data);
  }

  function drawLive(where, [at, values]) {
    const line = [{ label: "operations a second", values, colour: colour("s2"), width: 2 }];
    return drawSeconds(where, at, line, { height: 130, unit: threeDigits, value: threeDigits });
  }

  // New figures replace the page, which keeps its view and place; not under the eyes of who reads a cell.
  function renew() {
    if (!sheet.open) location.reload();
  }

  function ended() {
    source.close();
    renew();
    part("left").textContent = "the run has ended";
  }
}

function timeLeft(seconds) {
  if (seconds == null) return "";
  const minutes = Math.round(seconds / 60);
  if (seconds < 90) return `about ${Math.ceil(seconds)} s left`;
  return minutes < 90
    ? `about ${minutes} min left`
    : `about ${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}
