-- Not part of the specification. Deletes the oldest order of each district of a warehouse if it was
-- delivered, so that a long run does not grow the database. It is as frequent as the delivery transaction.

local template = require("tpcc.template")

local format = string.format

local templates = {
  begin = "{begin_write}",
  oldest = "SELECT o_id, o_carrier_id FROM orders# WHERE o_w_id = %d AND o_d_id = %d ORDER BY o_id LIMIT 1{for_update}",
  lines = "DELETE FROM order_line# WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d",
  order = "DELETE FROM orders# WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d",
}

local statements

local function run(con, set, w_id)
  local sql = statements[set]
  con:query(sql.begin)
  for d_id = 1, 10 do
    local o_id, carrier = con:query_row(format(sql.oldest, w_id, d_id))
    if carrier then
      con:query(format(sql.lines, w_id, d_id, tonumber(o_id)))
      con:query(format(sql.order, w_id, d_id, tonumber(o_id)))
    end
  end
  con:query("COMMIT")
end

local function init(dialect)
  statements = template.fill_all(templates, dialect)
end

return { init = init, run = run }
