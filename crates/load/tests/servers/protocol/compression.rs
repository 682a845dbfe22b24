//! The compressed protocol of the MySQL family.

use dyno_engine::Server;
use dyno_engine::testing::servers;
use dyno_load::Compression;
use dyno_testing::dyno_test;

use crate::ask::{answer, ask, every_way, execute};

const ZLIB: Compression = Compression { zlib: true, zstd: false, uncompressed: false };
const ZSTD: Compression = Compression { zlib: false, zstd: true, uncompressed: false };
const EITHER: Compression = Compression { zlib: true, zstd: true, uncompressed: false };
const NONE: Compression = Compression { zlib: false, zstd: false, uncompressed: true };

/// Permits the given algorithms, and also connections without compression.
fn preferred(compression: Compression) -> Compression {
    Compression { uncompressed: true, ..compression }
}

/// Sends short and long statements, reads several results and an error, and prepares and closes statements.
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

#[dyno_test(servers(&["mariadb@10.11", "mysql@5.6.24"]))]
fn what_travels_is_compressed_only_on_request(server: &mut Server) {
    for compression in [ZLIB, EITHER, preferred(ZLIB)] {
        speaks(server, compression, "ON");
    }
    for compression in [NONE, preferred(ZSTD)] {
        speaks(server, compression, "OFF");
    }
    refuses(server, ZSTD, "(zstd)");
}

#[dyno_test(servers(&["mysql@8.0.33", "mysql@9.7.4"]))]
fn what_travels_is_compressed_by_zstd_or_by_what_both_sides_permit(server: &mut Server) {
    for (compression, algorithm) in
        [(ZLIB, "zlib"), (EITHER, "zlib"), (ZSTD, "zstd"), (preferred(ZSTD), "zstd"), (NONE, "")]
    {
        speaks(server, compression, if algorithm.is_empty() { "OFF" } else { "ON" });
        is_known_as(server, compression, algorithm);
    }
    let allow = |algorithms: &str| {
        let set = format!("SET GLOBAL protocol_compression_algorithms = '{algorithms}'");
        execute(server, &[&set]);
    };
    allow("zstd,uncompressed");
    is_known_as(server, EITHER, "zstd");
    refuses(server, ZLIB, "(zlib)");
    allow("uncompressed");
    is_known_as(server, preferred(EITHER), "");
    refuses(server, EITHER, "(zlib, zstd)");
}

/// Checks that a server answers as usual over a connection with this compression. `state` is the expected value of the
/// server's status variable `Compression`.
fn speaks(server: &Server, compression: Compression, state: &str) {
    let mut job = ask(server, CODE);
    job.target.compression = compression;
    for job in every_way(&job, server) {
        let printed = answer(job).unwrap_or_else(|error| panic!("{compression:?}: {error}"));
        let xs = "x".repeat(40);
        assert_eq!(printed, [state, "true", "2", "3", "4", &xs, "true", "7"], "{compression:?}");
    }
}

/// Checks the algorithm and the level that a server's status variables name for the connection. The levels are MySQL's
/// defaults, 6 for zlib and 3 for Zstandard.
fn is_known_as(server: &Server, compression: Compression, algorithm: &str) {
    let code = "
     for _, name in ipairs({'Compression_algorithm', 'Compression_level'}) do
      local _, value = con:query_row(\"SHOW STATUS LIKE '\" .. name .. \"'\")
      print(value)
     end";
    let mut job = ask(server, code);
    job.target.compression = compression;
    let level = match algorithm {
        "zlib" => "6",
        "zstd" => "3",
        _ => "0",
    };
    for job in every_way(&job, server) {
        assert_eq!(answer(job), Ok(vec![algorithm.to_owned(), level.to_owned()]), "{compression:?}");
    }
}

fn refuses(server: &Server, compression: Compression, words: &str) {
    let mut job = ask(server, CODE);
    job.target.compression = compression;
    for job in every_way(&job, server) {
        let message = answer(job).expect_err("the server has none of these");
        assert!(message.contains("compression algorithms") && message.contains(words), "{message}");
    }
}
