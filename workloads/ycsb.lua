-- The core workloads of YCSB, A to F: reads, updates, scans and inserts of records, of which some are popular. An event is one
-- operation.

local prepared = require("sql.prepared")
local records = require("ycsb.records")
local zipf = require("ycsb.zipf").of

local format = string.format
local uniform = sysbench.rand.uniform
local TEXT = sysbench.sql.type.VARCHAR
local INT = sysbench.sql.type.INT

-- Spreads popular records over all keys. It is prime, so each record keeps a key of its own.
local SPREAD = 1000003

sysbench.cmdline.options = {
  core = { "Core workload: a, b, c, d, e or f", "a" },
  recordcount = { "Records that prepare makes", 100000 },
  fieldcount = { "Fields of a record", 10 },
  fieldlength = { "Letters of a field", 100 },
  maxscanlength = { "Most records of a scan", 100 },
  zipfianconstant = { "How much more popular some records are than others; not 1", 0.99 },
  mysql_storage_engine = { "Storage engine of the table, on MySQL", "innodb" },
}

-- Operations and how many of 100 are of each kind.
local mixes = {
  a = { "read", 50, "update", 50 },
  b = { "read", 95, "update", 5 },
  c = { "read", 100 },
  d = { "read_latest", 95, "insert", 5 },
  e = { "scan", 95, "insert", 5 },
  f = { "read", 50, "read_modify_write", 50 },
}

prepare, cleanup = records.prepare, records.cleanup
sysbench.cmdline.commands = { check = { records.check } }

local con, popular, operations
local read, scan, insert, updates
-- Numbers of the records that this thread inserted. The next is so many after the last that no other thread takes it.
local inserted, next_number = {}, 0

-- The key of the record that a rank of popularity has.
local function popular_key()
  return records.key(popular(sysbench.opt.recordcount) * SPREAD % sysbench.opt.recordcount)
end

local run = {}

function run.read(key)
  read.bound[1]:set(key or popular_key())
  read.statement:execute()
end

function run.update(key)
  key = key or popular_key()
  local field = uniform(0, sysbench.opt.fieldcount - 1)
  local update = updates[field]
  update.bound[1]:set(records.value(key, field))
  update.bound[2]:set(key)
  update.statement:execute()
end

function run.read_modify_write()
  local key = popular_key()
  run.read(key)
  run.update(key)
end

-- The most popular is the last that this thread inserted; those that prepare made come after all of these.
function run.read_latest()
  local age = popular(#inserted + sysbench.opt.recordcount)
  run.read(records.key(inserted[#inserted + 1 - age] or sysbench.opt.recordcount + #inserted - age))
end

function run.scan()
  scan.bound[1]:set(popular_key())
  scan.bound[2]:set(uniform(1, sysbench.opt.maxscanlength))
  scan.statement:execute()
end

function run.insert()
  local key = records.key(next_number)
  insert.bound[1]:set(key)
  for field = 0, sysbench.opt.fieldcount - 1 do
    insert.bound[field + 2]:set(records.value(key, field))
  end
  insert.statement:execute()
  inserted[#inserted + 1] = next_number
  next_number = next_number + sysbench.opt.threads
end

function thread_init()
  local opt, key = sysbench.opt, { TEXT, 255 }
  local field = { TEXT, opt.fieldlength }
  con = sysbench.sql.driver():connect()
  popular = zipf(opt.zipfianconstant)
  operations = {}
  local mix = mixes[opt.core:lower()] or error("core is one of a to f, not " .. opt.core, 0)
  for at = 1, #mix, 2 do
    for _ = 1, mix[at + 1] do
      operations[#operations + 1] = run[mix[at]]
    end
  end
  read = prepared(con, "SELECT * FROM usertable WHERE ycsb_key = ?", key)
  scan = prepared(con, "SELECT * FROM usertable WHERE ycsb_key >= ? ORDER BY ycsb_key LIMIT ?", key, { INT })
  updates = {}
  for number = 0, opt.fieldcount - 1 do
    updates[number] = prepared(con, format("UPDATE usertable SET field%d = ? WHERE ycsb_key = ?", number), field, key)
  end
  local fields = {}
  for number = 1, opt.fieldcount do fields[number] = field end
  insert = prepared(con, "INSERT INTO usertable VALUES (?" .. string.rep(", ?", opt.fieldcount) .. ")", key, unpack(fields))
  -- All threads ask before the first event inserts.
  local last = con:query_row("SELECT MAX(ycsb_key) FROM usertable")
  next_number = records.number(last) + 1 + sysbench.tid
end

function event()
  operations[uniform(1, 100)]()
end

function thread_done()
  con:disconnect()
end
