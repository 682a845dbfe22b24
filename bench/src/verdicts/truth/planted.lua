-- An event has as many equal statements as the value of the server's max_connect_errors. The difference in speed
-- between two servers is therefore known.

sysbench.cmdline.options = {
   tables = { "Number of tables", 1 },
   table_size = { "Rows in each", 10000 },
   mysql_storage_engine = { "Storage engine of the tables, which are there already", "innodb" },
   kind = { "What the statements do: reads or writes", "reads" },
}

function thread_init()
   con = sysbench.sql.driver():connect()
   statements = tonumber(con:query_row("SELECT @@max_connect_errors"))
   local sql = "SELECT c FROM sbtest1 WHERE id = ?"
   if sysbench.opt.kind == "writes" then
      sql = "UPDATE sbtest1 SET k = k + 1 WHERE id = ?"
   end
   statement = con:prepare(sql)
   id = statement:bind_create(sysbench.sql.type.INT)
   statement:bind_param(id)
end

function event()
   for _ = 1, statements do
      id:set(sysbench.rand.uniform(1, sysbench.opt.table_size))
      local result = statement:execute()
      if result then
         result:free()
      end
   end
end

function thread_done()
   con:disconnect()
end
