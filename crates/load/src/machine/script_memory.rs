//! The memory limit of scripts.

use dyno_script::MemoryLimit;

/// The most memory that scripts can have in sysbench 1.0.20, because sysbench's LuaJIT keeps all values in the low 2 GB
/// of the address space.
const USUAL_BYTES: usize = 2 << 30;

/// The environment variable is not a valid limit of memory.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{} is '{}', but must be a whole number of MiB above 0", MemoryLimit::VARIABLE, .0)]
pub struct ScriptMemoryError(String);

/// Returns the limit that the environment variable sets. If the variable is not set, the limit is 2 GiB, but at most
/// half of the host's memory, because servers need the other half.
///
/// # Errors
/// The environment's limit is not a number above 0.
pub fn script_memory() -> Result<MemoryLimit, ScriptMemoryError> {
    let given = std::env::var_os(MemoryLimit::VARIABLE).filter(|text| !text.is_empty());
    let bytes = match given {
        Some(text) => given_bytes(&text.to_string_lossy())?,
        None => host_bytes().map_or(USUAL_BYTES, |host| USUAL_BYTES.min(host / 2)),
    };
    Ok(MemoryLimit::new(bytes))
}

fn given_bytes(text: &str) -> Result<usize, ScriptMemoryError> {
    match text.trim().parse::<usize>() {
        Ok(mib) if mib > 0 => Ok(mib.saturating_mul(1 << 20)),
        _ => Err(ScriptMemoryError(text.to_owned())),
    }
}

fn host_bytes() -> Option<usize> {
    // SAFETY: sysconf takes a number and no pointers.
    let (pages, page_bytes) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).ok()?.checked_mul(usize::try_from(page_bytes).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_of_mebibytes() {
        assert_eq!(given_bytes("64"), Ok(64 << 20));
        for wrong in ["0", "-1", "64M", "much"] {
            let words =
                format!("DYNO_SCRIPT_MEMORY_MIB is '{wrong}', but must be a whole number of MiB above 0");
            assert_eq!(given_bytes(wrong).map_err(|error| error.to_string()), Err(words));
        }
    }
}
