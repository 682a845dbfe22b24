-- The nine tables. Each comes after the tables that it refers to.

local fill = require("tpcc.template").fill

-- Each reference is a foreign key: its columns, the table and columns that it refers to, and whether it needs
-- a separate index. The others are a prefix of the primary key or of an index of the table.
local tables = {
  {
    name = "warehouse",
    columns = [[w_id SMALLINT NOT NULL, w_name VARCHAR(10), w_street_1 VARCHAR(20), w_street_2 VARCHAR(20),
      w_city VARCHAR(20), w_state CHAR(2), w_zip CHAR(9), w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2)]],
    primary_key = "w_id",
  },
  {
    name = "item",
    columns = [[i_id INTEGER NOT NULL, i_im_id INTEGER, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50)]],
    primary_key = "i_id",
  },
  {
    name = "stock",
    columns = [[s_i_id INTEGER NOT NULL, s_w_id SMALLINT NOT NULL, s_quantity SMALLINT, s_dist_01 CHAR(24),
      s_dist_02 CHAR(24), s_dist_03 CHAR(24), s_dist_04 CHAR(24), s_dist_05 CHAR(24), s_dist_06 CHAR(24),
      s_dist_07 CHAR(24), s_dist_08 CHAR(24), s_dist_09 CHAR(24), s_dist_10 CHAR(24), s_ytd DECIMAL(8,0),
      s_order_cnt INTEGER, s_remote_cnt INTEGER, s_data VARCHAR(50)]],
    primary_key = "s_w_id, s_i_id",
    references = {
      { "s_w_id", "warehouse", "w_id" },
      { "s_i_id", "item", "i_id", needs_index = true },
    },
  },
  {
    name = "district",
    columns = [[d_id {tinyint} NOT NULL, d_w_id SMALLINT NOT NULL, d_name VARCHAR(10), d_street_1 VARCHAR(20),
      d_street_2 VARCHAR(20), d_city VARCHAR(20), d_state CHAR(2), d_zip CHAR(9), d_tax DECIMAL(4,4),
      d_ytd DECIMAL(12,2), d_next_o_id INTEGER]],
    primary_key = "d_w_id, d_id",
    references = { { "d_w_id", "warehouse", "w_id" } },
  },
  {
    name = "customer",
    columns = [[c_id INTEGER NOT NULL, c_d_id {tinyint} NOT NULL, c_w_id SMALLINT NOT NULL, c_first VARCHAR(16),
      c_middle CHAR(2), c_last VARCHAR(16), c_street_1 VARCHAR(20), c_street_2 VARCHAR(20), c_city VARCHAR(20),
      c_state CHAR(2), c_zip CHAR(9), c_phone CHAR(16), c_since {datetime}, c_credit CHAR(2),
      c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4), c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2),
      c_payment_cnt INTEGER, c_delivery_cnt INTEGER, c_data VARCHAR(500)]],
    primary_key = "c_w_id, c_d_id, c_id",
    index = "c_w_id, c_d_id, c_last, c_first",
    references = { { "c_w_id, c_d_id", "district", "d_w_id, d_id" } },
  },
  {
    name = "history",
    columns = [[h_c_id INTEGER, h_c_d_id {tinyint}, h_c_w_id SMALLINT, h_d_id {tinyint}, h_w_id SMALLINT,
      h_date {datetime}, h_amount DECIMAL(6,2), h_data VARCHAR(24)]],
    references = {
      { "h_c_w_id, h_c_d_id, h_c_id", "customer", "c_w_id, c_d_id, c_id", needs_index = true },
      { "h_w_id, h_d_id", "district", "d_w_id, d_id", needs_index = true },
    },
  },
  {
    name = "orders",
    columns = [[o_id INTEGER NOT NULL, o_d_id {tinyint} NOT NULL, o_w_id SMALLINT NOT NULL, o_c_id INTEGER,
      o_entry_d {datetime}, o_carrier_id {tinyint}, o_ol_cnt {tinyint}, o_all_local {tinyint}]],
    primary_key = "o_w_id, o_d_id, o_id",
    index = "o_w_id, o_d_id, o_c_id, o_id",
    references = { { "o_w_id, o_d_id, o_c_id", "customer", "c_w_id, c_d_id, c_id" } },
  },
  {
    name = "new_orders",
    columns = "no_o_id INTEGER NOT NULL, no_d_id {tinyint} NOT NULL, no_w_id SMALLINT NOT NULL",
    primary_key = "no_w_id, no_d_id, no_o_id",
    references = { { "no_w_id, no_d_id, no_o_id", "orders", "o_w_id, o_d_id, o_id" } },
  },
  {
    name = "order_line",
    columns = [[ol_o_id INTEGER NOT NULL, ol_d_id {tinyint} NOT NULL, ol_w_id SMALLINT NOT NULL,
      ol_number {tinyint} NOT NULL, ol_i_id INTEGER, ol_supply_w_id SMALLINT, ol_delivery_d {datetime},
      ol_quantity {tinyint}, ol_amount DECIMAL(6,2), ol_dist_info CHAR(24)]],
    primary_key = "ol_w_id, ol_d_id, ol_o_id, ol_number",
    references = {
      { "ol_w_id, ol_d_id, ol_o_id", "orders", "o_w_id, o_d_id, o_id" },
      { "ol_supply_w_id, ol_i_id", "stock", "s_w_id, s_i_id", needs_index = true },
    },
  },
}

local function foreign_key(reference)
  return "FOREIGN KEY (" .. reference[1] .. ") REFERENCES " .. reference[2] .. "# (" .. reference[3] .. ")"
end

local function key_clause(definition)
  if definition.primary_key then
    return "PRIMARY KEY (" .. definition.primary_key .. ")"
  elseif sysbench.opt.force_pk == 1 then
    return "id {generated_id}, PRIMARY KEY (id)"
  end
end

local function create_table(con, dialect, set, definition)
  local parts = { definition.columns, key_clause(definition) }
  if sysbench.opt.use_fk == 1 and not dialect.foreign_keys_added_later then
    for _, reference in ipairs(definition.references or {}) do
      parts[#parts + 1] = foreign_key(reference)
    end
  end
  local sql = string.format("CREATE TABLE %s# (%s) /*! ENGINE = %s %s */", definition.name, table.concat(parts, ", "),
    sysbench.opt.mysql_storage_engine, sysbench.opt.mysql_table_options)
  con:query(fill(sql, set, dialect))
end

local schema = {}

function schema.create_tables(con, dialect, set)
  for _, definition in ipairs(tables) do
    create_table(con, dialect, set, definition)
  end
end

function schema.drop_tables(con, set)
  for i = #tables, 1, -1 do
    con:query("DROP TABLE IF EXISTS " .. tables[i].name .. set)
  end
end

-- The indexes by which transactions find rows.
function schema.add_indexes(con, dialect, set)
  for _, definition in ipairs(tables) do
    if definition.index then
      local name = definition.name .. "#"
      con:query(fill("CREATE INDEX idx_" .. name .. " ON " .. name .. " (" .. definition.index .. ")", set, dialect))
    end
  end
end

-- Collects statistics, which analytic queries need.
function schema.analyze(con, dialect, set)
  for _, definition in ipairs(tables) do
    con:query(string.format(dialect.settle, definition.name .. set))
  end
end

local function add_foreign_keys_of(con, dialect, set, definition)
  local additions = {}
  for number, reference in ipairs(definition.references) do
    local name = "fkey_" .. definition.name .. "#_" .. number
    if reference.needs_index then
      local columns = " ON " .. definition.name .. "# (" .. reference[1] .. ")"
      con:query(fill("CREATE INDEX " .. name .. columns, set, dialect))
    end
    additions[number] = "ADD CONSTRAINT " .. name .. " " .. foreign_key(reference)
  end
  con:query(fill("ALTER TABLE " .. definition.name .. "# " .. table.concat(additions, ", "), set, dialect))
end

function schema.add_foreign_keys(con, dialect, set)
  if sysbench.opt.use_fk ~= 1 or not dialect.foreign_keys_added_later then
    return
  end
  for _, definition in ipairs(tables) do
    if definition.references then
      add_foreign_keys_of(con, dialect, set, definition)
    end
  end
end

return schema
