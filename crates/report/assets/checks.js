// The table of the checks of each round's trial.

const percent = (share) => (100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0) + "%";
const signed = (share) => (share < 0 ? "−" : "+") + percent(Math.abs(share));

function course(check) {
  if (check.change != null) return `${check.course}, ${signed(check.change)}`;
  return check.period ? `${check.course}, every ${check.period} s` : check.course;
}

// The name of a check, its heading, a function that formats the cell, and an explanation of the figure.
const share = (name) => (check) => check[name] != null && percent(check[name]);
const CHECKS = [
  ["course", "throughput was", course],
  ["variation", "variation", share("variation")],
  ["worst", "worst second", share("worst"), "The worst second is a share of the round's median one."],
  ["stalled", "stalled", (check) => check.stalled && `${check.stalled} s`],
  ["stall", "nothing finished for", (check) => check.stall && `${check.stall} s`],
  ["limits", "limits", (check) => check.limits],
  ["busy", "clients busy", share("busy"), "Throughput times latency, divided by the number of clients."],
  ["steal", "stolen CPU", share("steal"), "Stolen CPU is the time that the hypervisor gave to other guests."],
  ["others", "others' CPU", share("others"), "CPU of processes other than server and client."],
];

const isDisturbed = (trial) => trial.check?.disturbed === true;

// A row for each checked round. Empty columns are left out.
function checkTable(own) {
  const trials = own.trials.filter((trial) => trial.check);
  const columns = CHECKS.filter(([, , show]) => trials.some((trial) => show(trial.check)));
  if (!columns.length) return [];
  const row = (trial) =>
    make(
      "tr",
      { class: isDisturbed(trial) ? "disturbed" : null },
      make("th", { scope: "row" }, `${trial.round + 1}`, isDisturbed(trial) ? " disturbed" : null),
      ...columns.map(([name, , show]) =>
        make("td", { class: trial.check.odd?.includes(name) ? "odd" : null }, show(trial.check) || "–"),
      ),
    );
  return [
    make("h3", {}, "Each round's course"),
    make(
      "div",
      { class: "counters checks", tabindex: "0" },
      make(
        "table",
        {},
        make("caption", { class: "hidden-text" }, "Steadiness, variation and disturbance of each round"),
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            ...["round", ...columns.map(([, head]) => head)].map((text) => make("th", { scope: "col" }, text)),
          ),
        ),
        make("tbody", {}, ...trials.map(row)),
      ),
    ),
    make(
      "p",
      { class: "fine" },
      columns.flatMap(([, , , says]) => says ?? []).join(" "),
      model.thinned
        ? " This run is long, so only unusual values are here; the JSON report has all."
        : null,
    ),
  ];
}
