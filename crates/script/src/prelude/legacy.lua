-- Globals of scripts that were written for sysbench 0.4 and 0.5.
local dyno = ...
local base, native, rand = dyno.base, dyno.native, dyno.sysbench.rand

local errors = { DB_ERROR_NONE = 0, DB_ERROR_RESTART_TRANSACTION = 1, DB_ERROR_FAILED = 2 }
for name, number in pairs(errors) do
  base[name] = number
end

base.sb_rand = rand.default
base.sb_rand_uniform = rand.uniform
base.sb_rand_gaussian = rand.gaussian
base.sb_rand_special = rand.special
base.sb_rand_str = rand.string

function base.sb_rnd()
  return (native.uniform_words()) % 2 ^ 31
end

base.sb_rand_uniq = rand.unique

base.test = dyno.script_name

-- Options of such scripts that have a value where they are not given.
dyno.legacy_defaults = { myisam_max_rows = 1000000, mysql_table_engine = "innodb" }

-- The one connection of a task of such a script. It is opened when it is first used: such scripts need not call
-- db_connect().
local connections = setmetatable({}, { __mode = "k" })

local function connection()
  local task = getfenv(0)
  local open = connections[task]
  if not open then
    open = dyno.sysbench.sql.driver():connect()
    connections[task] = open
  end
  return open
end

local db = {}

function db.connect()
  connections[getfenv(0)] = dyno.sysbench.sql.driver():connect()
  return true
end

function db.disconnect()
  connection():disconnect()
  connections[getfenv(0)] = nil
  return true
end

-- Without a result, as in sysbench: scripts take a value for rows to be printed.
function db.query(sql)
  connection():query(sql)
end

function db.bulk_insert_init(sql)
  return connection():bulk_insert_init(sql)
end

function db.bulk_insert_next(row)
  return connection():bulk_insert_next(row)
end

function db.bulk_insert_done()
  return connection():bulk_insert_done()
end

function db.prepare(sql)
  return connection():prepare(sql)
end

-- Binds the variables of the table `values`: what it holds when the statement is executed is what is sent.
function db.bind_param(statement, values)
  local parameters, types = {}, dyno.sysbench.sql.type
  for place, value in ipairs(values) do
    local text = type(value) == "string"
    parameters[place] = statement:bind_create(text and types.VARCHAR or types.BIGINT, text and math.huge)
  end
  statement:bind_param(unpack(parameters))
  statement.bound, statement.parameters = values, parameters
  return true
end

-- Results of prepared statements cannot be fetched; there is nothing to bind them to.
function db.bind_result()
  return true
end

function db.execute(statement)
  for place, parameter in ipairs(statement.parameters or {}) do
    parameter:set(statement.bound[place])
  end
  return statement:execute()
end

function db.store_results()
  return true
end

function db.free_results()
  return true
end

function db.close(statement)
  statement:close()
  return true
end

for name, value in pairs(errors) do
  db[name] = value
end
for name, value in pairs(db) do
  if type(value) == "function" then
    base["db_" .. name] = value
  end
end
dyno.sysbench.db = db
