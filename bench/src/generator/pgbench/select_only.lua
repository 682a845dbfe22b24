-- The statement of `pgbench -S -M prepared`: one row of pgbench_accounts by its key.

sysbench.cmdline.options = { rows = { "rows of pgbench_accounts", 100000 } }

local uniform = sysbench.rand.uniform

function thread_init()
  con = sysbench.sql.driver():connect()
  statement = con:prepare("SELECT abalance FROM pgbench_accounts WHERE aid = ?")
  aid = statement:bind_create(sysbench.sql.type.INT)
  statement:bind_param(aid)
end

function event()
  aid:set(uniform(1, sysbench.opt.rows))
  statement:execute()
end

function thread_done()
  con:disconnect()
end
