-- The column by which a workload finds rows, and the columns that it reads. Together they determine whether
-- the query uses the primary key or the index on k, and whether that index alone answers it (is covering).

local STRING = sysbench.cmdline.ARG_STRING

sysbench.cmdline.options.key = { "Column to find rows by: id, the primary key, or k, which has an index", "id", STRING }
sysbench.cmdline.options.columns = { "What to select: a list of columns, or an aggregate of one", "c", STRING }

-- SELECT <columns> FROM <table> WHERE <key>.
local function select_where(table_num)
  local opt = sysbench.opt
  if opt.key ~= "id" and opt.key ~= "k" then
    error("key is one of id and k, not " .. opt.key, 0)
  end
  return string.format("SELECT %s FROM sbtest%d WHERE %s", opt.columns, table_num, opt.key)
end

return { select_where = select_where }
