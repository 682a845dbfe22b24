-- Results. A connection has one, always about its last statement.
local dyno = ...
local native, ffi = dyno.native, dyno.ffi

local methods = {}

local function id_of(connection)
  return connection[1] or dyno.settled_id(connection)
end

-- The next row as a table of strings, in which NULL is nil; nil after the last.
function methods:fetch_row()
  return (native.next_row(id_of(self.connection)))
end

function methods:free() end

local Result = { __tostring = function() return "<sql_result>" end }
dyno.Result = Result

function Result.new(connection)
  return setmetatable({ connection = connection }, Result)
end

function Result:__index(key)
  if key == "nrows" then
    return native.row_count(id_of(self.connection))
  elseif key == "nfields" then
    return native.field_count(id_of(self.connection))
  end
  return methods[key]
end

-- What a statement without rows gives: sysbench's is a null pointer, equal to nil and yet true.
ffi.cdef("struct dyno_no_result { int unused; };")
ffi.metatype("struct dyno_no_result", {
  __index = { nrows = 0, nfields = 0, fetch_row = function() end, free = function() end },
})
dyno.NO_RESULT = ffi.new("struct dyno_no_result *")
