-- Random values as the TPC-C specification, revision 5.11, defines them.

local bor = bit.bor
local floor = math.floor
local uniform = sysbench.rand.uniform

local random = {}

-- The C constants of NURand (clause 2.1.6). They are fixed, because all connections must use the same ones
-- and so that runs can be compared. The difference of the two constants of C_LAST satisfies clause 2.1.6.1:
-- it is in [65 .. 119], but neither 96 nor 112.
local C_LAST_LOAD = 157
local C_LAST_RUN = 69
local C_CUSTOMER = 451
local C_ITEM = 6203

-- The function NURand of clause 2.1.6.
local function nurand(a, c, first, last)
  return (bor(uniform(0, a), uniform(first, last)) + c) % (last - first + 1) + first
end

function random.customer()
  return nurand(1023, C_CUSTOMER, 1, 3000)
end

-- The constant of items, for procedures that draw them.
random.ITEM_CONSTANT = C_ITEM

function random.item()
  return nurand(8191, C_ITEM, 1, 100000)
end

local SYLLABLES = { [0] = "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING" }

-- The last name with a number from 0 to 999 (clause 4.3.2.3).
function random.last_name_of(number)
  return SYLLABLES[floor(number / 100)] .. SYLLABLES[floor(number / 10) % 10] .. SYLLABLES[number % 10]
end

-- A last name that transactions search for.
function random.last_name()
  return random.last_name_of(nurand(255, C_LAST_RUN, 0, 999))
end

-- A last name for a row of the load.
function random.last_name_for_load()
  return random.last_name_of(nurand(255, C_LAST_LOAD, 0, 999))
end

function random.chance(percent)
  return uniform(1, 100) <= percent
end

-- Another warehouse, or this one if there is only one.
function random.other_warehouse(w_id)
  local scale = sysbench.opt.scale
  if scale == 1 then
    return w_id
  end
  local other = uniform(1, scale - 1)
  return other < w_id and other or other + 1
end

local ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
local CHARACTERS_A_DRAW = 5
local DRAWS = 62 ^ CHARACTERS_A_DRAW

local alphabet = ffi.new("const char[63]", ALPHABET)
local LENGTH_MAX = 500
local buffer = ffi.new("char[?]", LENGTH_MAX + CHARACTERS_A_DRAW)
-- The text that is the same in all rows, for the option text_repeated.
local repeated_text = ("every order of this customer is delivered by truck from the nearest warehouse; "):rep(7)

-- Letters and digits; each of the 62 is equally likely (an "a-string", clause 4.3.2.2). A load spends most of
-- its time here, so one draw gives several characters. The share that is the same in all rows is at the end.
function random.a_string(min, max)
  local length = max and uniform(min, max) or min
  local random_length = length - floor(length * sysbench.opt.text_repeated / 100)
  for start = 0, random_length - 1, CHARACTERS_A_DRAW do
    local draw = uniform(0, DRAWS - 1)
    for i = start, start + CHARACTERS_A_DRAW - 1 do
      buffer[i] = alphabet[draw % 62]
      draw = floor(draw / 62)
    end
  end
  ffi.copy(buffer + random_length, repeated_text, length - random_length)
  return ffi.string(buffer, length)
end

-- Digits (an "n-string").
function random.n_string(length)
  return sysbench.rand.string(("#"):rep(length))
end

-- A zip code (clause 4.3.2.7).
function random.zip()
  return random.n_string(4) .. "11111"
end

-- The data of an item or of stock. In a tenth of the rows it contains the word ORIGINAL (clause 4.3.3.1).
function random.data()
  local text = random.a_string(26, 50)
  if not random.chance(10) then
    return text
  end
  local at = uniform(1, #text - 7)
  return text:sub(1, at - 1) .. "ORIGINAL" .. text:sub(at + 8)
end

-- The numbers from 1 to n in random order.
function random.permutation(n)
  local numbers = {}
  for i = 1, n do
    local j = uniform(1, i)
    numbers[i] = numbers[j]
    numbers[j] = i
  end
  return numbers
end

return random
