-- A connection, as sysbench.sql.driver():connect() gives it.
local dyno = ...
local native, NO_RESULT = dyno.native, dyno.NO_RESULT
local query = native.query

local sql_error = { NONE = 0, IGNORABLE = 1, FATAL = 2 }
dyno.sql_error = sql_error
local RESTART_EVENT = 1
local RECONNECTS = 5 -- the counter, as native.count numbers it

local Connection = { __tostring = function() return "<sql_connection>" end }
Connection.__index = Connection
dyno.Connection = Connection

-- What each statement needs is in the array part, which is one stretch of memory: [1] the id, nil while there is none;
-- [2] whether the last statement failed; [3] the result.
function Connection.new(id)
  local connection = { id, false, false, error = sql_error.NONE, sql_errno = 0, sql_state = "", sql_errmsg = "" }
  connection[3] = dyno.Result.new(connection)
  return setmetatable(connection, Connection)
end

-- How much of a statement an error shows, in bytes.
local SHOWN = 200

-- By task (its globals): the text of the error that was raised last, and the statement that it came from.
local last = setmetatable({}, { __mode = "k" })

local function text_of(failure)
  return string.format("SQL error, errno = %d, state = '%s': %s", failure.sql_errno, failure.sql_state,
    failure.sql_errmsg)
end

-- Whether what has been raised tells of an error of SQL: scripts raise tables of their own too.
local function is_failure(raised)
  return type(raised) == "table" and type(rawget(raised, "sql_errno")) == "number"
    and type(rawget(raised, "sql_state")) == "string" and type(rawget(raised, "sql_errmsg")) == "string"
end

-- A statement on one line, and not all of a long one. It is not cut within a character of UTF-8, which has up to three
-- bytes after its first.
local function shortened(sql)
  sql = sql:gsub("%s+", " ")
  if #sql <= SHOWN then
    return sql
  end
  local shown = SHOWN
  while shown > SHOWN - 3 and sql:find("^[\128-\191]", shown + 1) do
    shown = shown - 1
  end
  return sql:sub(1, shown) .. "..."
end

-- What a task with these globals has raised, as whoever runs the script is told it: an error of SQL names its statement,
-- which scripts that catch it find in sysbench's words only.
function dyno.told(raised, task)
  local text, query, latest = raised, nil, last[task]
  if is_failure(raised) then
    text, query = text_of(raised), rawget(raised, "query")
  elseif type(raised) == "string" and latest and raised:sub(-#latest.text) == latest.text then
    query = latest.query
  end
  if type(query) ~= "string" then
    return text
  end
  return string.format("%s, for query '%s'", text, shortened(query))
end

-- Raises the connection's last error: a table that restarts the event where the options or the script's hook
-- allow it, otherwise a message. `level` says where, as that of `error` does.
local function raise(connection, sql, level)
  local failure = {
    connection = connection,
    query = sql,
    sql_errno = connection.sql_errno,
    sql_state = connection.sql_state,
    sql_errmsg = connection.sql_errmsg,
  }
  local task = getfenv(0)
  local ignorable = connection.error == sql_error.IGNORABLE
  if not ignorable then
    local hook = task.sysbench.hooks.sql_error_ignorable
    ignorable = type(hook) == "function" and hook(failure)
  end
  if ignorable then
    failure.errcode = RESTART_EVENT
    error(failure, level + 1)
  end
  local text = text_of(failure)
  last[task] = { text = text, query = sql }
  error(text, level + 1)
end

-- Notes on the connection what a request has failed with, and raises it.
local function fail(connection, sql, level, errno, state, message, ignorable)
  connection[2] = true
  connection.error = ignorable and sql_error.IGNORABLE or sql_error.FATAL
  connection.sql_errno, connection.sql_state, connection.sql_errmsg = errno, state, message
  raise(connection, sql, level + 1)
end
dyno.fail = fail

-- Forgets the last error: the statement after it went well.
local function recover(connection)
  connection[2], connection.error, connection.sql_errno = false, sql_error.NONE, 0
  connection.sql_state, connection.sql_errmsg = "", ""
end
dyno.recover = recover

-- The id of a connection that has none at hand: a bulk insert or a sent query is under way, whose answer is waited for
-- first, or the script has closed it. `level` says where, as that of `error` does; 3 where none is given.
local function settled_id(connection, level)
  level = level or 3
  dyno.collect(connection, level + 1)
  return connection[1] or error("the connection is closed: the script has called its disconnect()", level)
end
dyno.settled_id = settled_id

function Connection:query(sql)
  local has_rows, errno, state, message, ignorable = query(self[1] or settled_id(self), sql)
  if has_rows == nil then
    fail(self, sql, 2, errno, state, message, ignorable)
  elseif self[2] then
    recover(self)
  end
  return has_rows and self[3] or NO_RESULT
end

-- Sends a query. Its answer is waited for by receive(), or by whatever uses the connection next; meanwhile the script can use
-- its other connections.
function Connection:send(sql)
  local id = self[1] or settled_id(self)
  local sent, errno, state, message, ignorable = native.send(id, sql)
  if sent == nil then
    fail(self, sql, 2, errno, state, message, ignorable)
  end
  self.sent, self[1] = { id = id, sql = sql, rows = 0 }, nil
  return true
end

-- Waits for the answer to what a connection has sent. Returns whether it has rows.
function dyno.receive(connection, level)
  local sent = connection.sent
  connection.sent, connection[1] = nil, sent.id
  local has_rows, errno, state, message, ignorable = native.receive(sent.id)
  if has_rows == nil then
    fail(connection, sent.sql, level, errno, state, message, ignorable)
  elseif connection[2] then
    recover(connection)
  end
  return has_rows
end

-- The result of the query that was sent.
function Connection:receive()
  if not self.sent then
    error("no query was sent: call send() first", 2)
  end
  local has_rows = dyno.receive(self, 3)
  return has_rows and self[3] or NO_RESULT
end

function Connection:query_row(sql)
  local has_rows, errno, state, message, ignorable = query(self[1] or settled_id(self), sql)
  if has_rows ~= nil and self[2] then
    recover(self)
  end
  if has_rows then
    local row, fields = native.next_row(self[1])
    if row then
      return unpack(row, 1, fields)
    end
  elseif has_rows == nil then
    fail(self, sql, 2, errno, state, message, ignorable)
  end
end

-- PostgreSQL is told the types of parameters, which are known once they are bound.
function Connection:prepare(sql)
  local statement = dyno.Statement.new(self, sql)
  if dyno.driver ~= "pgsql" or not sql:find("?", 1, true) then
    dyno.prepare(statement, "", 2)
  end
  return statement
end

function Connection:disconnect()
  dyno.end_bulk(self)
  local id = self[1] or self.sent and settled_id(self)
  if id then
    native.disconnect(id)
    self[1] = nil
  end
  return true
end

function Connection:reconnect()
  local done, errno, state, message, ignorable
  local id = self[1] or self.sent and settled_id(self)
  if id then
    done, errno, state, message, ignorable = native.reconnect(id)
  else
    self[1], errno, state, message, ignorable = native.connect()
    done = self[1]
  end
  if not done then
    fail(self, nil, 2, errno, state, message, ignorable)
  end
  native.count(RECONNECTS, 1)
  return true
end

function Connection:more_results()
  return native.more_results(self[1] or settled_id(self))
end

function Connection:next_result()
  local has_rows, errno, state, message, ignorable = native.next_result(self[1] or settled_id(self))
  if has_rows == nil then
    fail(self, nil, 2, errno, state, message, ignorable)
  elseif self[2] then
    recover(self)
  end
  return has_rows and self[3] or NO_RESULT
end

-- Errors are raised where they occur; this raises the last one again where a script has caught it and asks.
function Connection:check_error(result, sql)
  if result == nil and self.error ~= sql_error.NONE then
    raise(self, sql, 2)
  end
  return result
end
