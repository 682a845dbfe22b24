-- The module dyno.pgbench: runs scripts of pgbench. sysbench does not have it.
local dyno = ...
local native, more_results = dyno.native, dyno.native.more_results
local RESTART_EVENT = dyno.sysbench.error.RESTART_EVENT

-- Numbers of native/pgbench.rs: what comes next, and whose rows are stored.
local END, QUERY, SLEEP, START_PIPELINE, PIPE, SYNC, END_PIPELINE, SHELL = 0, 1, 3, 4, 5, 6, 7, 8
local NOTHING, ALL = 0, 2

-- By the texts of their scripts: all tasks of a script have the same program.
local programs = {}

local function program_of(scripts)
  local texts = table.concat(scripts, "\0")
  programs[texts] = programs[texts] or native.pgbench_read(scripts)
  return programs[texts]
end

local function options_of(program)
  local options = {
    protocol = { "How statements are sent: simple, extended (PostgreSQL) or prepared", "simple" },
    max_tries = { "Tries of a transaction that fails with a serialization error or a deadlock; 0 for no limit", 1 },
    scale = { "The variable scale", 1 },
    allow_shell = { "Whether \\shell and \\setshell may run programs on this machine", false },
  }
  local function add(name)
    options[name] = options[name] or { "First value of the variable " .. name }
  end
  -- Plans set these by themselves.
  for _, name in ipairs({ "mysql_storage_engine", "tables", "table_size" }) do
    add(name)
  end
  for _, name in ipairs(native.pgbench_variables(program)) do
    add(name)
  end
  return options
end

-- A client with its connection.
local Client = {}
Client.__index = Client

function Client.new(program, tid)
  local opt = getfenv(0).sysbench.opt
  if opt.protocol == "extended" and dyno.driver ~= "pgsql" then
    error("--protocol=extended is of PostgreSQL only; here it is simple or prepared", 0)
  end
  local client = {
    number = native.pgbench_client(program, opt.protocol, tid, opt.scale, opt.max_tries, opt.allow_shell),
    is_extended = opt.protocol == "extended",
    is_prepared = opt.protocol == "prepared",
  }
  for _, name in ipairs(native.pgbench_variables(program)) do
    if type(opt[name]) == "string" and opt[name] ~= "" then
      native.pgbench_define(client.number, name, opt[name])
    end
  end
  return setmetatable(client, Client)
end

-- Opens the connection, the first or one in place of a lost one. Variables and random numbers go on.
function Client:connect()
  self.connection = dyno.sysbench.sql.driver():connect()[1]
  -- By number: the text of a statement, or with protocol=prepared its id.
  self.statements = {}
end

-- Has the server prepare the statements of a pipeline, which it cannot do inside.
function Client:start_pipeline(first, last)
  for number = first, last do
    if self.is_prepared and not self.statements[number] then
      local known, errno, state, message, ignorable =
        native.prepare(self.connection, native.pgbench_sql_of(self.number, number), "")
      if not known then
        self:fail(errno, state, message, ignorable)
      end
      self.statements[number] = known
    end
  end
end

-- Adds the current statement to the pipeline.
function Client:pipe(number)
  local done, errno, state, message, ignorable
  if self.is_prepared then
    done, errno, state, message, ignorable = native.pgbench_pipe(self.number, self.connection, self.statements[number])
  else
    self.statements[number] = self.statements[number] or native.pgbench_sql(self.number)
    done, errno, state, message, ignorable =
      native.pgbench_pipe_once(self.number, self.connection, self.statements[number])
  end
  if not done then
    self:fail(errno, state, message, ignorable)
  end
end

-- Sends the pipeline, and takes its results.
function Client:end_pipeline()
  local has_rows, errno, state, message, ignorable = native.pgbench_run_pipeline(self.connection)
  local taken = 0
  while has_rows ~= nil do
    if not more_results(self.connection) then
      return
    end
    taken = taken + 1
    has_rows, errno, state, message, ignorable = native.next_result(self.connection)
  end
  self:fail(errno, state, message, ignorable, taken)
end

-- Errors after which pgbench tries again: of serialization, and deadlocks. Other databases have more of this kind, and options may
-- name more; but pgbench does not try a duplicate key again.
local function can_retry(state, ignorable)
  return state == "40001" or state == "40P01" or ignorable and state ~= "23505"
end

-- Ends the event after an error of the server. `piped` is the number of the statement in its pipeline, if it was in one.
function Client:fail(errno, state, message, ignorable, piped)
  if can_retry(state, ignorable) then
    native.pgbench_fail(self.number)
    error({ errcode = RESTART_EVENT, sql_errno = errno, sql_state = state, sql_errmsg = message })
  end
  error(string.format("%s: SQL error, errno = %d, state = '%s': %s", native.pgbench_place(self.number, piped), errno, state,
    message), 0)
end

-- Sends the current statement. Returns whether it has rows.
function Client:send(step, number)
  if step == QUERY then
    return native.pgbench_query(self.number, self.connection)
  end
  local known, errno, state, message, ignorable = self.statements[number], nil, nil, nil, nil
  if not known then
    known = native.pgbench_sql(self.number)
    if not self.is_extended then
      known, errno, state, message, ignorable = native.prepare(self.connection, known, "")
    end
    if not known then
      return nil, errno, state, message, ignorable
    end
    self.statements[number] = known
  end
  if self.is_extended then
    return native.pgbench_execute_once(self.number, self.connection, known)
  end
  return native.pgbench_execute(self.number, self.connection, known)
end

-- Takes all results of the current statement, and stores the rows that the script asks for.
function Client:take_results(has_rows, errno, state, message, ignorable)
  local gathers = native.pgbench_gathers(self.number)
  while true do
    if has_rows == nil then
      self:fail(errno, state, message, ignorable)
    end
    local more = more_results(self.connection)
    if gathers ~= NOTHING then
      local has_row = native.row_count(self.connection) > 0
      -- The last result of \gset needs a row, and has an error without it.
      if gathers == ALL and has_rows and has_row or gathers ~= ALL and not more then
        native.pgbench_store(self.number, self.connection)
      end
    end
    if not more then
      return
    end
    has_rows, errno, state, message, ignorable = native.next_result(self.connection)
  end
end

function Client:transaction()
  native.pgbench_begin(self.number)
  while true do
    local step, value, value_end = native.pgbench_next(self.number)
    if step == END then
      return
    elseif step == SLEEP then
      native.sleep(value)
    elseif step == SHELL then
      native.pgbench_shell(self.number)
    elseif step == PIPE then
      self:pipe(value)
    elseif step == START_PIPELINE then
      self:start_pipeline(value, value_end - 1)
    elseif step == SYNC then
      native.pgbench_pipe_sync(self.connection)
    elseif step == END_PIPELINE then
      self:end_pipeline()
    else
      self:take_results(self:send(step, value))
    end
  end
end

-- What a workload of pgbench scripts defines. `scripts` is a list: the name, the weight and the text of each.
dyno.base.package.loaded["dyno.pgbench"] = function(scripts)
  local program, client = program_of(scripts), nil
  return {
    options = options_of(program),
    thread_init = function(tid)
      client = client or Client.new(program, tid)
      client:connect()
    end,
    event = function()
      client:transaction()
    end,
    thread_done = function()
      native.disconnect(client.connection)
    end,
  }
end
