//! Makes the load's target from the options of a database driver.

use std::path::{Path, PathBuf};

use dyno_load::{Address, Compression, Protocol, Target};

use crate::failure::Failure;
use crate::options::Values;
use crate::options::encryption::{mysql_tls, mysql_trust, pgsql_tls, pgsql_trust};

/// Paths of the socket for `localhost` in MySQL's packages.
const MYSQL_SOCKETS: &[&str] = &["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];
/// Folder of the sockets in PostgreSQL's packages.
const PGSQL_SOCKETS: &str = "/var/run/postgresql";

/// The database that the options name.
pub(crate) fn target(values: &Values) -> Result<Target, Failure> {
    let target = match values.text("db-driver") {
        "pgsql" => pgsql(values)?,
        "sqlite" => sqlite(values),
        _ => mysql(values)?,
    };
    let own_limit = Some(values.number("connect-timeout")).filter(|&seconds| seconds > 0.0);
    Ok(Target {
        prepared_statements: values.text("db-ps-mode") != "disable",
        connect_seconds_max: Some(own_limit.unwrap_or_else(|| values.number("thread-init-timeout"))),
        ..target
    })
}

fn mysql(values: &Values) -> Result<Target, Failure> {
    let tls = mysql_tls(values)?;
    let trust = mysql_trust(values, tls.mode)?;
    let (compression, dry_run) = (compression(values), values.flag("mysql-dry-run"));
    let target = network(Protocol::Mysql, mysql_addresses(values), values);
    Ok(Target { tls, trust, compression, dry_run, ..target })
}

/// Which compression of packets is permitted. If `--mysql-compression-algorithms`, an option of sysbench's main branch,
/// lists algorithms, these are permitted. As in MySQL's own client, this list must contain `uncompressed` to permit
/// connections without compression. If the option lists no algorithms, `--mysql-compression`, the option of the
/// released sysbench, decides. It permits zlib, which is used if the server has it.
fn compression(values: &Values) -> Compression {
    let text = values.text("mysql-compression-algorithms").to_lowercase();
    let listed = |name| text.split(',').any(|item| item.trim() == name);
    let [zlib, zstd, uncompressed] = ["zlib", "zstd", "uncompressed"].map(listed);
    if zlib || zstd || uncompressed {
        return Compression { zlib, zstd, uncompressed };
    }
    Compression { zlib: values.flag("mysql-compression"), ..Compression::default() }
}

fn pgsql(values: &Values) -> Result<Target, Failure> {
    let (tls, trust) = (pgsql_tls(values)?, pgsql_trust(values)?);
    let target = network(Protocol::Pgsql, vec![pgsql_address(values)], values);
    let password = password_or(target.password, std::env::var("PGPASSWORD").ok());
    Ok(Target { tls, trust, password, ..target })
}

/// The address of a host, or of the socket in a folder. If the option is a list, the first address that accepts is
/// used, as in libpq.
fn pgsql_address(values: &Values) -> Address {
    let port = values.whole("pgsql-port") as u16;
    let address = |host: &str| {
        if host.is_empty() || host.starts_with('/') {
            let folder = Path::new(if host.is_empty() { PGSQL_SOCKETS } else { host });
            Address::Unix(folder.join(format!(".s.PGSQL.{port}")))
        } else {
            Address::Tcp { host: host.to_owned(), port }
        }
    };
    let mut hosts: Vec<_> = values.text("pgsql-host").split(',').map(str::trim).map(address).collect();
    if hosts.len() > 1 { Address::FirstOf(hosts) } else { hosts.remove(0) }
}

/// The password that was given. If none was given, it is taken from the environment, as in every program that uses
/// libpq.
fn password_or(given: String, environment: Option<String>) -> String {
    if given.is_empty() { environment.unwrap_or_default() } else { given }
}

fn sqlite(values: &Values) -> Target {
    let file = Address::File(PathBuf::from(values.text("sqlite-db")));
    Target { ignore_errors: None, ..network(Protocol::Sqlite, vec![file], values) }
}

/// A target without encryption. The account comes from the options of this driver.
fn network(driver: Protocol, addresses: Vec<Address>, values: &Values) -> Target {
    let option = |name: &str| values.text(&format!("{}-{name}", driver.as_str())).to_owned();
    Target {
        user: option("user"),
        password: option("password"),
        database: option("db"),
        ignore_errors: Some(values.list(&format!("{}-ignore-errors", driver.as_str()))),
        ..Target::new(driver, addresses)
    }
}

/// The sockets, if any are given. Otherwise every combination of host and port.
fn mysql_addresses(values: &Values) -> Vec<Address> {
    let sockets = values.list("mysql-socket");
    if !sockets.is_empty() {
        return sockets.into_iter().map(|path| Address::Unix(path.into())).collect();
    }
    let ports = values.list("mysql-port");
    let ports: Vec<u16> = ports.iter().filter_map(|port| port.parse().ok()).collect();
    let mut addresses = Vec::new();
    for host in values.list("mysql-host") {
        if let Some(socket) = default_socket(&host, values) {
            addresses.push(Address::Unix(socket));
            continue;
        }
        addresses.extend(ports.iter().map(|&port| Address::Tcp { host: host.clone(), port }));
    }
    addresses
}

/// The socket for `localhost`, as in MySQL's own client. `None` if a port is given, because the user then wants the
/// port.
fn default_socket(host: &str, values: &Values) -> Option<PathBuf> {
    if host != "localhost" || values.is_given("mysql-port") {
        return None;
    }
    MYSQL_SOCKETS.iter().map(PathBuf::from).find(|socket| socket.exists())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::options::Arguments;

    fn parse(arguments: &[&str]) -> Result<Target, Failure> {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        Arguments::parse(&arguments).and_then(|arguments| target(&arguments.values))
    }

    fn tcp(host: &str, port: u16) -> Address {
        Address::Tcp { host: host.into(), port }
    }

    #[test]
    fn hosts_and_ports_are_combined_and_sockets_come_before_them() {
        let hosts = ["--mysql-host=a,b", "--mysql-port=1,2"];
        assert_eq!(parse(&hosts).unwrap().addresses, [tcp("a", 1), tcp("a", 2), tcp("b", 1), tcp("b", 2)]);
        let sockets = parse(&["--mysql-host=a", "--mysql-socket=/x,/y"]).unwrap().addresses;
        assert_eq!(sockets, [Address::Unix("/x".into()), Address::Unix("/y".into())]);
        assert_eq!(parse(&["--mysql-port=3307"]).unwrap().addresses, [tcp("localhost", 3307)]);
        assert!(parse(&["--mysql-port=x"]).is_err());
    }

    #[test]
    fn postgres_takes_a_host_or_a_folder() {
        let pgsql = |host: &str| parse(&["--db-driver=pgsql", host]).unwrap().addresses;
        assert_eq!(pgsql("--pgsql-host=db"), [tcp("db", 5432)]);
        assert_eq!(pgsql("--pgsql-host=/tmp"), [Address::Unix("/tmp/.s.PGSQL.5432".into())]);
    }

    #[test]
    fn accounts_and_databases_are_the_drivers_own() {
        for driver in ["mysql", "pgsql"] {
            let option = |name: &str| format!("--{driver}-{name}=of-{driver}-{name}");
            let [user, password, db] = ["user", "password", "db"].map(option);
            let chosen = format!("--db-driver={driver}");
            let target = parse(&[&chosen, &user, &password, &db, "--mysql-socket=/x"]).unwrap();
            let found = [target.user, target.password, target.database];
            assert_eq!(found, ["user", "password", "db"].map(|name| format!("of-{driver}-{name}")));
        }
    }

    #[test]
    fn postgres_has_a_port_and_statements_are_prepared_unless_that_is_switched_off() {
        let target =
            parse(&["--db-driver=pgsql", "--pgsql-host=db", "--pgsql-port=7", "--db-ps-mode=disable"]);
        let target = target.unwrap();
        assert_eq!((target.addresses, target.prepared_statements), (vec![tcp("db", 7)], false));
        assert!(parse(&["--db-driver=pgsql"]).unwrap().prepared_statements);
    }

    #[test]
    fn of_a_list_of_postgres_hosts_the_first_that_accepts_is_wanted() {
        let list = parse(&["--db-driver=pgsql", "--pgsql-host=a, b,/tmp,", "--pgsql-port=7"]).unwrap();
        let sockets =
            ["/tmp", PGSQL_SOCKETS].map(|folder| Address::Unix(Path::new(folder).join(".s.PGSQL.7")));
        let expected = [vec![tcp("a", 7), tcp("b", 7)], sockets.to_vec()].concat();
        assert_eq!(list.addresses, [Address::FirstOf(expected)]);
    }

    #[test]
    fn a_login_has_a_limit_of_its_own_where_one_is_given() {
        let limit = |options: &[&str]| parse(options).unwrap().connect_seconds_max;
        assert_eq!(limit(&[]), Some(30.0));
        assert_eq!(limit(&["--thread-init-timeout=7"]), Some(7.0));
        assert_eq!(limit(&["--thread-init-timeout=7", "--connect-timeout=2.5"]), Some(2.5));
    }

    #[test]
    fn a_password_that_is_not_given_is_the_environments() {
        let password = |given: &str, environment: Option<&str>| {
            password_or(given.to_owned(), environment.map(str::to_owned))
        };
        assert_eq!(password("given", Some("other")), "given");
        assert_eq!(password("", Some("other")), "other");
        assert_eq!(password("", None), "");
    }

    #[test]
    fn errors_to_ignore_are_the_drivers_own() {
        let mysql = parse(&["--mysql-socket=/x"]).unwrap();
        assert_eq!(mysql.ignore_errors.unwrap(), ["1213", "1020", "1205"]);
        let all = parse(&["--mysql-socket=/x", "--mysql-ignore-errors=all"]).unwrap();
        assert_eq!(all.ignore_errors.unwrap(), ["all"]);
        assert_eq!(parse(&["--db-driver=sqlite"]).unwrap().ignore_errors, None);
    }

    #[test]
    fn compression_is_asked_for_by_either_option() {
        let compression = |options: &[&str]| {
            let options = [&["--mysql-socket=/x"], options].concat();
            parse(&options).map(|target| target.compression)
        };
        let ways = |zlib, zstd, uncompressed| Compression { zlib, zstd, uncompressed };
        let algorithms = "--mysql-compression-algorithms";
        for (options, asked) in [
            (vec!["--mysql-compression"], ways(true, false, true)),
            (vec!["--mysql-compression=off"], ways(false, false, true)),
            (vec![&*format!("{algorithms}=zlib")], ways(true, false, false)),
            (vec![&*format!("{algorithms}=ZSTD")], ways(false, true, false)),
            (vec![&*format!("{algorithms}=zstd, zlib")], ways(true, true, false)),
            (vec![&*format!("{algorithms}=zstd,uncompressed")], ways(false, true, true)),
            (vec!["--mysql-compression", &*format!("{algorithms}=zstd")], ways(false, true, false)),
            (vec![&*format!("{algorithms}=")], ways(false, false, true)),
        ] {
            assert_eq!(compression(&options).unwrap(), asked, "{options:?}");
        }
        let error = compression(&["--mysql-compression-algorithms=zlib,lz4"]).unwrap_err();
        assert!(error.to_string().contains("'zlib,lz4' is not some of zlib, zstd, uncompressed"), "{error}");
    }
}
