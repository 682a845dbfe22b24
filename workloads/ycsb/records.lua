-- The records of YCSB. The text of a field ends with a checksum of its record, its number and its letters, so that a
-- check can tell whether it is as a client wrote it.

local byte, format, rep = string.byte, string.format, string.rep

local KEY = "user%010d"
-- Records that the check reads at once.
local PAGE = 1000

local records = {}

function records.key(number)
  return format(KEY, number)
end

-- The number of a key.
function records.number(key)
  return tonumber(key:sub(5))
end

-- A number below 2^31 that depends on each letter and its place: a polynomial of groups of four letters. Products stay
-- below 2^53.
local function checksum(text)
  local sum = #text
  for at = 1, #text, 4 do
    local a, b, c, d = byte(text, at, at + 3)
    sum = (sum * 1000003 + a + (b or 0) * 256 + (c or 0) * 65536 + (d or 0) * 16777216) % 2147483647
  end
  return sum
end

-- Letters of a checksum: 8, or half of a shorter field.
local function checksum_length()
  return math.min(8, math.floor(sysbench.opt.fieldlength / 2))
end

local function sealed(key, field, letters)
  local sum = format("%08x", checksum(key .. field .. letters))
  return letters .. sum:sub(9 - checksum_length())
end

-- A new text for a field of a record.
function records.value(key, field)
  return sealed(key, field, sysbench.rand.string(rep("@", sysbench.opt.fieldlength - checksum_length())))
end

-- The text, given by a function of the field's number, once for each field.
function records.for_fields(separator, text)
  local all = {}
  for field = 0, sysbench.opt.fieldcount - 1 do
    all[#all + 1] = text(field)
  end
  return table.concat(all, separator)
end

function records.prepare()
  local opt, con = sysbench.opt, sysbench.sql.driver():connect()
  local fields = records.for_fields(", ", function(field) return "field" .. field .. " TEXT" end)
  con:query(format(
    "CREATE TABLE usertable (ycsb_key VARCHAR(255) NOT NULL, %s, PRIMARY KEY (ycsb_key)) /*! ENGINE = %s */",
    fields, opt.mysql_storage_engine))
  con:bulk_insert_init("INSERT INTO usertable VALUES")
  for number = 0, opt.recordcount - 1 do
    local key = records.key(number)
    local values = records.for_fields("', '", function(field) return records.value(key, field) end)
    con:bulk_insert_next(format("('%s', '%s')", key, values))
  end
  con:bulk_insert_done()
  con:disconnect()
end

function records.cleanup()
  local con = sysbench.sql.driver():connect()
  con:query("DROP TABLE IF EXISTS usertable")
  con:disconnect()
end

local function is_as_written(key, field, text)
  return text ~= nil and text == sealed(key, field, text:sub(1, sysbench.opt.fieldlength - checksum_length()))
end

-- Reads all records in order of their keys. Returns their number, the number of fields that are not as they were
-- written, and the place of the first of these.
local function read_all(con)
  local found, wrong, first, last = 0, 0, nil, ""
  repeat
    local page = con:query(format("SELECT * FROM usertable WHERE ycsb_key > '%s' ORDER BY ycsb_key LIMIT %d",
      last, PAGE))
    local rows = page.nrows
    for _ = 1, rows do
      local row = page:fetch_row()
      last, found = row[1], found + 1
      for field = 0, sysbench.opt.fieldcount - 1 do
        if not is_as_written(last, field, row[field + 2]) then
          wrong, first = wrong + 1, first or format("field%d of %s", field, last)
        end
      end
    end
  until rows < PAGE
  return found, wrong, first
end

-- Every record that prepare made is there, and every field is as a client wrote it.
function records.check()
  local con = sysbench.sql.driver():connect()
  local found, wrong, first = read_all(con)
  con:disconnect()
  local problems = {}
  if found < sysbench.opt.recordcount then
    problems[#problems + 1] = format("%d records, of %d", found, sysbench.opt.recordcount)
  end
  if wrong > 0 then
    problems[#problems + 1] = format("fields that are not as they were written: %d, the first is %s", wrong, first)
  end
  if #problems > 0 then
    error("ycsb: " .. table.concat(problems, "; "), 0)
  end
end

return records
