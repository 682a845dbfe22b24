-- `ffi` as scripts see it: LuaJIT's, but what sysbench's program adds to the C library is ours.
local dyno = ...
local native, real = dyno.native, dyno.ffi

-- What sysbench has declared before a script runs, under the names that scripts use in declarations of their own.
real.cdef([[
typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_TRX, SB_CNT_ERROR, SB_CNT_RECONNECT, SB_CNT_BYTES_READ,
  SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;
typedef enum { DB_ERROR_NONE, DB_ERROR_IGNORABLE, DB_ERROR_FATAL } sql_error_t;
typedef struct sql_driver sql_driver;
typedef struct sql_connection sql_connection;
typedef struct sql_statement sql_statement;
typedef struct sql_result sql_result;
typedef struct sql_row sql_row;
typedef struct sb_histogram sb_histogram_t;
typedef uint32_t useconds_t;
]])

local COUNTERS = {
  SB_CNT_OTHER = 0, SB_CNT_READ = 1, SB_CNT_WRITE = 2, SB_CNT_TRX = 3, SB_CNT_ERROR = 4, SB_CNT_RECONNECT = 5,
  SB_CNT_BYTES_READ = 6, SB_CNT_BYTES_WRITTEN = 7,
}

-- Functions of sysbench's program that have no equal here, by the beginnings of their names.
local ABSENT = { "^sb_", "^db_", "^sql_", "^xoroshiro" }

local function look_up(known, name)
  local found, value = pcall(function() return real.C[name] end)
  if found then
    -- A function stays what it is; a variable may change.
    if type(value) == "cdata" then
      rawset(known, name, value)
    end
    return value
  end
  for _, beginning in ipairs(ABSENT) do
    if name:find(beginning) then
      error("ffi.C." .. name .. " is a function inside sysbench's program, which dyno does not have", 2)
    end
  end
  error(value, 2)
end

local C = setmetatable({}, { __index = look_up })
for name, number in pairs(COUNTERS) do
  C[name] = number
end

function C.sb_counter_inc(_, counter)
  native.count(tonumber(counter), 1)
end

function C.sb_counter_add(_, counter, n)
  native.count(tonumber(counter), tonumber(n))
end

-- Other connections go on meanwhile.
function C.usleep(us)
  native.sleep(tonumber(us))
  return 0
end

-- The random numbers of sysbench's C library.
for _, name in ipairs({ "default", "uniform", "gaussian", "special", "pareto", "zipfian" }) do
  C["sb_rand_" .. name] = function(low, high)
    return native[name](tonumber(low), tonumber(high))
  end
end

function C.sb_rand_unique()
  return native.unique()
end

function C.sb_rand_uniform_double()
  return native.uniform_double()
end

function C.sb_rand_str(format, buffer)
  real.copy(buffer, native.string(type(format) == "string" and format or real.string(format)))
end

function C.sb_rand_varstr(buffer, low, high)
  local text = native.varstring(tonumber(low), tonumber(high))
  real.copy(buffer, text, #text)
  return #text
end

function C.sb_more_events()
  return native.next_event()
end

function C.sb_event_start() end

function C.sb_event_stop()
  native.count(COUNTERS.SB_CNT_TRX, 1)
end

-- Tasks share one state, so that each runs the declarations that the first has made already.
local declared, metatypes = {}, {}

local ffi = setmetatable({ C = C }, { __index = real })
dyno.script_ffi = ffi

function ffi.cdef(text, ...)
  if select("#", ...) > 0 then
    return real.cdef(text, ...)
  elseif not declared[text] then
    real.cdef(text)
    declared[text] = true
  end
end

function ffi.metatype(ctype, metatable)
  ctype = real.typeof(ctype)
  local key = tostring(ctype)
  metatypes[key] = metatypes[key] or real.metatype(ctype, metatable)
  return metatypes[key]
end
