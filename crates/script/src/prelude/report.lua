-- sysbench.report_*: what scripts can set sysbench.hooks.report_* to.
local dyno = ...
local sysbench = dyno.sysbench

local function rates(stat)
  local seconds = stat.time_interval
  return {
    events = stat.events / seconds,
    queries = (stat.reads + stat.writes + stat.other) / seconds,
    reads = stat.reads / seconds,
    writes = stat.writes / seconds,
    other = stat.other / seconds,
    errors = stat.errors / seconds,
    reconnects = stat.reconnects / seconds,
  }
end

function sysbench.report_default(stat)
  local rate = rates(stat)
  dyno.print(string.format(
    "[ %.0fs ] thds: %d tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) lat (ms,%d%%): %4.2f err/s %4.2f "
      .. "reconn/s: %4.2f",
    stat.time_total, stat.threads_running, rate.events, rate.queries, rate.reads, rate.writes, rate.other,
    getfenv(0).sysbench.opt.percentile, stat.latency_pct * 1000, rate.errors, rate.reconnects))
end

function sysbench.report_csv(stat)
  local rate = rates(stat)
  dyno.print(string.format("%.0f,%d,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f",
    stat.time_total, stat.threads_running, rate.events, rate.queries, rate.reads, rate.writes, rate.other,
    stat.latency_pct * 1000, rate.errors, rate.reconnects))
end

local JSON = [[
  {
    "time": %4.0f,
    "threads": %d,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]]

-- The environments whose array of reports is begun, and how the last report in it ended, to be printed with a
-- comma or without one.
local begun = setmetatable({}, { __mode = "k" })

function sysbench.report_json(stat)
  local task, rate = getfenv(0), rates(stat)
  dyno.print(begun[task] and begun[task] .. "," or "[")
  local text = string.format(JSON,
    stat.time_total, stat.threads_running, rate.events, rate.queries, rate.reads, rate.writes, rate.other,
    stat.latency_pct * 1000, rate.errors, rate.reconnects)
  local body, last = text:match("^(.*)\n(.-)$")
  dyno.print(body)
  begun[task] = last
end

-- Ends the array that report_json has begun.
function dyno.end_reports()
  local task = getfenv(0)
  if begun[task] then
    dyno.print(begun[task])
    dyno.print("]")
    begun[task] = nil
  end
end
