-- Trials that were disturbed are run again: several of one number, of which one counts.

-- Views are made anew, to leave out those that do not count; SQLite would not rename a table under them.
DROP VIEW setting_difference;
DROP VIEW steadiness;
DROP VIEW per_second;
DROP VIEW counter_change;
DROP VIEW efficiency;
DROP VIEW pair;
DROP VIEW throughput;

CREATE TABLE trial_3 (
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
    backlog          INTEGER,                   -- events that were due and had not begun
    error_codes      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(error_codes)),
    drain            TEXT CHECK (json_valid(drain)),    -- waiting for pending writes afterwards
    -- Whether it was run again, because something else used the host meanwhile; then it counts no more.
    is_superseded    INTEGER NOT NULL DEFAULT 0 CHECK (is_superseded IN (0, 1)),
    FOREIGN KEY (run_id, system_id) REFERENCES system (run_id, id) ON DELETE CASCADE,
    FOREIGN KEY (run_id, step_id) REFERENCES step (run_id, id) ON DELETE CASCADE
) STRICT;

INSERT INTO trial_3 (
    id, run_id, system_id, step_id, clients, trial, position, started_at_ms, outcome, message, log_tail,
    disk_bytes_after, seconds, operations, events, reads, writes, others, errors, reconnects, latency,
    latency_mean_us, latency_p50_us, latency_p95_us, latency_p99_us, latency_max_us, server_user_cpu_us,
    server_system_cpu_us, server_context_switches, client_user_cpu_us, client_system_cpu_us,
    client_context_switches, process_read_bytes, process_write_bytes, device_reads, device_read_bytes,
    device_writes, device_write_bytes, device_flushes, host_user_cpu_us, host_system_cpu_us, host_iowait_cpu_us,
    host_steal_cpu_us, host_idle_cpu_us, backlog, error_codes, drain
)
SELECT
    id, run_id, system_id, step_id, clients, trial, position, started_at_ms, outcome, message, log_tail,
    disk_bytes_after, seconds, operations, events, reads, writes, others, errors, reconnects, latency,
    latency_mean_us, latency_p50_us, latency_p95_us, latency_p99_us, latency_max_us, server_user_cpu_us,
    server_system_cpu_us, server_context_switches, client_user_cpu_us, client_system_cpu_us,
    client_context_switches, process_read_bytes, process_write_bytes, device_reads, device_read_bytes,
    device_writes, device_write_bytes, device_flushes, host_user_cpu_us, host_system_cpu_us, host_iowait_cpu_us,
    host_steal_cpu_us, host_idle_cpu_us, backlog, error_codes, drain
FROM trial;

DROP TABLE trial;
ALTER TABLE trial_3 RENAME TO trial;

CREATE INDEX trial_system ON trial (run_id, system_id);
-- One trial of each number counts.
CREATE UNIQUE INDEX trial_that_counts ON trial (run_id, step_id, clients, system_id, trial) WHERE NOT is_superseded;

-- Completed trials with their rate: the absolute report before the median is taken.
CREATE VIEW throughput AS
SELECT t.run_id, s.group_name, t.step_id, t.clients, t.system_id, t.trial, s.operation,
       t.operations / t.seconds AS operations_per_second,
       t.latency_mean_us, t.latency_p50_us, t.latency_p95_us, t.latency_p99_us, t.latency_max_us,
       t.errors, t.id AS trial_id
FROM trial t
JOIN step s ON s.run_id = t.run_id AND s.id = t.step_id
WHERE t.outcome = 'completed' AND NOT t.is_superseded AND t.seconds > 0
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
WHERE t.outcome = 'completed' AND NOT t.is_superseded AND t.operations > 0
ORDER BY t.run_id, s.position, t.clients, t.system_id, t.trial;

-- What moved in each trial, and by how much an operation.
CREATE VIEW counter_change AS
SELECT t.run_id, t.step_id, t.clients, t.system_id, t.trial, n.name, n.is_gauge,
       c.first_value, c.last_value, c.last_value - c.first_value AS change,
       CASE WHEN n.is_gauge THEN NULL ELSE (c.last_value - c.first_value) / t.operations END AS change_per_operation,
       t.id AS trial_id
FROM trial_counter c
JOIN counter n ON n.id = c.counter_id
JOIN trial t ON t.id = c.trial_id
WHERE NOT t.is_superseded AND c.last_value <> c.first_value;

-- Throughput and latency of each second of a trial, warm-up included.
CREATE VIEW per_second AS
SELECT t.run_id, t.step_id, t.clients, t.system_id, t.trial, p.number, p.phase,
       p.operations / p.seconds AS operations_per_second, p.errors / p.seconds AS errors_per_second,
       p.latency_mean_us, p.latency_p50_us, p.latency_p95_us, p.latency_p99_us, p.latency_max_us,
       1.0 * (p.server_user_cpu_us + p.server_system_cpu_us) / p.operations AS server_cpu_us_per_operation,
       t.id AS trial_id
FROM trial t
JOIN sample p ON p.trial_id = t.id
WHERE p.seconds > 0 AND NOT t.is_superseded;

-- How evenly a trial went, over its measured seconds; a stalled one has no operation. Not every SQLite has a square
-- root, so the coefficient of variation (standard deviation / mean) is squared here.
CREATE VIEW steadiness AS
SELECT run_id, step_id, clients, system_id, trial, count(*) AS seconds,
       avg(operations_per_second) AS operations_per_second,
       min(operations_per_second) AS worst_operations_per_second,
       max(operations_per_second) AS best_operations_per_second,
       max(0.0, avg(operations_per_second * operations_per_second)
                - avg(operations_per_second) * avg(operations_per_second))
           / nullif(avg(operations_per_second) * avg(operations_per_second), 0)
           AS squared_coefficient_of_variation,
       count(*) FILTER (WHERE operations_per_second = 0) AS stalled_seconds,
       trial_id
FROM per_second
WHERE phase = 'measure'
GROUP BY trial_id;

-- Variables in which a system differs from its run's base; one that only one of them has is NULL in the other.
CREATE VIEW setting_difference AS
SELECT s.run_id, s.id AS system_id, base.id AS base_id, n.name, v.value, b.value AS base_value
FROM system s
JOIN system base ON base.run_id = s.run_id AND base.is_base AND base.id <> s.id
JOIN (SELECT DISTINCT run_id, name FROM variable) n ON n.run_id = s.run_id
LEFT JOIN variable v ON v.run_id = s.run_id AND v.system_id = s.id AND v.name = n.name
LEFT JOIN variable b ON b.run_id = s.run_id AND b.system_id = base.id AND b.name = n.name
WHERE v.value IS NOT b.value;
