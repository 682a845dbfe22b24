-- Bulk inserts: rows are put together to statements of about half a megabyte.
--
-- A command such as prepare makes the next rows while the server works on the last ones: their answer is waited
-- for when the next statement is full, at the end, or by whatever else uses the connection. Events wait for it at
-- once, since it is part of their latency.
local dyno = ...
local native, Connection, fail, settled_id = dyno.native, dyno.Connection, dyno.fail, dyno.settled_id

local recover = dyno.recover

local BULK_ROWS = 8 -- the counter, as native.count numbers it
local runs_ahead = dyno.command_name ~= "run"
dyno.runs_ahead = runs_ahead

-- Waits for the answer to the statement that is under way. Until then the connection has no id.
function dyno.collect(connection, level)
  local sent = connection.sent
  if not sent then
    return
  end
  dyno.receive(connection, level + 1)
  native.count(BULK_ROWS, sent.rows)
end

-- Sends what has been put together.
local function flush(connection, bulk)
  local rows = native.bulk_rows(bulk.number)
  if rows == 0 then
    return
  end
  local id = connection[1] or settled_id(connection, 4)
  local send = bulk.is_data and native.bulk_load or runs_ahead and native.bulk_send or native.bulk_query
  local done, errno, state, message, ignorable = send(bulk.number, id)
  if done == nil then
    fail(connection, bulk.sql, 3, errno, state, message, ignorable)
  end
  if runs_ahead then
    connection.sent, connection[1] = { id = id, sql = bulk.sql, rows = rows }, nil
  else
    native.count(BULK_ROWS, rows)
    if connection[2] then
      recover(connection)
    end
  end
end

dyno.flush_bulk = flush

local function end_bulk(connection)
  if connection.bulk then
    native.bulk_end(connection.bulk.number)
    connection.bulk = nil
  end
end
dyno.end_bulk = end_bulk

local function bulk_of(connection)
  return connection.bulk or error("bulk_insert_init() must be called first", 3)
end

function Connection:bulk_insert_init(sql)
  end_bulk(self)
  self.bulk = { sql = sql, number = native.bulk_begin(sql) }
  return true
end

-- The same for a statement that reads its rows as lines. Only a command can use it, since it runs ahead.
function dyno.begin_load(connection, sql)
  end_bulk(connection)
  connection.bulk = { sql = sql, is_data = true, number = native.bulk_begin(sql, true) }
end

function Connection:bulk_insert_next(row)
  local bulk = bulk_of(self)
  if not native.bulk_add(bulk.number, row) then
    flush(self, bulk)
    native.bulk_add(bulk.number, row)
  end
  return true
end

-- Where none is under way there is nothing to do: scripts call it in thread_done() for all of their connections.
function Connection:bulk_insert_done()
  local bulk = self.bulk
  if bulk then
    flush(self, bulk)
    end_bulk(self)
  end
  if self.sent then
    settled_id(self)
  end
  return true
end
