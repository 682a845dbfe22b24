-- The text of a query for a driver.

local texts = require("tpch.texts")
local written = require("sql.functions").written

local queries = {}

-- Words that name the index that lineitem has to use, by the names of sysbench's drivers. PostgreSQL has none.
local FORCED = { mysql = " FORCE INDEX (%s)", sqlite = " INDEXED BY %s" }

function queries.text(driver)
  local opt = sysbench.opt
  local text, force = texts[opt.query], FORCED[driver:name()]
  if not text then
    error("query is one of 1 to 22 and icp, not " .. opt.query, 0)
  end
  text = written(text, driver)
  text = text:gsub("{forced}", force and opt.force_index ~= "" and force:format(opt.force_index) or "")
  -- Clause 2.4.11.3: the fraction of query 11 depends on the scale.
  text = text:gsub("{fraction}", string.format("%.10f", 0.0001 / opt.scale_factor))
  return text
end

return queries
