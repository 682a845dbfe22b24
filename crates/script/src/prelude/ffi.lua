-- `ffi` as scripts see it: LuaJIT's, but what sysbench's program adds to the C library is ours.
local dyno = ...
local native, real = dyno.native, dyno.ffi

local COUNTERS = {
  SB_CNT_OTHER = 0, SB_CNT_READ = 1, SB_CNT_WRITE = 2, SB_CNT_TRX = 3, SB_CNT_ERROR = 4, SB_CNT_RECONNECT = 5,
  SB_CNT_BYTES_READ = 6, SB_CNT_BYTES_WRITTEN = 7,
}

local C = setmetatable({}, { __index = real.C })
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
