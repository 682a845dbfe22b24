-- sysbench.histogram: counts of values in ranges that grow by a constant factor.
local dyno = ...

local WIDTH = 40

local Histogram = {}
Histogram.__index = Histogram

dyno.sysbench.histogram = {
  new = function(size, min, max)
    if not (size > 1 and min > 0 and max > min) then
      error("sysbench.histogram.new(size, min, max) needs size > 1 and 0 < min < max", 2)
    end
    local factor = (size - 1) / math.log(max / min)
    return setmetatable({ size = size, min = min, factor = factor, counts = {} }, Histogram)
  end,
}

function Histogram:update(value)
  local range = math.floor((math.log(math.max(value, self.min) / self.min)) * self.factor + 0.5)
  range = math.min(range, self.size - 1)
  self.counts[range] = (self.counts[range] or 0) + 1
end

function Histogram:print()
  local most = 0
  for _, count in pairs(self.counts) do
    most = math.max(most, count)
  end
  if most == 0 then
    return
  end
  dyno.print("       value  ------------- distribution ------------- count")
  for range = 0, self.size - 1 do
    local count = self.counts[range]
    if count then
      local value = self.min * math.exp(range / self.factor)
      local bar = ("*"):rep(math.floor(count * WIDTH / most + 0.5))
      dyno.print(string.format("%12.3f |%-" .. WIDTH .. "s %d", value, bar, count))
    end
  end
end
