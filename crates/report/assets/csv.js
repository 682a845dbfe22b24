// The seconds of trials as CSV (RFC 4180), from the page's data.

const CSV_SERIES = [
  "operations_per_second",
  "errors_per_second",
  "p50_us",
  "p95_us",
  "p99_us",
  "max_us",
  "server_user_cpus",
  "server_system_cpus",
  "client_cpus",
  "other_cpus",
  "iowait_cpus",
  "steal_cpus",
  "idle_cpus",
  "device_read_mib_per_second",
  "device_write_mib_per_second",
  "device_reads_per_second",
  "device_writes_per_second",
  "device_flushes_per_second",
];

// Puts an apostrophe before names that a spreadsheet would read as a formula.
function quoted(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvRows(step, system, clients, cell) {
  const rows = [];
  for (const trial of cell?.trials ?? []) {
    trial.series?.at.forEach((at, place) => {
      const phase = place < trial.series.warmup ? "warmup" : "measure";
      const values = CSV_SERIES.map((name) => trial.series[name]?.[place] ?? "");
      rows.push([step, system, clients, trial.round, at, phase, ...values].map(quoted).join(","));
    });
  }
  return rows;
}

function download(name, rows) {
  const head = ["step", "system", "clients", "round", "at_seconds", "phase", ...CSV_SERIES].join(",");
  const blob = new Blob([[head, ...rows, ""].join("\r\n")], { type: "text/csv" });
  const link = make("a", {
    href: URL.createObjectURL(blob),
    download: name.replace(/[^\w.-]+/g, "-") + ".csv",
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function downloadAll() {
  const rows = [];
  for (const [at, step] of model.steps.entries()) {
    const { cells } = await load(`cells-${at}`);
    cells.forEach((cell, column) => {
      const level = Math.floor(column / model.systems.length);
      rows.push(
        ...csvRows(step.id, model.systems[column % model.systems.length], model.clients[level], cell),
      );
    });
  }
  download(`${model.plan}-${model.run}-seconds`, rows);
}
