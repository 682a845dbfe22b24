-- Prepared statements and their parameters.
local dyno = ...
local native, ffi, NO_RESULT, fail, settled_id = dyno.native, dyno.ffi, dyno.NO_RESULT, dyno.fail, dyno.settled_id
local execute, recover = native.execute, dyno.recover

local Statement = { __tostring = function() return "<sql_statement>" end }
Statement.__index = Statement
dyno.Statement = Statement

-- What each execution needs is in the array part, as that of a connection: [1] the id, nil while there is none; [2] the
-- kinds of the parameters; [3] their values; [4] the connection.
function Statement.new(connection, sql)
  return setmetatable({ nil, "", {}, connection, sql = sql }, Statement)
end

-- Has the server prepare it, with parameters of these kinds. `level` says where, as that of `error` does.
local function prepare(statement, kinds, level)
  local connection = statement[4]
  local id, errno, state, message, ignorable =
    native.prepare(connection[1] or settled_id(connection, level + 1), statement.sql, kinds)
  if not id then
    fail(connection, statement.sql, level + 1, errno, state, message, ignorable)
  end
  statement[1] = id
end
dyno.prepare = prepare

-- What a parameter of an integer type is set to, where it is no number. Numbers take true for 1 and false for 0, as C
-- does.
local function whole_of(value)
  if type(value) == "boolean" then
    return value and 1 or 0
  elseif type(value) == "cdata" then
    return ffi.cast("int64_t", value)
  elseif value ~= nil then
    error(string.format("a parameter of an integer type cannot be set to a %s", type(value)), 3)
  end
end

-- The same of a floating point type.
local function fraction_of(value)
  if type(value) == "boolean" then
    return value and 1 or 0
  elseif value ~= nil then
    error(string.format("a parameter of a floating point type cannot be set to a %s", type(value)), 3)
  end
end

-- A parameter keeps its value in the table of its statement, at its place; before it is bound, in a table of
-- its own. [1] is the table, [2] the place.
local function parameter_class()
  local class = { __tostring = function() return "<sql_param>" end }
  class.__index = class
  return class
end

local Whole, Fraction, Text, Time = parameter_class(), parameter_class(), parameter_class(), parameter_class()
Whole.kind, Fraction.kind, Text.kind, Time.kind = "i", "f", "t", "d"
Text.max_len, Time.max_len = math.huge, math.huge

function Whole:set(value)
  if type(value) ~= "number" then
    value = whole_of(value)
  end
  self[1][self[2]] = value
end

function Fraction:set(value)
  if type(value) ~= "number" then
    value = fraction_of(value)
  end
  self[1][self[2]] = value
end

function Text:set(value)
  if type(value) == "number" then
    value = tostring(value)
  elseif type(value) ~= "string" and value ~= nil then
    error(string.format("a parameter of a text type cannot be set to a %s", type(value)), 2)
  end
  if value and #value > self.max_len then
    value = value:sub(1, self.max_len)
  end
  self[1][self[2]] = value
end

function Text:set_rand_str(format)
  self:set(native.string(format))
end

Time.set, Time.set_rand_str = Text.set, Text.set_rand_str

local sql_type = dyno.sysbench.sql.type
local classes = {
  [sql_type.TINYINT] = Whole, [sql_type.SMALLINT] = Whole, [sql_type.INT] = Whole, [sql_type.BIGINT] = Whole,
  [sql_type.FLOAT] = Fraction, [sql_type.DOUBLE] = Fraction,
  [sql_type.TIME] = Time, [sql_type.DATE] = Time, [sql_type.DATETIME] = Time, [sql_type.TIMESTAMP] = Time,
  [sql_type.CHAR] = Text, [sql_type.VARCHAR] = Text,
}

function Statement:bind_create(sql_type, max_len)
  local class = classes[sql_type]
  if not class then
    error("unsupported parameter type: " .. tostring(sql_type), 2)
  elseif (sql_type == 11 or sql_type == 12) and not max_len then
    error("a parameter of type CHAR or VARCHAR needs a length", 2)
  end
  return setmetatable({ {}, 1, max_len = max_len }, class)
end

function Statement:bind_param(...)
  local values, kinds = {}, {}
  for place = 1, select("#", ...) do
    local parameter = select(place, ...)
    if type(parameter) ~= "table" or not parameter.kind then
      error(string.format("parameter %d has not been made by bind_create()", place), 2)
    end
    values[place] = parameter[1][parameter[2]]
    parameter[1], parameter[2] = values, place
    kinds[place] = parameter.kind
  end
  self[3], self[2] = values, table.concat(kinds)
  if not self[1] and not self.closed then
    prepare(self, self[2], 2)
  end
  return 0
end

-- The id of a statement that has none yet. One that has been closed gets none.
local function prepared(statement)
  if statement.closed then
    error("the statement is closed: the script has called its close()", 3)
  end
  prepare(statement, statement[2], 3)
  return statement[1]
end

function Statement:execute()
  local connection = self[4]
  local has_rows, errno, state, message, ignorable =
    execute(connection[1] or settled_id(connection), self[1] or prepared(self), self[2], self[3])
  if has_rows == nil then
    fail(connection, self.sql, 2, errno, state, message, ignorable)
  elseif connection[2] then
    recover(connection)
  end
  return has_rows and connection[3] or NO_RESULT
end

function Statement:next_result()
  return self[4]:next_result()
end

function Statement:close()
  local connection = self[4]
  local connection_id = connection[1] or connection.sent and settled_id(connection)
  if self[1] and connection_id then
    native.close_statement(connection_id, self[1])
  end
  self[1], self.closed = nil, true
  return 0
end
