-- One row about all.
CREATE TABLE traffic (
    dialect          TEXT NOT NULL CHECK (dialect IN ('mysql', 'postgresql')),
    began_at_us      INTEGER NOT NULL,        -- of the first statement that was read, since 1970 UTC; what offsets count from
    statements       INTEGER NOT NULL,
    sessions         INTEGER NOT NULL,
    is_redacted      INTEGER NOT NULL CHECK (is_redacted IN (0, 1)),
    has_user_names   INTEGER NOT NULL CHECK (has_user_names IN (0, 1)),
    imported_at_us   INTEGER NOT NULL         -- since 1970 UTC
) STRICT;

-- The logs, in the order in which they were read.
CREATE TABLE source (
    id               INTEGER PRIMARY KEY,
    name             TEXT NOT NULL,           -- as it was given
    format           TEXT NOT NULL,           -- slow, general, proxysql, csvlog, jsonlog, stderr, pcap-mysql, pcap-postgresql
    compression      TEXT NOT NULL,           -- none, gzip, zstd, xz
    bytes            INTEGER NOT NULL,        -- of the file
    lines            INTEGER NOT NULL,        -- of a log, or packets of a capture
    statements       INTEGER NOT NULL
) STRICT;

CREATE TABLE database (
    id               INTEGER PRIMARY KEY,
    name             TEXT NOT NULL
) STRICT;

CREATE TABLE session (
    id               INTEGER PRIMARY KEY,     -- in the order of their first entries
    server_id        TEXT NOT NULL,           -- number of the thread, or session id
    user             TEXT,                    -- hashed, unless traffic.has_user_names
    database_id      INTEGER REFERENCES database,   -- at the begin
    began_us         INTEGER NOT NULL,        -- offset of its begin, or of its first entry
    ended_us         INTEGER,                 -- offset of its end; NULL if that was not logged
    last_us          INTEGER NOT NULL,        -- offset of the end of its last statement
    is_begin_logged  INTEGER NOT NULL CHECK (is_begin_logged IN (0, 1)),
    statements       INTEGER NOT NULL
) STRICT;

CREATE TABLE digest (
    id               INTEGER PRIMARY KEY,
    hash             TEXT NOT NULL UNIQUE,    -- first 16 hexadecimal digits of the text's SHA-256
    text             TEXT NOT NULL,
    kind             TEXT NOT NULL,           -- read, write, begin, end, transaction, definition, session, other
    statements       INTEGER NOT NULL,
    errors           INTEGER NOT NULL,
    timed            INTEGER NOT NULL,        -- statements with a latency
    latency_us       INTEGER NOT NULL,        -- sum
    latency_us_max   INTEGER NOT NULL,
    rows_sent        INTEGER NOT NULL,        -- sums of what was logged
    rows_examined    INTEGER NOT NULL,
    rows_affected    INTEGER NOT NULL
) STRICT;

-- Statements without their values.
CREATE TABLE shape (
    id               INTEGER PRIMARY KEY,
    digest_id        INTEGER NOT NULL REFERENCES digest,
    text             TEXT NOT NULL            -- ? for each literal, ?? for a question mark
) STRICT;

-- Consecutive statements of a session. The view `statement` has them one by one.
CREATE TABLE chunk (
    id               INTEGER PRIMARY KEY,
    session_id       INTEGER NOT NULL REFERENCES session,
    first_id         INTEGER NOT NULL,        -- of its first statement
    statements       INTEGER NOT NULL,
    content          TEXT NOT NULL            -- JSON: for each statement an array of its values, whose places the view shows
) STRICT;

CREATE VIEW statement AS SELECT
    first_id + json_extract(value, '$[0]') AS id,   -- in the order of the logs, which is the order within a session
    session_id,
    json_extract(value, '$[1]') AS offset_us,       -- begin, since traffic.began_at_us
    json_extract(value, '$[2]') AS shape_id,
    json_extract(value, '$[7]') AS literals,        -- JSON: values of the shape's question marks
    json_extract(value, '$[8]') AS bound,           -- JSON: values of $1, $2, …
    json_extract(value, '$[5]') AS database_id,
    json_extract(value, '$[6]') AS transaction_id,  -- number of the transaction in its session; NULL outside of transactions
    json_extract(value, '$[9]') AS latency_us,
    json_extract(value, '$[10]') AS rows_sent,
    json_extract(value, '$[11]') AS rows_examined,
    json_extract(value, '$[12]') AS rows_affected,
    json_extract(value, '$[13]') AS error,          -- MySQL's number, PostgreSQL's SQLSTATE; NULL if none is logged
    json_extract(value, '$[3]') AS source_id,
    json_extract(value, '$[4]') AS line             -- first line of the entry, or number of the packet
FROM chunk, json_each(chunk.content);

-- What began in each second with a statement.
CREATE TABLE second (
    second           INTEGER PRIMARY KEY,     -- since 1970 UTC
    statements       INTEGER NOT NULL,
    reads            INTEGER NOT NULL,
    writes           INTEGER NOT NULL,
    errors           INTEGER NOT NULL,
    latency_us       INTEGER NOT NULL         -- sum
) STRICT;

-- Entries that execute no statement: commands by name, and `unrelated` for what is not about statements.
CREATE TABLE skipped (
    source_id        INTEGER NOT NULL REFERENCES source,
    command          TEXT NOT NULL,
    entries          INTEGER NOT NULL,
    PRIMARY KEY (source_id, command)
) STRICT;

-- What could not be read, or only with doubt.
CREATE TABLE trouble (
    source_id        INTEGER NOT NULL REFERENCES source,
    kind             TEXT NOT NULL,
    entries          INTEGER NOT NULL,
    lines            TEXT NOT NULL CHECK (json_valid(lines)),   -- JSON: numbers of the first ten lines
    PRIMARY KEY (source_id, kind)
) STRICT;
