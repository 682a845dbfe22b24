-- sysbench.sql: drivers, and the names that go with statements.
local dyno = ...
local native, Connection = dyno.native, dyno.Connection

local sql = {}
dyno.sysbench.sql = sql

sql.type = {
  NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7, DATE = 8,
  DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
}
sql.error = dyno.sql_error

local Driver = { __tostring = function() return "<sql_driver>" end }
Driver.__index = Driver

function Driver:name()
  return dyno.driver
end

function Driver:connect()
  local id, errno, state, message = native.connect()
  if not id then
    error(string.format("connection creation failed: error %d (%s): %s", errno, state, message), 2)
  end
  return Connection.new(id)
end

local driver = setmetatable({}, Driver)

function sql.driver(name)
  if name and name ~= dyno.driver then
    error("the script asks for the driver '" .. name .. "', and this run has '" .. dyno.driver .. "' (--db-driver)", 2)
  end
  return driver
end
