-- A table that lacks an index where a condition holds, and statements with and without a plan.

sysbench.cmdline.options = {
  no_index_if = {"Condition in SQL", "1 = 0"},
}

local ROWS = 5000

function lacks_index(con)
  local answer = con:query_row("SELECT CASE WHEN " .. sysbench.opt.no_index_if .. " THEN 1 ELSE 0 END")
  return tonumber(answer) == 1
end

function prepare()
  local driver = sysbench.sql.driver()
  local con = driver:connect()
  con:query("CREATE TABLE dropped (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, c VARCHAR(60) NOT NULL)")
  local rows = {}
  for id = 1, ROWS do
    rows[id] = string.format("(%d, %d, '%s')", id, id, string.rep("x", 50))
  end
  con:query("INSERT INTO dropped VALUES " .. table.concat(rows, ", "))
  if not lacks_index(con) then
    con:query("CREATE INDEX dropped_k ON dropped (k)")
  end
  if driver:name() == "pgsql" then
    con:query("ANALYZE dropped")
  end
  con:disconnect()
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  con:query("DROP TABLE IF EXISTS dropped")
  con:disconnect()
end

function thread_init()
  con = sysbench.sql.driver():connect()
  con:query_row("SELECT count(*) FROM dropped")
  by_k = con:prepare("SELECT c FROM dropped WHERE k = ?")
  k = by_k:bind_create(sysbench.sql.type.INT)
  by_k:bind_param(k)
end

function event()
  con:query("BEGIN")
  k:set(sysbench.rand.uniform(1, ROWS))
  by_k:execute()
  if not has_written then
    has_written = true
    local id = sysbench.rand.uniform(1, ROWS)
    con:query(string.format("UPDATE dropped SET c = 'it''s %d' WHERE id = %d", id, id))
  end
  con:query("COMMIT")
end

function thread_done()
  by_k:close()
  con:disconnect()
end
