-- New orders per minute, by the numbers that districts give to their orders.

ffi.cdef("int clock_gettime(int clock, long *time);")

-- Seconds of a clock that only runs forward.
local function now()
  local time = ffi.new("long[2]")
  ffi.C.clock_gettime(1, time)
  return tonumber(time[0]) + tonumber(time[1]) / 1e9
end

-- Orders that were ever placed.
local function orders()
  local con, sum = sysbench.sql.driver():connect(), 0
  for set = 1, sysbench.opt.tables do
    sum = sum + tonumber((con:query_row("SELECT SUM(d_next_o_id) FROM district" .. set)))
  end
  con:disconnect()
  return sum
end

local began, orders_before

-- Before the first event.
local function begin()
  began, orders_before = now(), orders()
end

-- Prints the figure after the last event.
local function tell(workload)
  local new_orders, seconds = orders() - orders_before, now() - began
  print(string.format("%s: %d new orders in %.1f s, warm-up included: %.0f NOPM", workload, new_orders, seconds,
    60 * new_orders / seconds))
end

return { begin = begin, tell = tell }
