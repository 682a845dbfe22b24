-- Makes and drops the stored procedures, and calls them with values of the specification.

local dialect_of = require("sql.dialect").of
local random = require("tpcc.random")

local format = string.format
local uniform = sysbench.rand.uniform

-- The state of the error by which a function of PostgreSQL undoes a new order.
local ROLLED_BACK = "U0TPC"

local calls = {}

-- The procedures of the database.
function calls.of(driver)
  local name = driver:name()
  if name == "sqlite" then
    error("tprocc needs stored procedures, which SQLite does not have; tpcc has the same transactions as statements", 0)
  end
  return require("tprocc." .. name)
end

local function name_of(transaction, set)
  return "tprocc_" .. transaction .. set
end

local function for_all(sets, visit)
  local driver = sysbench.sql.driver()
  local con, language = driver:connect(), calls.of(driver)
  for set = 1, sets do
    for transaction in pairs(language.procedures) do
      visit(con, language, transaction, set, dialect_of(driver))
    end
  end
  con:disconnect()
end

function calls.drop()
  for_all(sysbench.opt.tables, function(con, language, transaction, set)
    con:query(format(language.drop, name_of(transaction, set)))
  end)
end

function calls.create()
  for_all(sysbench.opt.tables, function(con, language, transaction, set, dialect)
    local words = setmetatable({ item_constant = random.ITEM_CONSTANT, rolled_back = ROLLED_BACK }, { __index = dialect })
    local body = require("tpcc.template").fill(language.procedures[transaction], set, words)
    local name = name_of(transaction, set)
    if not pcall(con.query, con, format(language.create, name, body)) then
      error(format("tprocc: the server cannot make the procedure %s (%s); procedures=off sends the same transactions as statements",
        name, con.sql_errmsg), 0)
    end
  end)
end

-- A customer: the number, and the last name if it is to be found by that.
local function customer()
  if random.chance(60) then
    return 0, random.last_name()
  end
  return random.customer(), ""
end

-- The arguments of a call for a warehouse, as SQL.
local arguments = {}

function arguments.new_order(w_id)
  return format("%d, %d, %d, %d, %d, %d", w_id, uniform(1, 10), random.customer(), uniform(5, 15),
    random.chance(1) and 1 or 0, sysbench.opt.scale)
end

function arguments.payment(w_id)
  local d_id, c_w_id, c_id, c_last = uniform(1, 10), w_id, customer()
  local c_d_id = d_id
  if not random.chance(85) then
    c_w_id, c_d_id = random.other_warehouse(w_id), uniform(1, 10)
  end
  return format("%d, %d, %d, %d, %d, '%s', %.2f", w_id, d_id, c_w_id, c_d_id, c_id, c_last, uniform(100, 500000) / 100)
end

function arguments.order_status(w_id)
  local d_id, c_id, c_last = uniform(1, 10), customer()
  return format("%d, %d, %d, '%s'", w_id, d_id, c_id, c_last)
end

function arguments.delivery(w_id)
  return format("%d, %d", w_id, uniform(1, 10))
end

function arguments.stock_level(w_id)
  return format("%d, %d, %d", w_id, uniform(1, 10), uniform(10, 20))
end

-- A function that calls a transaction's procedure, as `run` of the transaction's own module sends its statements.
function calls.call(transaction, language)
  return function(con, set, w_id)
    local sql = format(language.call, name_of(transaction, set), arguments[transaction](w_id))
    local done, raised = pcall(con.query, con, sql)
    if not done and con.sql_state ~= ROLLED_BACK then
      error(raised, 0)
    end
  end
end

return calls
