//! Messages of many megabytes: unencrypted, encrypted, and compressed.

use dyno_engine::testing::{Authority, named_engines, servers, start_with_tls};
use dyno_engine::{Installation, Server};
use dyno_load::{Compression, TlsMode};
use dyno_testing::dyno_test;

use crate::ask::{answer, ask, execute, on_every_scheduler};
use crate::bench::over_tcp;

/// Lua code with long fields, long statements and many rows, for servers of the MySQL family and for PostgreSQL.
const BOTH: &str = "
 con:query('DELETE FROM long_words')
 local word = string.rep('Dyno', 5000000)
 con:query(\"INSERT INTO long_words VALUES (1, '\" .. word .. \"')\")
 local insert = con:prepare('INSERT INTO long_words VALUES (2, ?)')
 local parameter = insert:bind_create(sysbench.sql.type.VARCHAR, #word)
 insert:bind_param(parameter)
 parameter:set(word)
 insert:execute()
 print(con:query_row('SELECT COUNT(DISTINCT word) FROM long_words'))
 print(con:query_row('SELECT word FROM long_words WHERE id = 1') == word)
 print(con:prepare('SELECT word FROM long_words WHERE id = 2'):execute():fetch_row()[1] == word)

 con:bulk_insert_init('INSERT INTO many_words VALUES')
 for id = 1, 30000 do con:bulk_insert_next(string.format(\"(%d, '%s')\", id, string.rep('w', 100))) end
 con:bulk_insert_done()
 local result, sum = con:query('SELECT id, word FROM many_words'), 0
 for _ = 1, result.nrows do sum = sum + result:fetch_row()[1] end
 print(result.nrows, sum)
 con:query('DELETE FROM many_words')
";

/// Packets of 2^24 - 1 bytes, which fill their last frame, so that an empty frame follows. In the first packet, the
/// length includes the command's byte. In the second packet, it includes the four bytes of a field's length.
const MYSQL: &str = "
 local empty = \"SELECT LENGTH('')\"
 print(con:query_row(\"SELECT LENGTH('\" .. string.rep('x', 16777214 - #empty) .. \"')\"))
 print(#con:query_row(\"SELECT REPEAT('x', 16777211)\"))
";

const POSTGRES: &str = "
 print(con:query_row(\"SELECT LENGTH('\" .. string.rep('x', 16777197) .. \"')\"))
 print(#con:query_row(\"SELECT REPEAT('x', 16777211)\"))
";

#[dyno_test(named_engines(&["mariadb@10.11", "postgres@18.4"]))]
fn packets_over_16_mb_pass_plain_and_by_tls(installation: &Installation, system: &str) {
    let (settings, frames): (&[_], _) = match system {
        "postgres@18.4" => (&[], POSTGRES),
        _ => (&[("max_allowed_packet", "64M")], MYSQL),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "authority");
    let server = start_with_tls(installation, folder.path(), &authority, settings);
    make_tables(&server);
    let zlib = Compression { zlib: true, zstd: false, uncompressed: false };
    let plain = Compression::default();
    let mut ways = vec![(TlsMode::Disabled, plain), (TlsMode::Required, plain)];
    // PostgreSQL's protocol has no compression.
    ways.extend((server.access().engine != "postgres").then_some((TlsMode::Required, zlib)));
    for (mode, compression) in ways {
        passes_by(&server, frames, mode, compression);
    }
}

#[dyno_test(servers(&["mysql@8.0.33"]))]
fn packets_over_16_mb_pass_by_zstd(server: &mut Server) {
    let zstd = Compression { zlib: false, zstd: true, uncompressed: false };
    execute(server, &["SET GLOBAL max_allowed_packet = 67108864"]);
    make_tables(server);
    passes_by(server, MYSQL, TlsMode::Required, zstd);
}

fn make_tables(server: &Server) {
    let text = if server.access().engine == "postgres" { "TEXT" } else { "LONGTEXT" };
    execute(
        server,
        &[
            &format!("CREATE TABLE long_words (id INT PRIMARY KEY, word {text})"),
            "CREATE TABLE many_words (id INT PRIMARY KEY, word VARCHAR(100))",
        ],
    );
}

fn passes_by(server: &Server, frames: &str, mode: TlsMode, compression: Compression) {
    let mut job = over_tcp(ask(server, &[BOTH, frames].concat()), server);
    (job.target.tls.mode, job.target.compression) = (mode, compression);
    for job in on_every_scheduler(&job) {
        let printed = answer(job).unwrap_or_else(|error| panic!("{mode:?}, {compression:?}: {error}"));
        let expected = ["1", "true", "true", "30000\t450015000", "16777197", "16777211"];
        assert_eq!(printed, expected, "{mode:?}, {compression:?}");
    }
}
