sysbench.cmdline.options = {
  range = { "Largest value for places whose values are not known", 10000 },
}

local rand, floor = sysbench.rand, math.floor
local con

-- Errors that another value or another moment avoids: duplicate keys. The transaction ends, and the next one begins.
local IGNORED = { [1062] = true, ["23505"] = true }

-- Returns a function that draws a number from 1 to #weights, each by its weight.
local function chooser(weights)
  local ends, total = {}, 0
  for number, weight in ipairs(weights) do
    total = total + weight
    ends[number] = total
  end
  return function()
    local at, low, high = rand.uniform_double() * total, 1, #ends
    while low < high do
      local middle = floor((low + high) / 2)
      if ends[middle] > at then
        high = middle
      else
        low = middle + 1
      end
    end
    return low
  end
end

-- Draws whole numbers. Those between two neighbouring bounds are as frequent as those between any other two.
local function integers(bounds)
  local parts = #bounds - 1
  return function()
    local part = rand.uniform(1, parts)
    local low, high = bounds[part], bounds[part + 1]
    return math.min(high, low + floor((high - low + 1) * rand.uniform_double()))
  end
end

-- Draws from a list, each by its weight.
local function values(list, weights)
  local choose = chooser(weights)
  return function()
    return list[choose()]
  end
end

-- Draws strings of letters, with low to high of them.
local function text(low, high)
  return function()
    return "'" .. rand.string(string.rep("@", rand.uniform(low, high))) .. "'"
  end
end

-- Draws whole numbers of low to high digits.
local function digits(low, high)
  return function()
    local first = 10 ^ (math.min(rand.uniform(low, high), 14) - 1)
    return floor(first + rand.uniform_double() * 9 * first)
  end
end

-- Draws a value for a place of which nothing is known.
local function unknown()
  return "'" .. rand.uniform(1, sysbench.opt.range) .. "'"
end

function thread_init()
  con = sysbench.sql.driver():connect()
end

function thread_done()
  con:disconnect()
end

function sysbench.hooks.sql_error_ignorable(failure)
  return IGNORED[failure.sql_errno] or IGNORED[failure.sql_state]
end

function sysbench.hooks.before_restart_event()
  con:query("ROLLBACK")
end

local transactions, weights = {}, {}

-- Adds a transaction. `make` returns the function that executes it.
local function add(weight, make)
  transactions[#transactions + 1], weights[#weights + 1] = make(), weight
end
