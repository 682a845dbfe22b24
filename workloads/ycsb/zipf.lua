-- Numbers from 1 to n whose probability falls with their rank r as r^-s, by rejection-inversion: W. Hörmann and G. Derflinger,
-- "Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996. It needs no sum over all
-- ranks, so n may be large and may grow.

local exp, floor, log = math.exp, math.floor, math.log
local random = sysbench.rand.uniform_double

-- A function that draws a number from 1 to n, which may differ between calls. s is not 1.
local function of(s)
  local function weight(x)
    return exp(-s * log(x))
  end
  local function integral(x)
    return (exp((1 - s) * log(x)) - 1) / (1 - s)
  end
  local function inverse(y)
    return exp(log(1 + y * (1 - s)) / (1 - s))
  end
  local first = integral(1.5) - 1
  local near = 2 - inverse(integral(2.5) - weight(2))
  local known, last
  return function(n)
    if n ~= known then
      known, last = n, integral(n + 0.5)
    end
    while true do
      local y = last + random() * (first - last)
      local x = inverse(y)
      local number = floor(x + 0.5)
      if number < 1 then
        number = 1
      elseif number > n then
        number = n
      end
      if number - x <= near or y >= integral(number + 0.5) - weight(number) then
        return number
      end
    end
  end
end

return { of = of }
