//! The output of `eu-stack -q`.

/// Parses the threads of an output with their addresses, innermost first. Threads without addresses, such as
/// threads of the kernel, are left out.
pub(super) fn threads(output: &str) -> Vec<(u32, Vec<u64>)> {
    let mut threads: Vec<(u32, Vec<u64>)> = Vec::new();
    for line in output.lines() {
        if let Some(tid) = line.strip_prefix("TID ") {
            threads.extend(tid.trim_end_matches(':').parse().ok().map(|tid| (tid, Vec::new())));
        } else if let Some(address) = address(line)
            && let Some((_, addresses)) = threads.last_mut()
        {
            // All addresses but the first are return addresses. The byte before a return address is within the
            // call.
            addresses.push(if addresses.is_empty() { address } else { address - 1 });
        }
    }
    threads.retain(|(_, addresses)| !addresses.is_empty());
    threads
}

/// The address of a line such as `#3  0x00005561967190e4`; `None` if the address is 0.
fn address(line: &str) -> Option<u64> {
    let mut words = line.strip_prefix('#')?.split_ascii_whitespace().skip(1);
    u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok().filter(|address| *address > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_addresses_and_threads_of_the_kernel_are_left_out() {
        let output = "PID 4692 - process\nTID 4692:\n#0  0x00007f234af1a26f\n#1  0x000055ab1461094f\n\
                      TID 4706:\n#0  0x0000000000000000\n#1  0x0000000000000000\n\
                      TID 4707:\n#0  0x00007f234ae5ac82\n";
        assert_eq!(
            threads(output),
            [(4692, vec![0x7f23_4af1_a26f, 0x55ab_1461_094e]), (4707, vec![0x7f23_4ae5_ac82])]
        );
        assert!(threads("eu-stack: no\n#0 0x12\nTID x:\n#0\n").is_empty());
    }
}
