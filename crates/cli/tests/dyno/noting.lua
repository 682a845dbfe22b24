-- A load that writes into a file which limits of I/O the kernel has meanwhile.

sysbench.cmdline.options = {
  into = {"The file", ""},
  mysql_storage_engine = {"Storage engine of tables that are made; here none are", ""},
  tables = {"Tables; here none are made", 1},
  table_size = {"Rows; here none are made", 0},
}

function prepare()
  local files = "find /sys/fs/cgroup -name blkio.throttle.write_iops_device -o -name io.max"
  os.execute("cat $(" .. files .. ") > '" .. sysbench.opt.into .. "'")
end

function cleanup()
end
