-- Manages a thread's connection from its first event to its last.

local dialect_of = require("sql.dialect").of

local function open_statements()
  stmt, param = {}, {}
  for table_num = 1, sysbench.opt.tables do
    stmt[table_num], param[table_num] = {}, {}
  end
  prepare_statements()
end

function thread_init()
  adapt_options_to_variant()
  drv = sysbench.sql.driver()
  con = drv:connect()
  open_statements()
end

function thread_done()
  close_statements()
  con:disconnect()
end

local function reconnect()
  close_statements()
  con:reconnect()
  open_statements()
end

local events, opt = 0, sysbench.opt

-- Reconnects if that is due. Every event calls it last.
function check_reconnect()
  if opt.reconnect == 0 then
    return
  end
  events = events + 1
  if events % opt.reconnect == 0 then
    reconnect()
  end
end

-- MySQL's client errors that mean that the connection is lost.
local LOST = { [2006] = true, [2011] = true, [2013] = true, [2055] = true }

-- After an ignorable error, the event runs again from its start, so the first attempt is rolled back.
function sysbench.hooks.before_restart_event(failure)
  local undo = dialect_of(drv).undo_failed
  if LOST[failure.sql_errno] then
    reconnect()
  elseif stmt.begin and undo then
    con:query(undo)
  end
end
