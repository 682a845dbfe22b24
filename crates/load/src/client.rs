//! From a job's words to the protocols'.

use dyno_script::{Param, StatementId};
use dyno_wire::{Client, Login, TlsMode, Value, mysql, pgsql};

use crate::job::{DriverKind, Target};

/// Parameters that fit without an allocation.
const PARAMS_INLINE: usize = 16;

/// A new connection's side of the protocol. `local`: over a unix socket.
pub(crate) fn new(target: &Target, local: bool) -> Box<dyn Client> {
    let login = Login {
        user: target.user.clone(),
        password: target.password.clone(),
        database: target.database.clone(),
        tls: TlsMode::Disabled,
        local,
    };
    match target.driver {
        DriverKind::Pgsql => Box::new(pgsql::Connection::new(login)),
        DriverKind::Mysql | DriverKind::Sqlite => Box::new(mysql::Connection::new(login)),
    }
}

/// Starts executing a statement with a script's parameters.
pub(crate) fn execute(client: &mut dyn Client, statement: StatementId, params: &[Param<'_>]) {
    if params.len() <= PARAMS_INLINE {
        let mut values = [Value::Null; PARAMS_INLINE];
        for (value, param) in values.iter_mut().zip(params) {
            *value = value_of(param);
        }
        client.execute(statement, &values[..params.len()]);
    } else {
        let values: Vec<Value<'_>> = params.iter().map(value_of).collect();
        client.execute(statement, &values);
    }
}

fn value_of<'a>(param: &Param<'a>) -> Value<'a> {
    match *param {
        Param::Null => Value::Null,
        Param::Int(number) => Value::Int(number),
        Param::Float(number) => Value::Float(number),
        Param::Text(text) => Value::Bytes(text),
    }
}
