// What the course of each trial says about its worth.

const percent = (share) => (100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0) + "%";
const signed = (share) => (share < 0 ? "−" : "+") + percent(Math.abs(share));

function course(check) {
  if (check.change != null) return `${check.course}, ${signed(check.change)}`;
  return check.period ? `${check.course}, every ${check.period} s` : check.course;
}

// Heading, what stands in the cell, and whether that is to be looked at.
const CHECKS = [
  ["throughput was", course, (check) => ["warming", "slowing", "unsteady"].includes(check.course)],
  ["variation", (check) => check.variation != null && percent(check.variation)],
  ["worst second", (check) => check.worst != null && percent(check.worst)],
  ["stalled", (check) => check.stalled && `${check.stalled} s`, (check) => check.stalled > 0],
  ["clients busy", (check) => check.busy != null && percent(check.busy), (check) => check.busy > 1.05 || check.busy < 0.9],
  ["stolen CPU", (check) => check.steal != null && percent(check.steal), (check) => check.disturbed && check.steal > 0.01],
  ["others' CPU", (check) => check.others != null && percent(check.others), (check) => check.disturbed && check.others > 0.05],
];

const isDisturbed = (trial) => trial.check?.disturbed === true;

// A row for each trial that was checked; columns of which no trial says anything are left out.
function checkTable(own) {
  const trials = own.trials.filter((trial) => trial.check);
  const columns = CHECKS.filter(([, show]) => trials.some((trial) => show(trial.check)));
  if (!columns.length) return [];
  const row = (trial) =>
    make(
      "tr",
      { class: isDisturbed(trial) ? "disturbed" : null },
      make("th", { scope: "row" }, `${trial.number + 1}`, isDisturbed(trial) ? " disturbed" : null),
      ...columns.map(([, show, isOdd]) =>
        make("td", { class: isOdd?.(trial.check) ? "odd" : null }, show(trial.check) || "–"),
      ),
    );
  return [
    make("h3", {}, "Each trial's course"),
    make(
      "div",
      { class: "counters checks", tabindex: "0" },
      make(
        "table",
        {},
        make("caption", { class: "hidden-text" }, "Steadiness, variation and disturbance of each trial"),
        make(
          "thead",
          {},
          make("tr", {}, ...["trial", ...columns.map(([head]) => head)].map((text) => make("th", { scope: "col" }, text))),
        ),
        make("tbody", {}, ...trials.map(row)),
      ),
    ),
    make(
      "p",
      { class: "fine" },
      model.thinned
        ? "Of a run this long only what is out of the ordinary; the JSON report has the rest."
        : "The worst second is a share of the trial's median one. Busy clients are throughput times latency over their number. Disturbed: somebody else used the host.",
    ),
  ];
}
