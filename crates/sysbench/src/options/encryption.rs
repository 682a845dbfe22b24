//! TLS according to the options, and what may be sent to a server that has not proven its identity.

use std::path::PathBuf;

use dyno_load::{PgsqlMethod, Tls, TlsMode, TlsNames, Trust, read_public_key};

use crate::failure::Failure;
use crate::options::Values;

const MYSQL: TlsNames = TlsNames {
    mode: "--mysql-ssl",
    ca: "--mysql-ssl-ca",
    cert: "--mysql-ssl-cert",
    key: "--mysql-ssl-key",
    ciphers: "--mysql-ssl-cipher",
    modes: ["off", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"],
};

const PGSQL: TlsNames = TlsNames {
    mode: "--pgsql-sslmode",
    ca: "--pgsql-ssl-ca",
    cert: "",
    key: "",
    ciphers: "",
    modes: ["disable", "prefer", "require", "verify-ca", "verify-full"],
};

/// Reads `--mysql-ssl` and the related options.
pub(crate) fn mysql_tls(values: &Values) -> Result<Tls, Failure> {
    let mode = match values.text("mysql-ssl") {
        "on" | "REQUIRED" => TlsMode::Required,
        "PREFERRED" => TlsMode::Preferred,
        "VERIFY_CA" => TlsMode::VerifyCa,
        "VERIFY_IDENTITY" => TlsMode::VerifyIdentity,
        _ => TlsMode::Disabled,
    };
    let file = |name| values.some(name).map(PathBuf::from);
    let tls = Tls {
        mode,
        ca: file("mysql-ssl-ca"),
        cert: file("mysql-ssl-cert"),
        key: file("mysql-ssl-key"),
        ciphers: values.some("mysql-ssl-cipher").map(str::to_owned),
    };
    with_effect(tls, &MYSQL, values)
}

/// Reads `--pgsql-sslmode` and the related options.
pub(crate) fn pgsql_tls(values: &Values) -> Result<Tls, Failure> {
    let mode = match values.text("pgsql-sslmode") {
        "disable" => TlsMode::Disabled,
        "require" => TlsMode::Required,
        "verify-ca" => TlsMode::VerifyCa,
        "verify-full" => TlsMode::VerifyIdentity,
        _ => TlsMode::Preferred,
    };
    let ca = values.some("pgsql-ssl-ca").map(PathBuf::from);
    with_effect(Tls { mode, ca, ..Tls::default() }, &PGSQL, values)
}

/// Refuses options that would have no effect, and files and ciphers that cannot be used.
fn with_effect(tls: Tls, names: &TlsNames, values: &Values) -> Result<Tls, Failure> {
    match tls.contradiction() {
        Some(contradiction) => Err(Failure::usage(contradiction.words(names, &given_mode(names, values)))),
        None => tls.check().map(|()| tls).map_err(|error| Failure::usage(error.to_string())),
    }
}

/// The option of the TLS mode with its value, or with its default if the option is not given.
fn given_mode(names: &TlsNames, values: &Values) -> String {
    format!("{}={}", names.mode, values.text(names.mode.trim_start_matches('-')))
}

/// Reads from the options which secrets may be sent to a MySQL server.
pub(crate) fn mysql_trust(values: &Values, mode: TlsMode) -> Result<Trust, Failure> {
    let key = values.some("mysql-server-public-key-path").map(PathBuf::from);
    let unusable = |error| Failure::usage(format!("--mysql-server-public-key-path: {error}"));
    if key.is_some() && !mode.may_be_open() {
        let given = given_mode(&MYSQL, values);
        return Err(Failure::usage(format!(
            "--mysql-server-public-key-path is used without TLS, not with {given}"
        )));
    }
    Ok(Trust {
        public_key: key.as_deref().map(read_public_key).transpose().map_err(unusable)?,
        takes_public_key: values.flag("mysql-get-server-public-key"),
        sends_clear_text: values.flag("mysql-enable-cleartext-plugin"),
        methods: Vec::new(),
    })
}

/// Reads from the options which authentication methods a PostgreSQL server may request.
pub(crate) fn pgsql_trust(values: &Values) -> Result<Trust, Failure> {
    let methods = values.text("pgsql-require-auth").to_lowercase();
    let methods = PgsqlMethod::list(&methods)
        .map_err(|word| Failure::usage(format!("--pgsql-require-auth: there is no method '{word}'")))?;
    Ok(Trust { methods, ..Trust::default() })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::options::Arguments;

    fn values(arguments: &[&str]) -> Arguments {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        Arguments::parse(&arguments).unwrap()
    }

    fn refusal(arguments: &[&str]) -> String {
        let arguments = values(arguments);
        let values = &arguments.values;
        let mysql = mysql_tls(values).and_then(|tls| mysql_trust(values, tls.mode));
        let pgsql = pgsql_tls(values).and_then(|_| pgsql_trust(values));
        mysql.and(pgsql).unwrap_err().to_string()
    }

    #[test]
    fn ciphers_are_the_list_that_was_given_or_none() {
        let ciphers = |option: &str| mysql_tls(&values(&["--mysql-ssl=on", option]).values).unwrap().ciphers;
        let list = "TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256";
        assert_eq!(ciphers(&format!("--mysql-ssl-cipher={list}")).as_deref(), Some(list));
        assert_eq!(ciphers("--mysql-ssl-cipher="), None);
    }

    #[test]
    fn an_option_that_would_do_nothing_is_refused() {
        let verifying = "--mysql-ssl=VERIFY_CA or --mysql-ssl=VERIFY_IDENTITY";
        for (options, words) in [
            (
                &["--mysql-ssl-ca=/no/such.pem"][..],
                format!("is used with {verifying}, not with --mysql-ssl=off"),
            ),
            (
                &["--mysql-ssl=on", "--mysql-ssl-ca=/no/such.pem"],
                format!("is used with {verifying}, not with --mysql-ssl=on"),
            ),
            (&["--mysql-ssl-cipher=AES128-SHA"], "encrypted connections (--mysql-ssl=REQUIRED)".into()),
            (
                &["--mysql-ssl-cert=/c", "--mysql-ssl-key=/k"],
                "but these are not encrypted (--mysql-ssl=off)".into(),
            ),
            (
                &["--mysql-ssl=on", "--mysql-ssl-key=/k"],
                "--mysql-ssl-cert and --mysql-ssl-key go together".into(),
            ),
            (&["--mysql-ssl=VERIFY_CA"], "--mysql-ssl=VERIFY_CA needs --mysql-ssl-ca".into()),
            (&["--mysql-ssl=VERIFY_CA", "--mysql-ssl-ca=/no/such.pem"], "cannot use /no/such.pem".into()),
            (&["--mysql-ssl=on", "--mysql-ssl-cipher=AES128-SHA"], "'AES128-SHA'".into()),
            (
                &["--mysql-ssl=on", "--mysql-ssl-cert=/no/such.pem", "--mysql-ssl-key=/no/such.key"],
                "cannot use /no/such.key".into(),
            ),
            (&["--pgsql-ssl-ca=/ca.pem"], "not with --pgsql-sslmode=prefer".into()),
            (&["--pgsql-sslmode=verify-ca"], "--pgsql-sslmode=verify-ca needs --pgsql-ssl-ca".into()),
            (
                &["--mysql-ssl=REQUIRED", "--mysql-server-public-key-path=/k.pem"],
                "is used without TLS, not with --mysql-ssl=REQUIRED".into(),
            ),
            (&["--mysql-server-public-key-path=/no/such.pem"], "cannot use /no/such.pem".into()),
        ] {
            let error = refusal(options);
            assert!(error.contains(&words) && !error.contains('\n'), "{options:?}: {error}");
        }
    }

    #[test]
    fn nothing_is_given_away_unless_it_is_asked_for() {
        let trust = |options: &[&str]| mysql_trust(&values(options).values, TlsMode::Disabled).unwrap();
        assert_eq!(trust(&[]), Trust::default());
        let asked = trust(&["--mysql-get-server-public-key", "--mysql-enable-cleartext-plugin=on"]);
        assert!(asked.takes_public_key && asked.sends_clear_text);
        let methods = pgsql_trust(&values(&["--pgsql-require-auth=password"]).values).unwrap().methods;
        assert_eq!(methods, [PgsqlMethod::Password]);
    }
}
