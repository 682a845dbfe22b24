//! The scripts of pgbench that a Lua state runs, and a client for each task.

use std::rc::Rc;

use dyno_pgbench::{Client, Mistake, Program, Protocol, ScriptFile, Setup};

use crate::settings::config::Config;

#[derive(Debug)]
pub(crate) struct Pgbench {
    programs: Vec<Rc<Program>>,
    clients: Vec<Client>,
    seed: u64,
    /// Number of clients of the whole run.
    clients_in_all: u32,
    /// Whether the database is PostgreSQL, which has Boolean parameters, and operators with a question mark.
    pub(crate) is_pgsql: bool,
}

impl Pgbench {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            programs: Vec::new(),
            clients: Vec::new(),
            seed: config.seed,
            clients_in_all: config.threads,
            is_pgsql: config.driver == "pgsql",
        }
    }

    /// Reads scripts as one program. Returns the program's number.
    pub(crate) fn read(&mut self, files: &[(ScriptFile, String)]) -> Result<usize, Mistake> {
        self.programs.push(Rc::new(Program::read(files)?));
        Ok(self.programs.len() - 1)
    }

    /// The variables of a program.
    pub(crate) fn variables(&self, program: usize) -> &[String] {
        self.programs.get(program).map_or(&[][..], |program| program.variables())
    }

    /// Creates a client that runs a program. Returns the client's number, or `None` if there is no such program.
    pub(crate) fn add_client(
        &mut self,
        program: usize,
        (protocol, client): (Protocol, u32),
        (scale, tries_max): (i64, u32),
        allows_shell: bool,
    ) -> Option<Result<usize, Mistake>> {
        let program = self.programs.get(program)?;
        let (seed, clients) = (self.seed, self.clients_in_all);
        let has_pipelines = self.is_pgsql;
        let setup = Setup { protocol, seed, client, clients, scale, tries_max, has_pipelines, allows_shell };
        Some(Client::new(Rc::clone(program), &setup).map(|client| {
            self.clients.push(client);
            self.clients.len() - 1
        }))
    }

    /// The client with this number.
    pub(crate) fn client(&mut self, number: usize) -> Option<&mut Client> {
        self.clients.get_mut(number)
    }
}
