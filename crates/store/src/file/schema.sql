-- The results file of Dyno. docs/reference/results-file.md describes it for SQL users.

CREATE TABLE run (
    id            INTEGER PRIMARY KEY,
    plan_name     TEXT NOT NULL,
    plan_title    TEXT NOT NULL,
    plan_text     TEXT NOT NULL,                -- text of the plan file
    dyno_version  TEXT NOT NULL,
    seed          INTEGER NOT NULL,             -- the bits of an unsigned integer
    scale         REAL NOT NULL,
    command_line  TEXT NOT NULL,
    host          TEXT NOT NULL CHECK (json_valid(host)),
    rounds        INTEGER NOT NULL,             -- planned; the maximum if the number depends on the results
    looks         INTEGER NOT NULL,             -- number of times that the rounds may be judged before the run's end
    correction    TEXT NOT NULL CHECK (correction IN ('holm', 'max-t', 'fdr', 'none')),  -- of verdicts, for the number of tests
    counts_disturbed INTEGER NOT NULL CHECK (counts_disturbed IN (0, 1)),   -- whether rounds that neighbours disturbed count
    started_at_ms INTEGER NOT NULL,             -- since 1970 UTC
    finished_at_ms INTEGER,                     -- NULL for a running or killed run
    status        TEXT NOT NULL CHECK (status IN ('running', 'finished', 'interrupted', 'failed')),
    owner         TEXT NOT NULL,                -- its process: boot id, pid, start time in ticks
    audit         TEXT CHECK (json_valid(audit)),       -- of comparability; NULL if there was none
    allocation    TEXT CHECK (json_valid(allocation)),  -- of a time budget; NULL without one
    -- Tests that were measured no more before the run ended: step, clients, the last round in which they were.
    left_tests    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(left_tests)),
    ladders       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(ladders)),   -- chains of systems, each with its id
    counters      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(counters)),  -- names of the counters that reports show
    -- Of a run whose rounds are spread over hosts: the files of its tasks have the same one. NULL for a run on one host.
    spread_id     TEXT,
    search        TEXT CHECK (json_valid(search))       -- the comparison of a search that it is; NULL for a run of a plan
) STRICT;

CREATE TABLE system (
    run_id         INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    id             TEXT NOT NULL,
    name           TEXT NOT NULL,
    engine_version TEXT,                        -- as the server reports it; NULL if it never started
    position       INTEGER NOT NULL,
    is_base        INTEGER NOT NULL CHECK (is_base IN (0, 1)),
    is_anchor      INTEGER NOT NULL CHECK (is_anchor IN (0, 1)),   -- whether runs are compared by multiples of its figures
    requested_settings TEXT NOT NULL CHECK (json_valid(requested_settings)),
    origin         TEXT NOT NULL CHECK (origin IN ('catalogue', 'basedir', 'image', 'dsn')),
    control_of        TEXT,                        -- the system of which it is the control (an A/A pair)
    profile        TEXT,                        -- of settings
    confinement    TEXT CHECK (json_valid(confinement)),
    dollars_per_hour REAL,                      -- NULL if the price is by a list, or not known
    price          TEXT CHECK (json_valid(price)),  -- by a list: the list, its date, instance and volume with their prices
    encryption     TEXT,                        -- of connections to a server that ran already: TLS and cipher, or 'none'
    image          TEXT,                        -- of the container that its server is in: name and digest; else NULL
    configuration  TEXT CHECK (json_valid(configuration)),  -- in a sweep: its id, and the level of each factor
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
    rounds         INTEGER NOT NULL,            -- number of rounds in which it is measured
    seconds        REAL,                        -- measured time of a trial; NULL for a command that ends by itself
    warmup_seconds REAL NOT NULL,
    options        TEXT NOT NULL CHECK (json_valid(options)),
    rate           TEXT,                        -- events per second; NULL in a closed loop
    find           TEXT CHECK (json_valid(find)),       -- the limit that its trials search the highest rate for
    background_of  TEXT,                        -- for a background load: the step during whose trials it ran
    repeats        TEXT,                        -- the earlier step that it repeats
    -- When clients of a background load join, and how many run from then on; empty if all run all the time.
    joins          TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(joins)),
    not_for        TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(not_for)),  -- systems that it is not planned for
    PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;

-- One start of a system on one copy of its data.
CREATE TABLE instance (
    run_id         INTEGER NOT NULL,
    system_id      TEXT NOT NULL,
    round          INTEGER NOT NULL,            -- from 0
    started_at_ms  INTEGER NOT NULL,
    is_fresh       INTEGER NOT NULL CHECK (is_fresh IN (0, 1)),  -- 0: the same instance as in the round before
    start_seconds  REAL NOT NULL,               -- time until it answered queries
    warm_seconds   REAL NOT NULL,               -- time of reading its tables afterwards
    settle_seconds REAL NOT NULL,               -- time until it was at rest after its start
    PRIMARY KEY (run_id, system_id, round),
    FOREIGN KEY (run_id, system_id) REFERENCES system (run_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The crash test of a system, after the rounds.
CREATE TABLE crash_test (
    run_id          INTEGER NOT NULL,
    system_id       TEXT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind IN ('process', 'power')),
    promise         TEXT NOT NULL,              -- by its settings, in words
    clients         INTEGER NOT NULL,
    crashes         INTEGER NOT NULL,           -- that were checked
    acknowledged    INTEGER NOT NULL,           -- commits before them
    lost            INTEGER NOT NULL,
    lost_age_ms_max REAL,                       -- NULL if none was lost
    torn            INTEGER NOT NULL,
    resurrected     INTEGER NOT NULL,
    in_doubt_kept   INTEGER NOT NULL,
    in_doubt_gone   INTEGER NOT NULL,
    recovery_ms_max REAL,                       -- NULL without a crash
    verdict         TEXT NOT NULL CHECK (verdict IN ('kept', 'allowed', 'broken', 'none')),
    failure         TEXT,                       -- why the test could not begin or go on; NULL if it could
    findings        TEXT NOT NULL CHECK (json_valid(findings)),  -- the first differences and faults, in words
    PRIMARY KEY (run_id, system_id),
    FOREIGN KEY (run_id, system_id) REFERENCES system (run_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The measurement of one instance in one step at one client count.
CREATE TABLE trial (
    id               INTEGER PRIMARY KEY,
    run_id           INTEGER NOT NULL,
    system_id        TEXT NOT NULL,
    step_id          TEXT NOT NULL,
    clients          INTEGER NOT NULL,
    round            INTEGER NOT NULL,          -- trials of one round are compared
    position         INTEGER NOT NULL,          -- position in the order of execution
    started_at_ms    INTEGER NOT NULL,
    outcome          TEXT NOT NULL CHECK (outcome IN ('completed', 'failed')),
    failure          TEXT CHECK (failure IN ('start', 'trial')),    -- what failed; NULL if nothing did
    message          TEXT CHECK ((message IS NOT NULL) = (outcome = 'failed')),
    log_tail         TEXT,
    disk_bytes_after INTEGER,
    warmup_seconds   REAL,                      -- of load before the measurement; NULL for a load, or if there was none
    -- Its work; NULL if the trial failed before the measurement.
    seconds          REAL,
    operations       INTEGER,
    events           INTEGER,
    reads            INTEGER,
    writes           INTEGER,
    others           INTEGER,
    errors           INTEGER,
    reconnects       INTEGER,
    failed           INTEGER,                   -- events that failed with their connection and were not repeated
    due              INTEGER,                   -- events that became due in this time; NULL in a closed loop
    latency          BLOB,                      -- HDR histogram of µs, V2 format
    latency_min_ns   INTEGER,                   -- exact, as maximum and sum; NULL if no event ended
    latency_max_ns   INTEGER,
    latency_sum_ns   INTEGER,
    latency_mean_us  REAL,
    latency_p50_us   REAL,
    latency_p95_us   REAL,
    latency_p99_us   REAL,
    latency_max_us   REAL,
    -- Resource usage during the measurement; NULL if it was not measured.
    server_user_cpu_us      INTEGER,
    server_system_cpu_us    INTEGER,
    server_context_switches INTEGER,
    client_user_cpu_us      INTEGER,
    client_system_cpu_us    INTEGER,
    client_context_switches INTEGER,
    pooler_user_cpu_us      INTEGER,
    pooler_system_cpu_us    INTEGER,
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
    -- Resident memory during the measurement; NULL if it was not measured.
    server_memory_peak_bytes INTEGER,
    server_memory_mean_bytes INTEGER,
    client_memory_peak_bytes INTEGER,
    -- What neighbours used of the host's CPUs meanwhile, resting systems excluded; NULL if it is not known.
    watched_us         INTEGER,
    watched_cpus       INTEGER,                 -- CPUs of the host
    neighbour_cpu_us   INTEGER,                 -- processes that are not of the run
    neighbour_steal_us INTEGER,                 -- other guests of the hypervisor
    -- The server's CPU time between its own slices; NULL for a trial without slices, or if it is not known.
    rest_cpu_us      INTEGER,
    thaw_us          INTEGER,                   -- what thaws took between frozen rests; NULL if it was not frozen
    lead_seconds     REAL,                      -- lead of each slice, which does not count; NULL without slices
    backlog          INTEGER,                   -- events that were due but had not started at the end
    unfinished       INTEGER,                   -- events in flight at the end that were abandoned
    latency_censored BLOB,                      -- ages of both, in the same format; `latency` has them as lower bounds
    gap_longest_seconds       REAL,             -- longest time without a finished event
    gap_longest_began_seconds REAL,             -- since the measurement began
    gap_last_seconds          REAL,             -- time without a finished event at the end
    -- The highest rate of events within the step's limit, and its 95% interval; NULL without `find`.
    capacity_per_second      REAL,
    capacity_low_per_second  REAL,
    capacity_high_per_second REAL,
    probes           TEXT CHECK (json_valid(probes)),   -- of the search, in order; NULL without `find`
    drivers          TEXT CHECK (json_valid(drivers)),  -- hosts from which its load came; NULL if it came from this one
    error_codes      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(error_codes)),
    drain            TEXT CHECK (json_valid(drain)),    -- the wait for pending writes afterwards
    replay           TEXT CHECK (json_valid(replay)),   -- what it replayed of a server's traffic; NULL for other trials
    loaded_again     TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(loaded_again)),   -- loads of its tables, unmeasured
    limits           TEXT CHECK (json_valid(limits)),   -- of its system, by the kernel; NULL if it has none
    -- Whether it was disturbed and repeated. It then does not count.
    is_superseded    INTEGER NOT NULL DEFAULT 0 CHECK (is_superseded IN (0, 1)),
    FOREIGN KEY (run_id, system_id) REFERENCES system (run_id, id) ON DELETE CASCADE,
    FOREIGN KEY (run_id, step_id) REFERENCES step (run_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX trial_system ON trial (run_id, system_id);
-- Of each round one trial counts.
CREATE UNIQUE INDEX trial_that_counts ON trial (run_id, step_id, clients, system_id, round) WHERE NOT is_superseded;

-- The slices of a trial, in which its system is under load while the others rest. In a cycle every system has one.
CREATE TABLE slice (
    trial_id   INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    cycle      INTEGER NOT NULL,                -- from 0
    started_us INTEGER NOT NULL,                -- since the first slice of the step in this round
    seconds    REAL NOT NULL,
    operations REAL NOT NULL,                   -- events at its edges count by the share of their time within it
    PRIMARY KEY (trial_id, cycle)
) STRICT, WITHOUT ROWID;

-- What was done to the system of a trial while its load ran.
CREATE TABLE step_event (
    trial_id      INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    number        INTEGER NOT NULL,             -- from 0, in the plan's order
    id            TEXT NOT NULL,                -- its name in the plan
    kind          TEXT NOT NULL CHECK (kind IN ('sql', 'command', 'kill', 'stop', 'restart', 'connections',
                                                'idle_transaction', 'disk_latency')),
    what          TEXT NOT NULL,                -- the statement, the command, a number of seconds, connections or ms
    at_seconds    REAL NOT NULL,                -- when it was due, since the measurement began
    began_seconds REAL,                         -- NULL if it did not begin
    ended_seconds REAL,                         -- NULL if it did not begin
    outcome       TEXT NOT NULL CHECK (outcome IN ('done', 'cut', 'failed', 'not_begun')),  -- 'cut': ended with the step
    error         TEXT CHECK ((error IS NOT NULL) = (outcome = 'failed')),
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

-- When the workload's events of a trial ended. Only of steps with events in the plan's sense.
CREATE TABLE timeline (
    trial_id    INTEGER PRIMARY KEY REFERENCES trial (id) ON DELETE CASCADE,
    bin_seconds REAL NOT NULL,
    bins        BLOB NOT NULL                   -- number of events in each bin since the measurement began, 32 bits each
) STRICT;

-- A replica of a trial's system during the measured time. Tokens are committed on the primary; the lag of a token is the time
-- from the end of its commit until the replica shows it.
CREATE TABLE replica (
    trial_id         INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    number           INTEGER NOT NULL,          -- from 1
    mode             TEXT NOT NULL CHECK (mode IN ('asynchronous', 'semi-synchronous', 'synchronous', 'galera')),
    delay_seconds    INTEGER NOT NULL,          -- for which it holds back what it has received, by the plan
    tokens           INTEGER NOT NULL,          -- that it has shown
    lag_p50_ms       REAL,                      -- NULL without tokens
    lag_p99_ms       REAL,
    lag_max_ms       REAL,
    said_max_seconds REAL,                      -- longest time that it said it was behind; NULL if it did not know
    catch_up_seconds REAL,                      -- from the end of the load until it had everything; NULL if it never had
    user_cpu_us      INTEGER,                   -- of its processes; NULL if it was not measured
    system_cpu_us    INTEGER,
    read_bytes       INTEGER,                   -- from storage
    write_bytes      INTEGER,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

-- One row per second of a trial, warm-up included.
CREATE TABLE sample (
    trial_id         INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    number           INTEGER NOT NULL,          -- from 0 at the start of the load
    phase            TEXT NOT NULL CHECK (phase IN ('warmup', 'measure')),
    seconds          REAL NOT NULL,
    operations       INTEGER NOT NULL,
    events           INTEGER NOT NULL,
    reads            INTEGER NOT NULL,
    writes           INTEGER NOT NULL,
    others           INTEGER NOT NULL,
    errors           INTEGER NOT NULL,
    reconnects       INTEGER NOT NULL,
    failed           INTEGER NOT NULL,          -- events that failed with their connection
    due              INTEGER,                   -- events that became due in the interval; NULL in a closed loop
    latency_min_ns   INTEGER,                   -- exact, as maximum and sum; NULL if no event ended in the interval
    latency_max_ns   INTEGER,
    latency_sum_ns   INTEGER,
    latency_mean_us  REAL,
    latency_p50_us   REAL,
    latency_p95_us   REAL,
    latency_p99_us   REAL,
    latency_max_us   REAL,
    server_user_cpu_us      INTEGER,
    server_system_cpu_us    INTEGER,
    server_context_switches INTEGER,
    client_user_cpu_us      INTEGER,
    client_system_cpu_us    INTEGER,
    client_context_switches INTEGER,
    pooler_user_cpu_us      INTEGER,
    pooler_system_cpu_us    INTEGER,
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

-- The histograms of samples. They are in a separate table because they are most of a file and few readers need them.
CREATE TABLE sample_latency (
    trial_id INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    latency  BLOB NOT NULL,                     -- HDR histogram of µs, V2 format
    PRIMARY KEY (trial_id, number),
    FOREIGN KEY (trial_id, number) REFERENCES sample (trial_id, number) ON DELETE CASCADE
) STRICT;

-- The resumption of a run, with the changes of its host since the run began.
CREATE TABLE resumption (
    run_id        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    resumed_at_ms INTEGER NOT NULL,
    host          TEXT NOT NULL CHECK (json_valid(host)),
    differences   TEXT NOT NULL CHECK (json_valid(differences)),            -- a list of sentences
    PRIMARY KEY (run_id, resumed_at_ms)
) STRICT, WITHOUT ROWID;

-- The attempts to run rounds of a run that is spread over hosts. A round has one that delivered its results, unless all
-- of them are lost.
CREATE TABLE attempt (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    round       INTEGER NOT NULL,               -- from 0
    number      INTEGER NOT NULL,               -- from 1, in the order in which they ended
    node        TEXT,                           -- the host by its name for the scheduler or ssh; NULL if it got none
    host        TEXT CHECK (json_valid(host)),  -- facts about the host; NULL if nothing was delivered
    ended_at_ms INTEGER NOT NULL,
    loss        TEXT CHECK ((loss IS NULL) = (host IS NOT NULL)),   -- why nothing was delivered
    PRIMARY KEY (run_id, round, number)
) STRICT, WITHOUT ROWID;

-- The claims of the plan.
CREATE TABLE claim (
    run_id     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    id         TEXT NOT NULL,
    expression TEXT NOT NULL,
    says       TEXT NOT NULL,                   -- in words
    published  REAL,                            -- the published figure
    source     TEXT,                            -- its source
    PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;

-- Counters of servers, with the servers' names.
CREATE TABLE counter (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE,
    is_gauge INTEGER NOT NULL CHECK (is_gauge IN (0, 1))                    -- a level, whose differences mean little
) STRICT;

CREATE TABLE trial_counter (
    trial_id    INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    counter_id  INTEGER NOT NULL REFERENCES counter (id),
    first_value REAL NOT NULL,                  -- at the start of the measurement
    last_value  REAL NOT NULL,                  -- at its end
    PRIMARY KEY (trial_id, counter_id)
) STRICT, WITHOUT ROWID;

-- Values at the end of each sample, of counters that were read each second and changed. They are in a separate table,
-- because reports need the first and last values only.
CREATE TABLE counter_series (
    trial_id   INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    counter_id INTEGER NOT NULL REFERENCES counter (id),
    encoded    BLOB NOT NULL,                   -- docs/reference/results-file.md describes the format
    PRIMARY KEY (trial_id, counter_id)
) STRICT;

-- Stacks of a trial's server, sampled while the trial's load ran once more, unmeasured.
CREATE TABLE stack_profile (
    trial_id         INTEGER PRIMARY KEY REFERENCES trial (id) ON DELETE CASCADE,
    seconds          REAL NOT NULL,             -- of that load
    operations       INTEGER NOT NULL,
    samples          INTEGER NOT NULL,          -- each has the stack of every thread
    sampler          TEXT NOT NULL,             -- the program and its version
    sample_ms_median REAL NOT NULL,             -- time that a sample took
    unnamed_share    REAL NOT NULL,             -- share of the engine's frames without a name
    ended_early      TEXT                       -- why; NULL if it was sampled to the end
) STRICT;

CREATE TABLE stack (
    trial_id         INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    number           INTEGER NOT NULL,          -- from 0, the most frequent first
    thread_kind      TEXT NOT NULL,
    is_idle INTEGER NOT NULL CHECK (is_idle IN (0, 1)),
    function         TEXT NOT NULL,             -- the innermost one that is more than a wait
    frames           TEXT NOT NULL,             -- outermost first, separated by semicolons
    count            INTEGER NOT NULL,          -- times that it was seen, in all samples
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

-- The server's plan for the query of a trial's step, asked for after the trial, once for each system of a run.
CREATE TABLE query_plan (
    trial_id  INTEGER PRIMARY KEY REFERENCES trial (id) ON DELETE CASCADE,
    statement TEXT NOT NULL,                    -- empty if it could not be explained
    plan      TEXT NOT NULL                     -- lines; estimates are in square brackets
) STRICT;

-- The answer to the query of a trial's step.
CREATE TABLE query_answer (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id) ON DELETE CASCADE,
    rows     INTEGER NOT NULL,
    answer   TEXT NOT NULL                      -- the first 1000 rows, a line each, with | between values
) STRICT;

-- The server's plan for each statement of a trial, asked for after it. Of several numbers of clients the first has them.
CREATE TABLE statement_plan (
    trial_id  INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,                 -- from 0, in the order in which they were first executed
    statement TEXT NOT NULL,                    -- with ? for values
    plan      TEXT,                             -- lines; estimates are in square brackets
    refusal   TEXT CHECK ((refusal IS NULL) = (plan IS NOT NULL)),          -- why there is no plan
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

-- The statements of a digest that a trial replayed.
CREATE TABLE replayed_digest (
    trial_id        INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    digest          TEXT NOT NULL,              -- hash of the text
    statement       TEXT NOT NULL,              -- its text, with ? for values
    kind            TEXT NOT NULL,              -- read, write, begin, end, transaction, definition, session, other
    statements      INTEGER NOT NULL,           -- that were answered, with rows or an error
    rows            INTEGER NOT NULL,           -- that they returned
    rows_affected   INTEGER NOT NULL,
    rows_examined   INTEGER,                    -- that the server reads for an example; NULL if they were not counted
    error_codes     TEXT NOT NULL CHECK (json_valid(error_codes)),
    answers         INTEGER,                    -- hash of the answers, whatever their order; NULL if they were not read
    latency         BLOB NOT NULL,              -- HDR histogram of µs, V2 format, from when each was sent, without errors
    latency_min_ns  INTEGER,                    -- exact, as maximum and sum; NULL if all failed
    latency_max_ns  INTEGER,
    latency_sum_ns  INTEGER,
    latency_mean_us REAL,
    latency_p50_us  REAL,
    latency_p95_us  REAL,
    latency_p99_us  REAL,
    latency_max_us  REAL,
    PRIMARY KEY (trial_id, digest)
) STRICT, WITHOUT ROWID;

-- Completed trials with their rate: the absolute report before the median is taken.
CREATE VIEW throughput AS
SELECT t.run_id, s.group_name, t.step_id, t.clients, t.system_id, t.round, s.operation,
       coalesce(t.capacity_per_second, t.operations / t.seconds) AS operations_per_second,
       t.latency_mean_us, t.latency_p50_us, t.latency_p95_us, t.latency_p99_us, t.latency_max_us,
       t.errors, t.id AS trial_id
FROM trial t
JOIN step s ON s.run_id = t.run_id AND s.id = t.step_id
WHERE t.outcome = 'completed' AND NOT t.is_superseded AND t.seconds > 0
ORDER BY t.run_id, s.position, t.clients, t.system_id, t.round;

-- Each trial with the base's trial of the same round: the relative report before the median is taken.
CREATE VIEW pair AS
SELECT c.run_id, c.group_name, c.step_id, c.clients, c.system_id, b.system_id AS base_id, c.round,
       c.operations_per_second, b.operations_per_second AS base_operations_per_second,
       c.operations_per_second / b.operations_per_second AS ratio
FROM throughput c
JOIN system base ON base.run_id = c.run_id AND base.is_base
JOIN throughput b ON b.run_id = c.run_id AND b.step_id = c.step_id AND b.clients = c.clients
                 AND b.round = c.round AND b.system_id = base.id
WHERE c.system_id <> base.id AND b.operations_per_second > 0;

-- The costs of an operation, by trial: the efficiency report before the median is taken.
CREATE VIEW efficiency AS
SELECT t.run_id, s.group_name, t.step_id, t.clients, t.system_id, t.round, s.operation,
       1.0 * (t.server_user_cpu_us + t.server_system_cpu_us) / t.operations AS server_cpu_us_per_operation,
       1.0 * (t.client_user_cpu_us + t.client_system_cpu_us) / t.operations AS client_cpu_us_per_operation,
       1.0 * (t.pooler_user_cpu_us + t.pooler_system_cpu_us) / t.operations AS pooler_cpu_us_per_operation,
       1.0 * t.server_context_switches / t.operations AS context_switches_per_operation,
       1.0 * t.device_reads / t.operations AS reads_per_operation,
       1.0 * t.process_read_bytes / t.operations AS read_bytes_per_operation,
       1.0 * t.process_write_bytes / t.operations AS write_bytes_per_operation,
       1.0 * t.device_flushes / t.operations AS fsyncs_per_operation,
       t.server_memory_peak_bytes, t.client_memory_peak_bytes, t.disk_bytes_after, t.id AS trial_id
FROM trial t
JOIN step s ON s.run_id = t.run_id AND s.id = t.step_id
WHERE t.outcome = 'completed' AND NOT t.is_superseded AND t.operations > 0
ORDER BY t.run_id, s.position, t.clients, t.system_id, t.round;

-- The probes of each search for a capacity.
CREATE VIEW probe AS
SELECT t.run_id, t.step_id, t.clients, t.system_id, t.round, p.key AS number,
       p.value ->> 'rate_per_second' AS rate_per_second, p.value ->> 'seconds' AS seconds, p.value ->> 'due' AS due,
       p.value ->> 'latency_ms' AS latency_ms, p.value ->> 'backlog' AS backlog,
       p.value ->> 'is_sustained' AS is_sustained, p.value ->> 'keeps_limit' AS keeps_limit, t.id AS trial_id
FROM trial t, json_each(t.probes) p
WHERE NOT t.is_superseded;

-- The hosts from which the load of each trial came.
CREATE VIEW driver AS
SELECT t.run_id, t.step_id, t.clients, t.system_id, t.round, d.value ->> 'host' AS host,
       d.value ->> 'clients' AS driver_clients, d.value ->> 'seconds' AS seconds, d.value ->> 'operations' AS operations,
       d.value ->> '$.latency.p50_us' AS latency_p50_us, d.value ->> '$.latency.p95_us' AS latency_p95_us,
       d.value ->> '$.latency.p99_us' AS latency_p99_us, d.value ->> '$.latency.max_us' AS latency_max_us,
       d.value ->> 'cpu_us' AS cpu_us, d.value ->> 'began_after_seconds' AS began_after_seconds,
       d.value ->> '$.network.round_trip_us' AS round_trip_us,
       d.value ->> '$.network.bytes_per_second' AS bytes_per_second, t.id AS trial_id
FROM trial t, json_each(t.drivers) d
WHERE NOT t.is_superseded;

-- The counters of each trial, with their changes per operation.
CREATE VIEW counter_change AS
SELECT t.run_id, t.step_id, t.clients, t.system_id, t.round, n.name, n.is_gauge,
       c.first_value, c.last_value, c.last_value - c.first_value AS change,
       CASE WHEN n.is_gauge THEN NULL ELSE (c.last_value - c.first_value) / t.operations END AS change_per_operation,
       t.id AS trial_id
FROM trial_counter c
JOIN counter n ON n.id = c.counter_id
JOIN trial t ON t.id = c.trial_id
WHERE NOT t.is_superseded AND c.last_value <> c.first_value;

-- In which functions threads of a kind were, as a share of what was seen of that kind.
CREATE VIEW stack_function AS
SELECT t.run_id, t.step_id, t.clients, t.system_id, t.round, s.thread_kind, s.is_idle, s.function,
       sum(s.count) AS count,
       1.0 * sum(s.count) / sum(sum(s.count)) OVER (PARTITION BY t.id, s.thread_kind) AS share,
       t.id AS trial_id
FROM stack s
JOIN trial t ON t.id = s.trial_id
GROUP BY t.id, s.thread_kind, s.is_idle, s.function
ORDER BY t.id, s.thread_kind, count DESC;

-- Throughput and latency of each second of a trial, warm-up included.
CREATE VIEW per_second AS
SELECT t.run_id, t.step_id, t.clients, t.system_id, t.round, p.number, p.phase,
       p.operations / p.seconds AS operations_per_second, p.errors / p.seconds AS errors_per_second,
       p.latency_mean_us, p.latency_p50_us, p.latency_p95_us, p.latency_p99_us, p.latency_max_us,
       1.0 * (p.server_user_cpu_us + p.server_system_cpu_us) / p.operations AS server_cpu_us_per_operation,
       t.id AS trial_id
FROM trial t
JOIN sample p ON p.trial_id = t.id
WHERE p.seconds > 0 AND NOT t.is_superseded;

-- Variation of a trial over its measured seconds. A stalled second has no operation. Not every SQLite has a square
-- root function, so the coefficient of variation (standard deviation / mean) is squared here.
CREATE VIEW steadiness AS
SELECT run_id, step_id, clients, system_id, round, count(*) AS seconds,
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

-- Variables in which a system differs from its run's base. A variable that only one of them has is NULL for the other.
CREATE VIEW setting_difference AS
SELECT s.run_id, s.id AS system_id, base.id AS base_id, n.name, v.value, b.value AS base_value
FROM system s
JOIN system base ON base.run_id = s.run_id AND base.is_base AND base.id <> s.id
JOIN (SELECT DISTINCT run_id, name FROM variable) n ON n.run_id = s.run_id
LEFT JOIN variable v ON v.run_id = s.run_id AND v.system_id = s.id AND v.name = n.name
LEFT JOIN variable b ON b.run_id = s.run_id AND b.system_id = base.id AND b.name = n.name
WHERE v.value IS NOT b.value;
