-- Puts back the statistic of a time at which all jobs waited.

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  con:query("SELECT pg_clear_attribute_stats(current_schema()::text, 'jobs', 'state', false)")
  con:query([[
    SELECT pg_restore_attribute_stats('schemaname', current_schema()::text, 'relname', 'jobs', 'attname', 'state',
      'inherited', false, 'null_frac', 0::real, 'avg_width', 4, 'n_distinct', 1::real)]])
end

function thread_done()
  con:disconnect()
end
