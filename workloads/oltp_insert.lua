-- Inserts one row, as text instead of with a prepared statement.

require("oltp_common")

local dialect_of = require("sql.dialect").of

-- If the database does not generate ids, the tables are empty at first, as in sysbench, because events supply
-- ids.
local function prepare()
  if not sysbench.opt.auto_inc then
    sysbench.opt.table_size = 0
  end
  cmd_prepare()
end

sysbench.cmdline.commands.prepare = { prepare, sysbench.cmdline.PARALLEL_COMMAND }

local format = string.format
local statements = {}
local ids_given

function prepare_statements()
  local dialect = dialect_of(drv)
  ids_given = not generates_ids(dialect)
  local id_column, id_value = "", ""
  if ids_given then
    id_column, id_value = "id, ", "%d, "
  elseif dialect.next_id then
    id_column, id_value = "id, ", dialect.next_id .. ", "
  end
  for table_num = 1, sysbench.opt.tables do
    statements[table_num] = "INSERT INTO sbtest" .. table_num .. " (" .. id_column .. "k, c, pad) VALUES ("
      .. id_value .. "%d, '%s', '%s')"
  end
end

function event()
  local statement = statements[get_table_num()]
  local k, c, pad = get_id(), get_c_value(), get_pad_value()
  if ids_given then
    con:query(format(statement, get_unique_id(), k, c, pad))
  else
    con:query(format(statement, k, c, pad))
  end
  check_reconnect()
end
