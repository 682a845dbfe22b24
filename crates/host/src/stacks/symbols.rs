//! Finds the names of addresses with `eu-addr2line`, which finds the system's separate debug files by build id.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Arc;

use super::Frame;
use super::address_space::AddressSpace;
use super::tool::StackTool;

/// Largest number of addresses in one command line.
const ADDRESSES_MAX: usize = 4000;

/// The frame of each address. A frame without a name still has its file.
pub(super) fn frames(tool: &StackTool, space: &AddressSpace, addresses: &[u64]) -> HashMap<u64, Arc<Frame>> {
    let names = names(tool, space, addresses);
    let frame = |address: &u64| {
        let (module, offset) = space.place(*address).unwrap_or_default();
        let frame = Frame { function: names.get(address).cloned(), module, offset };
        (*address, Arc::new(frame))
    };
    addresses.iter().map(frame).collect()
}

fn names(tool: &StackTool, space: &AddressSpace, addresses: &[u64]) -> HashMap<u64, String> {
    let Ok(mut maps) = tempfile::NamedTempFile::new() else { return HashMap::new() };
    if maps.write_all(space.maps.as_bytes()).is_err() {
        return HashMap::new();
    }
    let mut names = HashMap::new();
    for addresses in addresses.chunks(ADDRESSES_MAX) {
        let output = tool
            .eu_addr2line()
            .args(["--addresses", "--symbols", "--demangle", "--linux-process-map"])
            .arg(maps.path())
            .args(addresses.iter().map(|address| format!("{address:#x}")))
            .output();
        names.extend(output.iter().flat_map(|output| parse(&String::from_utf8_lossy(&output.stdout))));
    }
    names
}

/// Parses the output, which has three lines for each address: the address, `function+0x1c`, and the source file with
/// the line number.
fn parse(output: &str) -> Vec<(u64, String)> {
    let mut lines = output.lines();
    let mut names = Vec::new();
    while let Some(line) = lines.next() {
        let Some(address) = line.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok())
        else {
            continue;
        };
        let name = lines.next().map(|symbol| symbol.rsplit_once("+0x").map_or(symbol, |(name, _)| name));
        names.extend(
            name.filter(|name| !matches!(*name, "" | "()" | "??")).map(|name| (address, name.to_owned())),
        );
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_without_their_offset() {
        let output = "0x000055ab1461094f\nhandle_connections_sockets()+0x13a\n/sql/mysqld.cc:6267\n\
                      0x00007f234af1a26f\n__poll\n??:0\n0x0000000000000012\n()+0x29fba\n??:0\n0x13\n??\n??:0\n";
        let expected = [
            (0x55ab_1461_094f, "handle_connections_sockets()".to_owned()),
            (0x7f23_4af1_a26f, "__poll".to_owned()),
        ];
        assert_eq!(parse(output), expected);
    }
}
