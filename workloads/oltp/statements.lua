-- The prepared statements of a connection: stmt[table number][kind], stmt.begin and stmt.commit. Parameters
-- are in param[table number][kind].

local dialect_of = require("sql.dialect").of

local ID = { sysbench.sql.type.INT }
local C = { sysbench.sql.type.CHAR, 120 }
local PAD = { sysbench.sql.type.CHAR, 60 }

-- Each statement, and the types of its parameters.
local kinds = {
  point_selects = { "SELECT c FROM sbtest%d WHERE id=?", ID },
  simple_ranges = { "SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ?", ID, ID },
  sum_ranges = { "SELECT SUM(k) FROM sbtest%d WHERE id BETWEEN ? AND ?", ID, ID },
  order_ranges = { "SELECT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c", ID, ID },
  distinct_ranges = { "SELECT DISTINCT c FROM sbtest%d WHERE id BETWEEN ? AND ? ORDER BY c", ID, ID },
  index_updates = { "UPDATE sbtest%d SET k=k+1 WHERE id=?", ID },
  non_index_updates = { "UPDATE sbtest%d SET c=? WHERE id=?", C, ID },
  deletes = { "DELETE FROM sbtest%d WHERE id=?", ID },
  inserts = { "INSERT INTO sbtest%d (id, k, c, pad) VALUES (?, ?, ?, ?)", ID, ID, C, PAD },
}

-- Prepares sql as stmt[table_num][kind]. The further arguments are the types of its parameters.
function prepare_for_table(table_num, kind, sql, ...)
  local statement = con:prepare(sql)
  local params = {}
  for i = 1, select("#", ...) do
    params[i] = statement:bind_create(unpack((select(i, ...))))
  end
  statement:bind_param(unpack(params))
  stmt[table_num][kind] = statement
  param[table_num][kind] = params
end

function prepare_for_each_table(kind)
  local definition = kinds[kind]
  for table_num = 1, sysbench.opt.tables do
    prepare_for_table(table_num, kind, string.format(definition[1], table_num), unpack(definition, 2))
  end
end

function prepare_begin()
  stmt.begin = con:prepare("BEGIN")
end

function prepare_commit()
  stmt.commit = con:prepare("COMMIT")
end

-- As BEGIN, for a transaction that declares itself read-only.
local function prepare_begin_read_only()
  local begin = dialect_of(drv).begin_read_only
  if not begin then
    error("read_only: " .. drv:name() .. " has no read-only transactions", 0)
  end
  stmt.begin = con:prepare(begin)
end

-- Prepares BEGIN and COMMIT around reads. With --skip_trx there are none, and begin() and commit() do
-- nothing.
function prepare_read_transaction()
  if not sysbench.opt.skip_trx then
    if sysbench.opt.read_only then
      prepare_begin_read_only()
    else
      prepare_begin()
    end
    prepare_commit()
  end
end

-- Prepares BEGIN and COMMIT around writes.
function prepare_write_transaction()
  if not sysbench.opt.skip_trx then
    stmt.begin = con:prepare(dialect_of(drv).begin_write)
    prepare_commit()
  end
end

function prepare_point_selects()
  prepare_for_each_table("point_selects")
end

function prepare_simple_ranges()
  prepare_for_each_table("simple_ranges")
end

function prepare_sum_ranges()
  prepare_for_each_table("sum_ranges")
end

function prepare_order_ranges()
  prepare_for_each_table("order_ranges")
end

function prepare_distinct_ranges()
  prepare_for_each_table("distinct_ranges")
end

function prepare_index_updates()
  prepare_for_each_table("index_updates")
end

function prepare_non_index_updates()
  prepare_for_each_table("non_index_updates")
end

function prepare_delete_inserts()
  prepare_for_each_table("deletes")
  prepare_for_each_table("inserts")
end

-- All reads of the OLTP transaction.
function prepare_reads()
  prepare_point_selects()
  if sysbench.opt.range_selects then
    prepare_simple_ranges()
    prepare_sum_ranges()
    prepare_order_ranges()
    prepare_distinct_ranges()
  end
end

-- All writes of the OLTP transaction.
function prepare_writes()
  prepare_index_updates()
  prepare_non_index_updates()
  prepare_delete_inserts()
end

function close_statements()
  for key, value in pairs(stmt) do
    if type(key) == "number" then
      for _, statement in pairs(value) do
        statement:close()
      end
    else
      value:close()
    end
  end
end
