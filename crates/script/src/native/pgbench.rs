//! Functions that run the scripts of pgbench.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use dyno_pgbench::{BUILTIN_VARIABLES, Client, Gather, Parameter, Protocol, ScriptFile, Step};

use super::requests::{id, wait};
use super::rows::host;
use super::table::Table;
use crate::lua::{Answer, Call, Kind, Raised, Returns};
use crate::run::machine::Machine;
use crate::run::request::{Param, Piped, Request};
use crate::settings::general::general_option;

pub(super) fn register(table: &Table) {
    table.add("pgbench_read", read);
    table.add("pgbench_variables", variables);
    table.add("pgbench_client", client);
    // pgbench_define(client, name, text): sets the first value of a variable.
    table.add("pgbench_define", |call| {
        let (name, text) = (call.stack.text(2).unwrap_or_default(), call.stack.text(3).unwrap_or_default());
        of(call)?.define(&name, &text);
        Ok(Returns::Values(0))
    });
    table.add("pgbench_begin", |call| {
        of(call)?.begin();
        Ok(Returns::Values(0))
    });
    table.add("pgbench_next", next);
    table.add("pgbench_query", query);
    // pgbench_sql(client): returns the text of the current statement, to prepare it.
    table.add("pgbench_sql", |call| {
        let doubles = call.machine().pgbench.is_pgsql;
        let sql = of(call)?.prepared_sql(doubles);
        call.stack.push_bytes(sql.as_bytes());
        Ok(Returns::Values(1))
    });
    table.add("pgbench_execute", execute);
    table.add("pgbench_execute_once", execute_once);
    // pgbench_sql_of(client, statement): returns the text of the statement with this number, to prepare it.
    table.add("pgbench_sql_of", |call| {
        let (doubles, statement) = (call.machine().pgbench.is_pgsql, call.integer(2)? as usize);
        let sql = of(call)?.sql_of(statement, doubles);
        call.stack.push_bytes(sql.as_bytes());
        Ok(Returns::Values(1))
    });
    table.add("pgbench_pipe", pipe);
    table.add("pgbench_pipe_once", pipe_once);
    // pgbench_pipe_sync(connection): adds a point of synchronization to the pipeline.
    table.add("pgbench_pipe_sync", |call| {
        let connection = id(call, 1)?;
        wait(call, Request::Pipe { connection, part: Piped::Sync })
    });
    // pgbench_run_pipeline(connection): sends the pipeline. Returns the same values as `query`.
    table.add("pgbench_run_pipeline", |call| {
        let connection = id(call, 1)?;
        wait(call, Request::RunPipeline { connection })
    });
    // pgbench_gathers(client): returns 0 if the current statement's rows are not stored, 1 for \gset, 2 for \aset.
    table.add("pgbench_gathers", |call| {
        let number = match of(call)?.gathers() {
            Gather::Nothing => 0.0,
            Gather::Last => 1.0,
            Gather::All => 2.0,
        };
        call.stack.push_number(number);
        Ok(Returns::Values(1))
    });
    table.add("pgbench_store", store);
    table.add("pgbench_shell", shell);
    table.add("pgbench_fail", |call| {
        of(call)?.fail();
        Ok(Returns::Values(0))
    });
    // pgbench_place(client, number): returns file and line of the current command. If `number` is given, returns
    // those of the statement with this number (from 0) in the pipeline that was sent.
    table.add("pgbench_place", |call| {
        let number = call.stack.number(2).map(|number| number as usize);
        let client = of(call)?;
        let place = number.map_or_else(|| client.place(), |number| client.place_in_pipeline(number));
        call.stack.push_bytes(place.as_bytes());
        Ok(Returns::Values(1))
    });
}

/// The client whose number is the first argument.
fn of<'a>(call: &'a mut Call<'_>) -> Result<&'a mut Client, Raised> {
    let number = call.integer(1)? as usize;
    if call.machine().pgbench.client(number).is_none() {
        return Err(call.raise("there is no pgbench client with this number"));
    }
    call.machine().pgbench.client(number).ok_or(Raised)
}

/// `pgbench_read({file, weight, text, …})`: reads scripts as one program, and returns its number. The list has
/// three elements for each script.
fn read(call: &mut Call<'_>) -> Answer {
    if call.stack.kind(1) != Kind::Table {
        return Err(call.raise("a list of scripts is expected"));
    }
    let mut files = Vec::new();
    for first in (1..).step_by(3) {
        let [path, weight, text] = [first, first + 1, first + 2].map(|place| {
            call.stack.push_element(1, place);
            let (text, number) = (call.stack.text(-1), call.stack.number(-1));
            call.stack.pop();
            text.or_else(|| number.map(|number| number.to_string()))
        });
        let Some(path) = path else { break };
        let weight = weight.and_then(|weight| weight.parse().ok()).unwrap_or(1);
        files.push((ScriptFile { path, weight }, text.unwrap_or_default()));
    }
    match call.machine().pgbench.read(&files) {
        Ok(program) => {
            call.stack.push_number(program as f64);
            Ok(Returns::Values(1))
        }
        Err(mistake) => Err(call.raise_as_is(&mistake.to_string())),
    }
}

/// `pgbench_variables(program)`: returns a list of the variables to which options may give a first value.
fn variables(call: &mut Call<'_>) -> Answer {
    let program = call.integer(1)? as usize;
    let is_free =
        |name: &&String| !BUILTIN_VARIABLES.contains(&name.as_str()) && general_option(name).is_none();
    let names: Vec<String> =
        call.machine().pgbench.variables(program).iter().filter(is_free).cloned().collect();
    call.stack.push_table(names.len() as i32, 0);
    for (n, name) in (1..).zip(&names) {
        call.stack.push_bytes(name.as_bytes());
        call.stack.set_element(-2, n);
    }
    Ok(Returns::Values(1))
}

/// `pgbench_client(program, protocol, number, scale, tries, allows_shell)`: creates a client and returns its number
/// in this Lua state. `number` is the client's number among all clients of the run, from 0.
fn client(call: &mut Call<'_>) -> Answer {
    let program = call.integer(1)? as usize;
    let name = call.stack.text(2).unwrap_or_default();
    let Some(protocol) = Protocol::named(&name) else {
        return Err(
            call.raise_as_is(&format!("option --protocol takes simple, extended or prepared, not '{name}'"))
        );
    };
    let (number, scale, tries_max) = (call.integer(3)? as u32, call.integer(4)?, call.integer(5)?);
    let tries_max = u32::try_from(tries_max).unwrap_or(0);
    let allows_shell = call.stack.truthy(6);
    match call.machine().pgbench.add_client(program, (protocol, number), (scale, tries_max), allows_shell) {
        Some(Ok(client)) => {
            call.stack.push_number(client as f64);
            Ok(Returns::Values(1))
        }
        Some(Err(mistake)) => Err(call.raise_as_is(&mistake.to_string())),
        None => Err(call.raise("there is no pgbench program with this number")),
    }
}

/// `pgbench_next(client)`: runs the client up to its next step. Returns the number of the step's kind and two
/// values:
/// - 0: The transaction has ended.
/// - 1: Send the current statement as text.
/// - 2: Execute the prepared statement whose number is the first value.
/// - 3: Sleep for the first value in µs.
/// - 4: Begin a pipeline. The values are the numbers of its first statement, and of the statement after its last.
/// - 5: Add the statement whose number is the first value to the pipeline.
/// - 6: Add a point of synchronization to the pipeline.
/// - 7: Send the pipeline.
/// - 8: Have a shell run a command.
fn next(call: &mut Call<'_>) -> Answer {
    let client = of(call)?;
    let step = client.advance();
    let said = client.take_said();
    for line in &said {
        call.machine().print(line);
    }
    let (kind, value, end) = match step {
        Ok(Step::End) => (0.0, 0, 0),
        Ok(Step::Query) => (1.0, 0, 0),
        Ok(Step::Execute { statement }) => (2.0, statement, 0),
        Ok(Step::Sleep { us }) => (3.0, us as usize, 0),
        Ok(Step::StartPipeline { first, end }) => (4.0, first, end),
        Ok(Step::Pipe { statement }) => (5.0, statement, 0),
        Ok(Step::Sync) => (6.0, 0, 0),
        Ok(Step::EndPipeline) => (7.0, 0, 0),
        Ok(Step::Shell) => (8.0, 0, 0),
        Err(error) => return Err(call.raise_as_is(&error.to_string())),
    };
    call.stack.push_number(kind);
    call.stack.push_number(value as f64);
    call.stack.push_number(end as f64);
    Ok(Returns::Values(3))
}

/// `pgbench_shell(client)`: has a shell run the current command, and waits until the command has ended. This blocks
/// the thread, as in pgbench. This process may use its standard input and output for a protocol, so the command
/// gets neither.
fn shell(call: &mut Call<'_>) -> Answer {
    let client = of(call)?;
    let line = OsStr::from_bytes(client.shell_line());
    // `output` gives the command no standard input, and collects its standard output.
    let ran = Command::new("/bin/sh").arg("-c").arg(line).stderr(Stdio::inherit()).output();
    let taken = match ran {
        Ok(output) => client.shell_ran(&output).map_err(|error| error.to_string()),
        Err(error) => Err(format!("{}: cannot run /bin/sh: {error}", client.place())),
    };
    let said = client.take_said();
    for line in &said {
        call.machine().print(line);
    }
    taken.map(|()| Returns::Values(0)).map_err(|message| call.raise_as_is(&message))
}

/// `pgbench_query(client, connection)`: sends the current statement as text. Returns the same values as `query`.
fn query(call: &mut Call<'_>) -> Answer {
    let connection = id(call, 2)?;
    // SAFETY: the client's text does not change until the request is complete and the task is resumed.
    let sql = unsafe { &*std::ptr::from_ref(of(call)?.sql()) };
    wait(call, Request::Query { connection, sql })
}

/// `pgbench_execute(client, connection, statement)`: executes a prepared statement with the parameters of the client's
/// current statement. Returns the same values as `execute`.
fn execute(call: &mut Call<'_>) -> Answer {
    let (connection, statement) = (id(call, 2)?, id(call, 3)?);
    let params = params(call)?;
    wait(call, Request::Execute { connection, statement, params })
}

/// `pgbench_execute_once(client, connection, sql)`: as `pgbench_execute`, with a text in place of a prepared
/// statement.
fn execute_once(call: &mut Call<'_>) -> Answer {
    let connection = id(call, 2)?;
    // SAFETY: the argument is on the task's stack until the request is complete and the task is resumed.
    let sql = unsafe { call.bytes(3) }?;
    let params = params(call)?;
    wait(call, Request::ExecuteOnce { connection, sql, params })
}

/// `pgbench_pipe(client, connection, statement)`: adds the execution of a prepared statement to the pipeline.
fn pipe(call: &mut Call<'_>) -> Answer {
    let (connection, statement) = (id(call, 2)?, id(call, 3)?);
    let params = params(call)?;
    wait(call, Request::Pipe { connection, part: Piped::Execute { statement, params } })
}

/// `pgbench_pipe_once(client, connection, sql)`: as `pgbench_pipe`, with a text in place of a prepared statement.
fn pipe_once(call: &mut Call<'_>) -> Answer {
    let connection = id(call, 2)?;
    // SAFETY: the argument is on the task's stack until the request is complete and the task is resumed.
    let sql = unsafe { call.bytes(3) }?;
    let params = params(call)?;
    wait(call, Request::Pipe { connection, part: Piped::Once { sql, params } })
}

/// The parameters of the current statement of the client whose number is the first argument.
fn params(call: &mut Call<'_>) -> Result<&'static [Param<'static>], Raised> {
    of(call)?;
    let number = call.integer(1)? as usize;
    let Machine { params, pgbench, .. } = call.machine();
    let is_pgsql = pgbench.is_pgsql;
    params.clear();
    if let Some(client) = pgbench.client(number) {
        params.extend(client.parameters().map(|parameter| param(parameter, is_pgsql)));
    }
    // SAFETY: the parameters do not change until the request is complete and the task is resumed.
    Ok(unsafe { &*std::ptr::from_ref(params.as_slice()) })
}

fn param(parameter: Parameter<'_>, is_pgsql: bool) -> Param<'static> {
    match parameter {
        Parameter::Null => Param::Null,
        Parameter::Bool(true) if is_pgsql => Param::Text(b"true"),
        Parameter::Bool(false) if is_pgsql => Param::Text(b"false"),
        Parameter::Bool(value) => Param::Int(value.into()),
        Parameter::Int(number) => Param::Int(number),
        Parameter::Double(number) => Param::Float(number),
        // SAFETY: the client's variables do not change until the request is complete and the task is resumed.
        Parameter::Text(text) => Param::Text(unsafe { &*std::ptr::from_ref(text) }),
    }
}

/// `pgbench_store(client, connection)`: stores the row of the connection's most recent result in variables.
fn store(call: &mut Call<'_>) -> Answer {
    let connection = id(call, 2)?;
    let host = host(call)?;
    let (rows, columns) = (host.row_count(connection), host.field_names(connection));
    let (mut row, mut last) = (Vec::new(), Vec::new());
    while host.next_row(connection, &mut row) {
        std::mem::swap(&mut row, &mut last);
    }
    match of(call)?.store(&columns, &last, rows) {
        Ok(()) => Ok(Returns::Values(0)),
        Err(error) => Err(call.raise_as_is(&error.to_string())),
    }
}
