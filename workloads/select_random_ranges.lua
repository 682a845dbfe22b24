-- Counts the rows of one table in several random ranges of the indexed column k.

require("oltp_common")

sysbench.cmdline.options.number_of_ranges = { "Ranges in a query", 10 }
sysbench.cmdline.options.delta = { "From a range's first value to its last", 5 }

local ranges, delta

function prepare_statements()
  ranges, delta = sysbench.opt.number_of_ranges, sysbench.opt.delta
  local types = {}
  for i = 1, 2 * ranges do
    types[i] = { sysbench.sql.type.INT }
  end
  local condition = string.rep("k BETWEEN ? AND ?", ranges, " OR ")
  prepare_for_table(1, "random_ranges", "SELECT count(k) FROM sbtest1 WHERE " .. condition, unpack(types))
end

function event()
  local params = param[1].random_ranges
  for i = 1, 2 * ranges, 2 do
    local first = get_id()
    params[i]:set(first)
    params[i + 1]:set(first + delta)
  end
  stmt[1].random_ranges:execute()
  check_reconnect()
end
