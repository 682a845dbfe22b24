-- The loop of events as a Lua function, for scripts whose own thread_run calls sysbench's.
local dyno = ...
local C, RESTART_EVENT = dyno.script_ffi.C, dyno.sysbench.error.RESTART_EVENT

function dyno.base.thread_run(tid)
  local task = getfenv(0)
  while C.sb_more_events(tid) do
    C.sb_event_start(tid)
    local done, stop
    repeat
      done, stop = pcall(task.event, tid)
      if not done then
        if type(stop) ~= "table" or stop.errcode ~= RESTART_EVENT then
          error(stop, 0)
        end
        local hook = task.sysbench.hooks.before_restart_event
        if hook then
          hook(stop)
        end
      end
    until done
    if stop then
      break
    end
    C.sb_event_stop(tid)
  end
end
