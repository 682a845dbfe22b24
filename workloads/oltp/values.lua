-- The random values of rows and statements.

-- '#' stands for a random digit.
c_value_template = string.rep("###########", 10, "-")
pad_value_template = string.rep("###########", 5, "-")

local uniform = sysbench.rand.uniform
local skewed = sysbench.rand.default
local string_like = sysbench.rand.string
local opt = sysbench.opt

-- A table's number. It is uniform regardless of --rand-type.
function get_table_num()
  return uniform(1, opt.tables)
end

-- An id, or a value of the indexed column k, which has the same range. --rand-type chooses the distribution.
function get_id()
  return skewed(1, opt.table_size)
end

function get_c_value()
  return string_like(c_value_template)
end

function get_pad_value()
  return string_like(pad_value_template)
end

-- Random digits, because they hardly compress.
function get_filler()
  return string_like(string.rep("#", sysbench.opt.filler_bytes))
end

-- An id outside the table's range and within a signed 32-bit integer. No other thread gets the same id.
function get_unique_id()
  return sysbench.rand.unique() - 2147483648
end
