//! The compressed protocol of the MySQL family.

use dyno_engine::Server;
use dyno_engine::testing::{Trial, server_test};

use crate::ask::{answer, ask, every_way};

pub(crate) fn tests() -> Vec<Trial> {
    ["mariadb@10.11", "mysql@5.6.24"]
        .map(|system| {
            server_test("compresses what travels only if it is asked to", system, |server| compresses(server))
        })
        .into()
}

/// Short and long statements, several results, an error, and statements that are prepared and closed.
const CODE: &str = "
 local _, state = con:query_row(\"SHOW STATUS LIKE 'Compression'\")
 print(state)
 local word = string.rep('dyno ', 20000)
 print(con:query_row(\"SELECT '\" .. word .. \"'\") == word)
 for number = 1, 3 do
  local statement = con:prepare('SELECT ? + 1')
  local parameter = statement:bind_create(sysbench.sql.type.INT)
  statement:bind_param(parameter)
  parameter:set(number)
  print(tonumber(statement:execute():fetch_row()[1]))
  statement:close()
 end
 print(con:query_row(\"SELECT REPEAT('x', 40)\"))
 print(pcall(con.query, con, 'SELECT nothing') == false)
 print(con:query_row('SELECT 7'))
";

fn compresses(server: &Server) {
    for (compression, state) in [(true, "ON"), (false, "OFF")] {
        let mut job = ask(server, CODE);
        job.target.compression = compression;
        for job in every_way(&job, server) {
            let printed = answer(job).unwrap_or_else(|error| panic!("compression {state}: {error}"));
            let xs = "x".repeat(40);
            assert_eq!(printed, [state, "true", "2", "3", "4", &xs, "true", "7"], "compression {state}");
        }
    }
}
