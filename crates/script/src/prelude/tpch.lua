-- The module dyno.tpch: rows of the TPC-H tables, made outside of Lua. sysbench does not have it.
local dyno = ...
local native = dyno.native

local tpch = {}

-- The statement by which a database takes rows as lines, which is faster than INSERT; nil where it has none or refuses it
-- (MySQL from 8.0 on, unless local_infile is on). Only commands run ahead, as it does.
local function load_statement(connection, name)
  if not dyno.runs_ahead then
    return nil
  elseif dyno.driver == "pgsql" then
    return "COPY " .. name .. " FROM STDIN WITH (DELIMITER '|')"
  elseif dyno.driver == "mysql" and tonumber((connection:query_row("SELECT @@local_infile"))) == 1 then
    return "LOAD DATA LOCAL INFILE '" .. name .. "' INTO TABLE " .. name .. " FIELDS TERMINATED BY '|'"
  end
end

-- Inserts a part of a table: part number `part`, from 1, of `parts`. Columns are in the specification's order.
function tpch.insert(connection, name, scale_factor, part, parts)
  local load = load_statement(connection, name)
  local rows = native.tpch_begin(name, scale_factor, part or 1, parts or 1, load ~= nil)
  if load then
    dyno.begin_load(connection, load)
  else
    connection:bulk_insert_init("INSERT INTO " .. name .. " VALUES")
  end
  while native.tpch_fill(rows, connection.bulk.number) do
    dyno.flush_bulk(connection, connection.bulk)
  end
  connection:bulk_insert_done()
  native.tpch_end(rows)
end

dyno.base.package.loaded["dyno.tpch"] = tpch
