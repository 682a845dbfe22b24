//! The part of the sysbench API that is written in Lua.

use std::path::PathBuf;
use std::ptr::NonNull;

use crate::error::ScriptError;
use crate::lua::{Reference, Stack};
use crate::native::push_functions;
use crate::run::machine::Machine;
use crate::settings::config::Config;

/// The prelude's files, in order of their dependencies. Each is called with a table, `dyno`, to which it adds
/// what later files use.
const FILES: &[(&std::ffi::CStr, &str)] = &[
    (c"=dyno/base.lua", include_str!("prelude/base.lua")),
    (c"=dyno/modules.lua", include_str!("prelude/modules.lua")),
    (c"=dyno/result.lua", include_str!("prelude/result.lua")),
    (c"=dyno/connection.lua", include_str!("prelude/connection.lua")),
    (c"=dyno/sql.lua", include_str!("prelude/sql.lua")),
    (c"=dyno/statement.lua", include_str!("prelude/statement.lua")),
    (c"=dyno/bulk_insert.lua", include_str!("prelude/bulk_insert.lua")),
    (c"=dyno/tpch.lua", include_str!("prelude/tpch.lua")),
    (c"=dyno/pgbench.lua", include_str!("prelude/pgbench.lua")),
    (c"=dyno/rand.lua", include_str!("prelude/rand.lua")),
    (c"=dyno/histogram.lua", include_str!("prelude/histogram.lua")),
    (c"=dyno/report.lua", include_str!("prelude/report.lua")),
    (c"=dyno/cmdline.lua", include_str!("prelude/cmdline.lua")),
    (c"=dyno/ffi.lua", include_str!("prelude/ffi.lua")),
    (c"=dyno/events.lua", include_str!("prelude/events.lua")),
    (c"=dyno/legacy.lua", include_str!("prelude/legacy.lua")),
    (c"=dyno/global_metatable.lua", include_str!("prelude/global_metatable.lua")),
    (c"=dyno/environment.lua", include_str!("prelude/environment.lua")),
];

/// The prelude, loaded into a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prelude {
    stack: Stack,
    dyno: Reference,
    /// The text `event`, which is looked up for each event.
    pub(crate) event: Reference,
}

impl Prelude {
    /// Runs the prelude's files.
    pub(crate) fn load(
        stack: Stack,
        machine: NonNull<Machine>,
        config: &Config,
    ) -> Result<Self, ScriptError> {
        stack.push_table(0, 32);
        push_functions(stack, machine, config.marks_functions);
        stack.set_field(-2, "native");
        let texts = [
            ("driver", config.driver.as_str()),
            ("sysbench_version", &config.sysbench_version),
            ("command_name", &config.command),
            ("script_name", &config.name),
            ("script_source", &config.source),
            ("search_path", &templates(&config.search_path)),
        ];
        for (name, text) in texts {
            stack.push_bytes(text.as_bytes());
            stack.set_field(-2, name);
        }
        stack.push_table(config.arguments.len() as i32, 0);
        for (n, argument) in (1..).zip(&config.arguments) {
            stack.push_bytes(argument.as_bytes());
            stack.set_element(-2, n);
        }
        stack.set_field(-2, "arguments");
        let dyno = stack.keep();
        stack.push_bytes(b"event");
        let prelude = Self { stack, dyno, event: stack.keep() };
        for &(name, source) in FILES {
            stack.load(source.as_bytes(), name).map_err(ScriptError::Runtime)?;
            stack.push_kept(prelude.dyno);
            stack.call(1, 0).map_err(ScriptError::Runtime)?;
        }
        Ok(prelude)
    }

    /// Pushes a function or another value of the prelude on a thread of its state.
    pub(crate) fn push(self, thread: Stack, name: &str) {
        thread.push_kept(self.dyno);
        thread.push_field(-1, name);
        thread.replace(-2);
    }

    /// Pops a value and adds it to the prelude.
    pub(crate) fn set(self, name: &str) {
        self.stack.push_kept(self.dyno);
        self.stack.push_copy(-2);
        self.stack.set_field(-2, name);
        self.stack.pop();
        self.stack.pop();
    }
}

/// The `package.path` with which `require` searches these folders.
fn templates(folders: &[PathBuf]) -> String {
    let templates = |folder: &PathBuf| format!("{0}/?.lua;{0}/?/init.lua;", folder.display());
    folders.iter().map(templates).collect::<Vec<_>>().concat()
}
