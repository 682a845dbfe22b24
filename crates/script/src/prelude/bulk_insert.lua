-- Bulk inserts: rows are put together to statements of about half a megabyte.
local dyno = ...
local native, Connection, fail, closed = dyno.native, dyno.Connection, dyno.fail, dyno.closed

local STATEMENT_BYTES_MAX = 512 * 1024
local BULK_ROWS = 8 -- the counter, as native.count numbers it

function Connection:bulk_insert_init(sql)
  self.bulk = { sql = sql, rows = {}, count = 0, bytes = 0 }
  return true
end

-- Sends what has been put together.
local function flush(connection, bulk)
  if bulk.count == 0 then
    return
  end
  local sql = bulk.sql .. " " .. table.concat(bulk.rows, ",", 1, bulk.count)
  local rows = bulk.count
  bulk.count, bulk.bytes = 0, 0
  local has_rows, errno, state, message, ignorable = native.query(connection.id or closed(), sql)
  if has_rows == nil then
    fail(connection, bulk.sql, 3, errno, state, message, ignorable)
  end
  native.count(BULK_ROWS, rows)
end

local function bulk_of(connection)
  return connection.bulk or error("bulk_insert_init() must be called first", 3)
end

function Connection:bulk_insert_next(row)
  local bulk = bulk_of(self)
  if bulk.bytes + #row > STATEMENT_BYTES_MAX then
    flush(self, bulk)
  end
  local count = bulk.count + 1
  bulk.rows[count], bulk.count, bulk.bytes = row, count, bulk.bytes + #row + 1
  return true
end

function Connection:bulk_insert_done()
  local bulk = bulk_of(self)
  self.bulk = nil
  flush(self, bulk)
  return true
end
