-- The part that the OLTP scripts share. A script requires this module and defines two functions:
-- prepare_statements(), which calls the prepare_* functions of the statements that it needs, and event(),
-- which calls their execute_* functions.
--
-- Like sysbench's module of this name, it uses global variables, so that scripts written for that module run
-- with this one: drv and con are a thread's driver and connection; stmt and param are its prepared
-- statements.

require("oltp.options")
require("oltp.values")
require("oltp.tables")
require("oltp.statements")
require("oltp.queries")
require("oltp.connection")

local PARALLEL = sysbench.cmdline.PARALLEL_COMMAND

sysbench.cmdline.commands = {
  prepare = { cmd_prepare, PARALLEL },
  prewarm = { cmd_warmup, PARALLEL },
  warmup = { cmd_warmup, PARALLEL },
}
