//! Runs over TLS against servers that run already.

use std::fs;

use dyno_engine::testing::{Authority, Identity, installation, start_with_tls, with_engine};
use dyno_engine::{DATABASE, Dsn, Remote, Server};
use dyno_testing::dyno_test;

use crate::bench::{Bench, eventually};

const MARIADB: &str = "mariadb@10.11";
const POSTGRES: &str = "postgres@18.4";
const PASSWORD: &str = "open sesame 7394";

fn plan(systems: &[(&str, String)]) -> String {
    let system = |(id, dsn): &(&str, String)| format!("[[system]]\nid = '{id}'\ndsn = '{dsn}'\n");
    format!(
        "name = 'remote'\ntitle = 'Remote'\nbase = '{}'\nrounds = 1\nclients = [2]\nseconds = 0.5\n\
         [data]\ntables = 1\nrows = 100\n{}\
         [[step]]\nid = 'load'\ngroup = 'load'\ncommand = 'prepare'\nworkload = 'oltp_insert'\noperation = 'row'\n\
         [[step]]\nid = 'read'\ngroup = 'reads'\nworkload = 'oltp_point_select'\noperation = 'query'\n",
        systems[0].0,
        systems.iter().map(system).collect::<String>(),
    )
}

/// The accounts on the servers require TLS, so a run that measures something has used TLS.
#[dyno_test(with_engine(POSTGRES))]
fn a_run_measures_servers_over_tls() {
    let bench = Bench::new();
    let folder = bench.path("");
    let authority = Authority::new(&folder, "authority");
    Authority::new(&folder, "stranger");
    let Identity { key, .. } = authority.identify("proven");
    bench.write("secret", &format!("{PASSWORD}\n"));
    let data = tempfile::tempdir().unwrap();
    let start = |system| start_with_tls(&installation(system).unwrap(), data.path(), &authority, &[]);
    let (mariadb, postgres) = (start(MARIADB), start(POSTGRES));
    let_in_by_certificate(&mariadb);
    let_in_by_tls(&postgres);

    let mariadb_port = mariadb.access().port;
    let proven = format!(
        "mariadb://proven@localhost:{mariadb_port}/{DATABASE}?password=${{file:secret}}\
         &ssl-mode=VERIFY_IDENTITY&ssl-ca=authority.pem&ssl-cert=proven.pem&ssl-key=proven.key"
    );
    let plain =
        format!("mariadb://plain@localhost:{mariadb_port}/plain?password=${{file:secret}}&ssl-mode=DISABLED");
    let verified = format!(
        "postgres://proven:${{file:secret}}@localhost:{}/{DATABASE}?sslmode=verify-full&sslrootcert=authority.pem",
        postgres.access().port
    );
    bench.write("plan.toml", &plan(&[("maria", proven.clone()), ("plain", plain), ("pg", verified)]));
    let ended = bench.dyno(&["run", "plan.toml"]).with(0);
    let measured = "SELECT count(*) FROM trial WHERE outcome = 'completed' AND operations > 0";
    assert_eq!(bench.value(measured), Some(6));
    let encryption = |system: &str| {
        let sql = format!("SELECT encryption FROM system WHERE id = '{system}'");
        bench.value::<String>(&sql).unwrap()
    };
    assert!(encryption("maria").starts_with("TLS 1.3, TLS_"), "{}", encryption("maria"));
    assert!(encryption("pg").starts_with("TLS 1.3, TLS_"), "{}", encryption("pg"));
    assert_eq!(encryption("plain"), "none");
    let report = bench.dyno(&["report", "--full"]).stdout;
    assert!(report.contains(", TLS 1.3, TLS_") && report.contains(", not encrypted"), "{report}");

    let kept: Vec<u8> = ["dyno.db", "dyno.db-wal"]
        .iter()
        .filter_map(|file| fs::read(bench.path(file)).ok())
        .flatten()
        .collect();
    let key = fs::read_to_string(key).unwrap();
    let key = key.lines().nth(1).expect("a key of several lines");
    let all = [ended.stdout, ended.stderr, report, String::from_utf8_lossy(&kept).into_owned()].concat();
    assert!(!all.contains(PASSWORD) && !all.contains(key), "a secret is shown or kept");

    bench.write("plan.toml", &plan(&[("maria", proven.replace("authority.pem", "stranger.pem"))]));
    let refused = bench.dyno(&["run", "plan.toml"]);
    assert_ne!(refused.status, Some(0), "{}", refused.stdout);
    let words = "TLS failed: no trusted authority has signed the server's certificate";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
}

/// Creates accounts. `proven` must present a certificate. `plain` uses another database.
fn let_in_by_certificate(server: &Server) {
    for sql in [
        format!("CREATE USER proven@'%' IDENTIFIED BY '{PASSWORD}' REQUIRE X509"),
        format!("GRANT ALL ON {DATABASE}.* TO proven@'%'"),
        format!("CREATE USER plain@'%' IDENTIFIED BY '{PASSWORD}'"),
        "CREATE DATABASE plain".to_owned(),
        "GRANT ALL ON plain.* TO plain@'%'".to_owned(),
    ] {
        server.query(&sql).unwrap();
    }
}

/// Lets `proven` connect only over TLS.
fn let_in_by_tls(server: &Server) {
    let rules = "local all all scram-sha-256\nhostssl all all all scram-sha-256\n";
    fs::write(server.access().datadir.join("pg_hba.conf"), rules).unwrap();
    server.query(&format!("CREATE ROLE proven LOGIN SUPERUSER PASSWORD '{PASSWORD}'")).unwrap();
    server.query("SELECT pg_reload_conf()").unwrap();
    let (port, password) = (server.access().port, PASSWORD.replace(' ', "%20"));
    let clear = format!("postgres://proven:{password}@localhost:{port}/{DATABASE}?sslmode=disable");
    let dsn = Dsn::parse(&clear).unwrap();
    eventually("nobody is let in without TLS", || Remote::connect(&dsn).is_err());
}
