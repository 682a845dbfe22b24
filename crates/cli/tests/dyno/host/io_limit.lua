-- A load that fails unless the kernel has a limit of I/O meanwhile, or has none.

sysbench.cmdline.options = {
  write_iops = {"The limit, which no other has", 0},
  is_limited = {"Whether it is to hold: 1 or 0", 1},
  mysql_storage_engine = {"Storage engine of tables that are made; here none are", ""},
  tables = {"Tables; here none are made", 1},
  table_size = {"Rows; here none are made", 0},
}

function prepare()
  local files = "find /sys/fs/cgroup -name blkio.throttle.write_iops_device -o -name io.max"
  local limits = assert(io.popen("cat $(" .. files .. ")"))
  local found = limits:read("*a"):find("%D" .. sysbench.opt.write_iops .. "%f[%D]") ~= nil
  limits:close()
  if found ~= (sysbench.opt.is_limited == 1) then
    error("the limit is in force: " .. tostring(found), 0)
  end
end

function cleanup()
end
