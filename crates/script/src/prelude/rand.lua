-- sysbench.rand
local dyno = ...
local native, ffi = dyno.native, dyno.ffi

local high_unit = ffi.cast("uint64_t", 2 ^ 32)

-- Without bounds: any number of 32 bits.
local function unique(low, high)
  if low == nil then
    return native.unique()
  end
  return native.unique_between(low, high)
end

dyno.sysbench.rand = {
  default = native.default,
  uniform = native.uniform,
  gaussian = native.gaussian,
  special = native.special,
  pareto = native.pareto,
  zipfian = native.zipfian,
  unique = unique,
  uniform_double = native.uniform_double,
  string = native.string,
  varstring = native.varstring,
  uniform_uint64 = function()
    local high, low = native.uniform_words()
    return high * high_unit + low
  end,
}
