//! Native functions for a script's declarations.

use super::table::Table;
use crate::lua::{Answer, Call, Returns};
use crate::settings::info::{CommandSpec, OptionKind, OptionSpec};

/// The kinds of options by their number in scripts (`sysbench.cmdline.ARG_*`), from 1.
const KINDS: [OptionKind; 7] = [
    OptionKind::Bool,
    OptionKind::Int,
    OptionKind::Size,
    OptionKind::Double,
    OptionKind::String,
    OptionKind::List,
    OptionKind::File,
];

pub(super) fn register(table: &Table) {
    table.add("declare_option", option);
    table.add("declare_command", |call| {
        let name = call.stack.text(1).unwrap_or_default();
        let parallel = call.stack.truthy(2);
        call.machine().declared.commands.push(CommandSpec { name, parallel });
        Ok(Returns::Values(0))
    });
}

/// `declare_option(name, description, default, kind)`. The default is text or nil.
fn option(call: &mut Call<'_>) -> Answer {
    let number = call.integer(4)?;
    let kind = usize::try_from(number - 1).ok().and_then(|index| KINDS.get(index));
    let Some(&kind) = kind else {
        return Err(call.raise(&format!("option type {number} is not one of sysbench.cmdline.ARG_*")));
    };
    let option = OptionSpec {
        name: call.stack.text(1).unwrap_or_default(),
        description: call.stack.text(2).unwrap_or_default(),
        default: call.stack.text(3),
        kind,
    };
    call.machine().declared.options.push(option);
    Ok(Returns::Values(0))
}
