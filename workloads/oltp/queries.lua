-- The parts of a transaction. Each kind of query uses one table, which is chosen at random each time.

function begin()
  if stmt.begin then
    stmt.begin:execute()
  end
end

function commit()
  if stmt.commit then
    stmt.commit:execute()
  end
end

function execute_point_selects()
  local table_num = get_table_num()
  local statement, id = stmt[table_num].point_selects, param[table_num].point_selects[1]
  for _ = 1, sysbench.opt.point_selects do
    id:set(get_id())
    statement:execute()
  end
end

local function execute_ranges(kind)
  local table_num = get_table_num()
  local statement, params = stmt[table_num][kind], param[table_num][kind]
  local width = sysbench.opt.range_size - 1
  for _ = 1, sysbench.opt[kind] do
    local first = get_id()
    params[1]:set(first)
    params[2]:set(first + width)
    statement:execute()
  end
end

function execute_simple_ranges()
  execute_ranges("simple_ranges")
end

function execute_sum_ranges()
  execute_ranges("sum_ranges")
end

function execute_order_ranges()
  execute_ranges("order_ranges")
end

function execute_distinct_ranges()
  execute_ranges("distinct_ranges")
end

function execute_index_updates()
  local table_num = get_table_num()
  local statement, id = stmt[table_num].index_updates, param[table_num].index_updates[1]
  for _ = 1, sysbench.opt.index_updates do
    id:set(get_id())
    statement:execute()
  end
end

function execute_non_index_updates()
  local table_num = get_table_num()
  local statement, params = stmt[table_num].non_index_updates, param[table_num].non_index_updates
  for _ = 1, sysbench.opt.non_index_updates do
    params[1]:set_rand_str(c_value_template)
    params[2]:set(get_id())
    statement:execute()
  end
end

-- The row is inserted again with its id, so that the table keeps its size.
function execute_delete_inserts()
  local table_num = get_table_num()
  local delete, delete_id = stmt[table_num].deletes, param[table_num].deletes[1]
  local insert, row = stmt[table_num].inserts, param[table_num].inserts
  for _ = 1, sysbench.opt.delete_inserts do
    local id = get_id()
    delete_id:set(id)
    delete:execute()
    row[1]:set(id)
    row[2]:set(get_id())
    row[3]:set_rand_str(c_value_template)
    row[4]:set_rand_str(pad_value_template)
    insert:execute()
  end
end

-- All reads of the OLTP transaction.
function execute_reads()
  execute_point_selects()
  if sysbench.opt.range_selects then
    execute_simple_ranges()
    execute_sum_ranges()
    execute_order_ranges()
    execute_distinct_ranges()
  end
end

-- All writes of the OLTP transaction.
function execute_writes()
  execute_index_updates()
  execute_non_index_updates()
  execute_delete_inserts()
end
