-- A prepared statement together with its parameters.

-- Prepares sql on a connection; the further arguments are the types of its parameters. The result has `statement` and `bound`, a
-- list of the parameters.
local function prepared(con, sql, ...)
  local statement, bound = con:prepare(sql), {}
  for at = 1, select("#", ...) do
    bound[at] = statement:bind_create(unpack((select(at, ...))))
  end
  statement:bind_param(unpack(bound))
  return { statement = statement, bound = bound }
end

return prepared
