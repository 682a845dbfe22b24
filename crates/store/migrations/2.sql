-- Where systems come from and run, what their counters said, what was claimed, resumed runs, histograms apart.

ALTER TABLE run ADD COLUMN audit TEXT CHECK (json_valid(audit));          -- NULL if there was none

ALTER TABLE system ADD COLUMN origin TEXT NOT NULL DEFAULT 'catalogue'
    CHECK (origin IN ('catalogue', 'basedir', 'dsn'));
ALTER TABLE system ADD COLUMN twin_of TEXT;                               -- the system that it repeats: an A/A pair
ALTER TABLE system ADD COLUMN profile TEXT;                               -- of settings
ALTER TABLE system ADD COLUMN confinement TEXT CHECK (json_valid(confinement));
ALTER TABLE system ADD COLUMN dollars_per_hour REAL;

ALTER TABLE step ADD COLUMN rate TEXT;                                    -- events a second; NULL in a closed loop
ALTER TABLE step ADD COLUMN beside TEXT;                                  -- the step whose trials it ran beside
ALTER TABLE step ADD COLUMN repeats TEXT;                                 -- the earlier step that it is once more

ALTER TABLE trial ADD COLUMN backlog INTEGER;                             -- events that were due and had not begun
ALTER TABLE trial ADD COLUMN error_codes TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(error_codes));
ALTER TABLE trial ADD COLUMN drain TEXT CHECK (json_valid(drain));        -- waiting for pending writes afterwards

-- The histograms of samples, apart from their figures: they are most of a file, and few readers want them.
CREATE TABLE sample_latency (
    trial_id INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    latency  BLOB NOT NULL,                     -- HDR histogram of µs, V2 format
    PRIMARY KEY (trial_id, number),
    FOREIGN KEY (trial_id, number) REFERENCES sample (trial_id, number) ON DELETE CASCADE
) STRICT;
INSERT INTO sample_latency SELECT trial_id, number, latency FROM sample;
ALTER TABLE sample DROP COLUMN latency;

-- A run that was continued, and what had changed on its host since.
CREATE TABLE resumption (
    run_id        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    resumed_at_ms INTEGER NOT NULL,
    host          TEXT NOT NULL CHECK (json_valid(host)),
    differences   TEXT NOT NULL CHECK (json_valid(differences)),            -- a list of sentences
    PRIMARY KEY (run_id, resumed_at_ms)
) STRICT, WITHOUT ROWID;

-- What the plan says will be found.
CREATE TABLE claim (
    run_id     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    id         TEXT NOT NULL,
    expression TEXT NOT NULL,
    says       TEXT NOT NULL,                   -- in words
    published  REAL,                            -- the figure of whoever said it first
    source     TEXT,                            -- and where
    PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;

-- Counters of servers, by the servers' own names.
CREATE TABLE counter (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE,
    is_gauge INTEGER NOT NULL CHECK (is_gauge IN (0, 1))                    -- a level, of which differences say little
) STRICT;

CREATE TABLE trial_counter (
    trial_id    INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    counter_id  INTEGER NOT NULL REFERENCES counter (id),
    first_value REAL NOT NULL,                  -- when measuring began
    last_value  REAL NOT NULL,                  -- when it ended
    PRIMARY KEY (trial_id, counter_id)
) STRICT, WITHOUT ROWID;

-- Values at the end of each sample, of counters that were read each second and moved. Apart from trial_counter,
-- so that reports, which need first and last only, do not read through them.
CREATE TABLE counter_series (
    trial_id   INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    counter_id INTEGER NOT NULL REFERENCES counter (id),
    encoded    BLOB NOT NULL,                   -- docs/results-file.md has the format
    PRIMARY KEY (trial_id, counter_id)
) STRICT;

-- What moved in each trial, and by how much an operation.
CREATE VIEW counter_change AS
SELECT t.run_id, t.step_id, t.clients, t.system_id, t.trial, n.name, n.is_gauge,
       c.first_value, c.last_value, c.last_value - c.first_value AS change,
       CASE WHEN n.is_gauge THEN NULL ELSE (c.last_value - c.first_value) / t.operations END AS change_per_operation,
       t.id AS trial_id
FROM trial_counter c
JOIN counter n ON n.id = c.counter_id
JOIN trial t ON t.id = c.trial_id
WHERE c.last_value <> c.first_value;

-- Throughput and latency of each second of a trial, warm-up included.
CREATE VIEW per_second AS
SELECT t.run_id, t.step_id, t.clients, t.system_id, t.trial, p.number, p.phase,
       p.operations / p.seconds AS operations_per_second, p.errors / p.seconds AS errors_per_second,
       p.latency_mean_us, p.latency_p50_us, p.latency_p95_us, p.latency_p99_us, p.latency_max_us,
       1.0 * (p.server_user_cpu_us + p.server_system_cpu_us) / p.operations AS server_cpu_us_per_operation,
       t.id AS trial_id
FROM trial t
JOIN sample p ON p.trial_id = t.id
WHERE p.seconds > 0;

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
