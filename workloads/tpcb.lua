-- Transactions of the kind of TPC-B, on the tables of pgbench. An event adds an amount to an account, a teller and a branch, and
-- notes it in a history.

local dialect_of = require("sql.dialect").of
local prepared = require("sql.prepared")

local format = string.format
local uniform = sysbench.rand.uniform
local INT = { sysbench.sql.type.INT }

-- Of a branch.
local TELLERS, ACCOUNTS = 10, 100000
local AMOUNT_MAX = 5000

sysbench.cmdline.options = {
  scale = { "Branches, each with 10 tellers and 100000 accounts", 1 },
  mysql_storage_engine = { "Storage engine of the tables, on MySQL", "innodb" },
}

-- The columns of each table; the first is its key. History has none.
local tables = {
  { "branches", "bid INTEGER NOT NULL, bbalance INTEGER, filler CHAR(88), PRIMARY KEY (bid)" },
  { "tellers", "tid INTEGER NOT NULL, bid INTEGER, tbalance INTEGER, filler CHAR(84), PRIMARY KEY (tid)" },
  { "accounts", "aid INTEGER NOT NULL, bid INTEGER, abalance INTEGER, filler CHAR(84), PRIMARY KEY (aid)" },
  { "history", "tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime TIMESTAMP, filler CHAR(22)" },
}

-- Inserts the rows of all branches. The format gets the number of a row and that of its branch.
local function insert_rows(con, name, rows_of_branch, row_format)
  con:bulk_insert_init("INSERT INTO pgbench_" .. name .. " VALUES")
  for id = 1, rows_of_branch * sysbench.opt.scale do
    con:bulk_insert_next(format(row_format, id, math.floor((id - 1) / rows_of_branch) + 1))
  end
  con:bulk_insert_done()
end

function prepare()
  local driver = sysbench.sql.driver()
  local con = driver:connect()
  for _, made in ipairs(tables) do
    print("tpcb: creating " .. made[1])
    con:query(format("CREATE TABLE pgbench_%s (%s) /*! ENGINE = %s */",
      made[1], made[2], sysbench.opt.mysql_storage_engine))
  end
  insert_rows(con, "branches", 1, "(%d, 0, '')")
  insert_rows(con, "tellers", TELLERS, "(%d, %d, 0, '')")
  insert_rows(con, "accounts", ACCOUNTS, "(%d, %d, 0, '')")
  for _, made in ipairs(tables) do
    con:query(format(dialect_of(driver).analyze, "pgbench_" .. made[1]))
  end
  con:disconnect()
end

function cleanup()
  local con = sysbench.sql.driver():connect()
  for _, made in ipairs(tables) do
    con:query("DROP TABLE IF EXISTS pgbench_" .. made[1])
  end
  con:disconnect()
end

-- Every amount was added once to an account, a teller and a branch: the four sums are the same.
local function check()
  local con = sysbench.sql.driver():connect()
  local noted = con:query_row("SELECT COALESCE(SUM(delta), 0) FROM pgbench_history")
  for _, of in ipairs({ "accounts", "tellers", "branches" }) do
    local sum = con:query_row(format("SELECT SUM(%sbalance) FROM pgbench_%s", of:sub(1, 1), of))
    if tonumber(sum) ~= tonumber(noted) then
      error(format("the balances of %s add up to %s, the amounts in history to %s", of, sum, noted), 0)
    end
  end
  con:disconnect()
end

sysbench.cmdline.commands = { check = { check } }

local con, dialect, begin, commit
local add_to_account, account, add_to_teller, add_to_branch, note

local function execute(it, a, b)
  it.bound[1]:set(a)
  if b then
    it.bound[2]:set(b)
  end
  it.statement:execute()
end

-- Refuses a scale beyond what was prepared.
local function check_scale()
  local branches = tonumber((con:query_row("SELECT COUNT(*) FROM pgbench_branches")))
  if branches < sysbench.opt.scale then
    error(format("tpcb was prepared with --scale=%d: run it with no more than that, not %d",
      branches, sysbench.opt.scale), 0)
  end
end

function thread_init()
  local driver = sysbench.sql.driver()
  con, dialect = driver:connect(), dialect_of(driver)
  -- One thread asks for all.
  if sysbench.tid == 0 then
    check_scale()
  end
  begin, commit = con:prepare(dialect.begin_write), con:prepare("COMMIT")
  add_to_account = prepared(con, "UPDATE pgbench_accounts SET abalance = abalance + ? WHERE aid = ?", INT, INT)
  account = prepared(con, "SELECT abalance FROM pgbench_accounts WHERE aid = ?", INT)
  add_to_teller = prepared(con, "UPDATE pgbench_tellers SET tbalance = tbalance + ? WHERE tid = ?", INT, INT)
  add_to_branch = prepared(con, "UPDATE pgbench_branches SET bbalance = bbalance + ? WHERE bid = ?", INT, INT)
  note = prepared(con, "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)",
    INT, INT, INT, INT)
end

function event()
  local scale = sysbench.opt.scale
  local aid, bid, tid = uniform(1, ACCOUNTS * scale), uniform(1, scale), uniform(1, TELLERS * scale)
  local delta = uniform(0, 2 * AMOUNT_MAX) - AMOUNT_MAX
  begin:execute()
  execute(add_to_account, delta, aid)
  execute(account, aid)
  execute(add_to_teller, delta, tid)
  execute(add_to_branch, delta, bid)
  note.bound[3]:set(aid)
  note.bound[4]:set(delta)
  execute(note, tid, bid)
  commit:execute()
end

function thread_done()
  con:disconnect()
end

-- The event runs again with new values: nothing of the first attempt may stay.
function sysbench.hooks.before_restart_event()
  if dialect.undo_failed then
    con:query(dialect.undo_failed)
  end
end
