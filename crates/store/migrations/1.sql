-- The results file of Dyno, as it began. docs/results-file.md describes it for the people who query it.

CREATE TABLE run (
    id            INTEGER PRIMARY KEY,
    plan_name     TEXT NOT NULL,
    plan_title    TEXT NOT NULL,
    plan_text     TEXT NOT NULL,                -- the plan file, word for word
    dyno_version  TEXT NOT NULL,
    seed          INTEGER NOT NULL,             -- the bits of an unsigned number
    scale         REAL NOT NULL,
    command_line  TEXT NOT NULL,
    host          TEXT NOT NULL CHECK (json_valid(host)),
    started_at_ms INTEGER NOT NULL,             -- since 1970 UTC
    finished_at_ms INTEGER,                     -- NULL while it runs, and for ever if it was killed
    status        TEXT NOT NULL CHECK (status IN ('running', 'finished', 'interrupted', 'failed')),
    owner         TEXT NOT NULL                 -- the process that runs it: boot id, pid, start time in ticks
) STRICT;

CREATE TABLE system (
    run_id         INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    id             TEXT NOT NULL,
    name           TEXT NOT NULL,
    engine_version TEXT,                        -- as the server tells it; NULL if it never started
    position       INTEGER NOT NULL,
    is_base        INTEGER NOT NULL CHECK (is_base IN (0, 1)),
    requested_settings TEXT NOT NULL CHECK (json_valid(requested_settings)),
    PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;

-- Every variable that a system's server reports, with its effective value.
CREATE TABLE variable (
    run_id    INTEGER NOT NULL,
    system_id TEXT NOT NULL,
    name      TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (run_id, system_id, name),
    FOREIGN KEY (run_id, system_id) REFERENCES system (run_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE step (
    run_id         INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    id             TEXT NOT NULL,
    group_name     TEXT NOT NULL,
    position       INTEGER NOT NULL,
    workload       TEXT NOT NULL,
    command        TEXT NOT NULL,
    operation      TEXT NOT NULL CHECK (operation IN ('query', 'transaction', 'row')),
    clients        TEXT NOT NULL CHECK (json_valid(clients)),   -- a list of numbers
    trials         INTEGER NOT NULL,            -- planned for each system and client count
    seconds        REAL,                        -- NULL for a command that ends by itself
    warmup_seconds REAL NOT NULL,
    options        TEXT NOT NULL CHECK (json_valid(options)),
    PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE trial (
    id               INTEGER PRIMARY KEY,
    run_id           INTEGER NOT NULL,
    system_id        TEXT NOT NULL,
    step_id          TEXT NOT NULL,
    clients          INTEGER NOT NULL,
    trial            INTEGER NOT NULL,          -- trials of two systems with the same number are a pair
    position         INTEGER NOT NULL,          -- in the order of execution
    started_at_ms    INTEGER NOT NULL,
    outcome          TEXT NOT NULL CHECK (outcome IN ('completed', 'failed')),
    message          TEXT CHECK ((message IS NOT NULL) = (outcome = 'failed')),
    log_tail         TEXT,
    disk_bytes_after INTEGER,
    -- What was delivered; NULL if the trial failed before measuring began.
    seconds          REAL,
    operations       INTEGER,
    events           INTEGER,
    reads            INTEGER,
    writes           INTEGER,
    others           INTEGER,
    errors           INTEGER,
    reconnects       INTEGER,
    latency          BLOB,                      -- HDR histogram of µs, V2 format
    latency_mean_us  REAL,
    latency_p50_us   INTEGER,
    latency_p95_us   INTEGER,
    latency_p99_us   INTEGER,
    latency_max_us   INTEGER,
    -- What was burned meanwhile; NULL where it was not measured.
    server_user_cpu_us      INTEGER,
    server_system_cpu_us    INTEGER,
    server_context_switches INTEGER,
    client_user_cpu_us      INTEGER,
    client_system_cpu_us    INTEGER,
    client_context_switches INTEGER,
    process_read_bytes      INTEGER,
    process_write_bytes     INTEGER,
    device_reads            INTEGER,
    device_read_bytes       INTEGER,
    device_writes           INTEGER,
    device_write_bytes      INTEGER,
    device_flushes          INTEGER,
    host_user_cpu_us        INTEGER,
    host_system_cpu_us      INTEGER,
    host_iowait_cpu_us      INTEGER,
    host_steal_cpu_us       INTEGER,
    host_idle_cpu_us        INTEGER,
    UNIQUE (run_id, step_id, clients, system_id, trial),
    FOREIGN KEY (run_id, system_id) REFERENCES system (run_id, id) ON DELETE CASCADE,
    FOREIGN KEY (run_id, step_id) REFERENCES step (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX trial_system ON trial (run_id, system_id);

-- One row a second of a trial, warm-up included.
CREATE TABLE sample (
    trial_id         INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    number           INTEGER NOT NULL,          -- from 0, where the load began
    phase            TEXT NOT NULL CHECK (phase IN ('warmup', 'measure')),
    seconds          REAL NOT NULL,
    operations       INTEGER NOT NULL,
    events           INTEGER NOT NULL,
    reads            INTEGER NOT NULL,
    writes           INTEGER NOT NULL,
    others           INTEGER NOT NULL,
    errors           INTEGER NOT NULL,
    reconnects       INTEGER NOT NULL,
    latency          BLOB NOT NULL,
    latency_mean_us  REAL,                      -- NULL if no event ended in the interval
    latency_p50_us   INTEGER,
    latency_p95_us   INTEGER,
    latency_p99_us   INTEGER,
    latency_max_us   INTEGER,
    server_user_cpu_us      INTEGER,
    server_system_cpu_us    INTEGER,
    server_context_switches INTEGER,
    client_user_cpu_us      INTEGER,
    client_system_cpu_us    INTEGER,
    client_context_switches INTEGER,
    process_read_bytes      INTEGER,
    process_write_bytes     INTEGER,
    device_reads            INTEGER,
    device_read_bytes       INTEGER,
    device_writes           INTEGER,
    device_write_bytes      INTEGER,
    device_flushes          INTEGER,
    host_user_cpu_us        INTEGER,
    host_system_cpu_us      INTEGER,
    host_iowait_cpu_us      INTEGER,
    host_steal_cpu_us       INTEGER,
    host_idle_cpu_us        INTEGER,
    PRIMARY KEY (trial_id, number)
) STRICT;

-- Completed trials with their rate: the absolute report before the median is taken.
CREATE VIEW throughput AS
SELECT t.run_id, s.group_name, t.step_id, t.clients, t.system_id, t.trial, s.operation,
       t.operations / t.seconds AS operations_per_second,
       t.latency_mean_us, t.latency_p50_us, t.latency_p95_us, t.latency_p99_us, t.latency_max_us,
       t.errors, t.id AS trial_id
FROM trial t
JOIN step s ON s.run_id = t.run_id AND s.id = t.step_id
WHERE t.outcome = 'completed' AND t.seconds > 0
ORDER BY t.run_id, s.position, t.clients, t.system_id, t.trial;

-- Each trial beside the base's trial of the same number: the relative report before the median is taken.
CREATE VIEW pair AS
SELECT c.run_id, c.group_name, c.step_id, c.clients, c.system_id, b.system_id AS base_id, c.trial,
       c.operations_per_second, b.operations_per_second AS base_operations_per_second,
       c.operations_per_second / b.operations_per_second AS ratio
FROM throughput c
JOIN system base ON base.run_id = c.run_id AND base.is_base
JOIN throughput b ON b.run_id = c.run_id AND b.step_id = c.step_id AND b.clients = c.clients
                 AND b.trial = c.trial AND b.system_id = base.id
WHERE c.system_id <> base.id AND b.operations_per_second > 0;

-- What an operation cost, by trial: the efficiency report before the median is taken.
CREATE VIEW efficiency AS
SELECT t.run_id, s.group_name, t.step_id, t.clients, t.system_id, t.trial, s.operation,
       1.0 * (t.server_user_cpu_us + t.server_system_cpu_us) / t.operations AS server_cpu_us_per_operation,
       1.0 * (t.client_user_cpu_us + t.client_system_cpu_us) / t.operations AS client_cpu_us_per_operation,
       1.0 * t.server_context_switches / t.operations AS context_switches_per_operation,
       1.0 * t.device_reads / t.operations AS reads_per_operation,
       1.0 * t.process_read_bytes / t.operations AS read_bytes_per_operation,
       1.0 * t.process_write_bytes / t.operations AS write_bytes_per_operation,
       1.0 * t.device_flushes / t.operations AS fsyncs_per_operation,
       t.disk_bytes_after, t.id AS trial_id
FROM trial t
JOIN step s ON s.run_id = t.run_id AND s.id = t.step_id
WHERE t.outcome = 'completed' AND t.operations > 0
ORDER BY t.run_id, s.position, t.clients, t.system_id, t.trial;
