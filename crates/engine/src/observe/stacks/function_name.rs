//! Short names of functions.

/// Shortens a demangled name: `void log_buffer<false>(log_t&, int)` becomes `log_buffer`. Removes its arguments, the
/// arguments of templates, the returned type, and what compilers and the C library append. The result has no `;`, which
/// separates frames.
pub(super) fn short_name(demangled: &str) -> String {
    let unversioned = demangled.split('@').next().unwrap_or(demangled);
    let plain = without_arguments(&unversioned.replace("(anonymous namespace)", "anonymous"));
    let words =
        if plain.contains("operator ") { plain.as_str() } else { plain.rsplit(' ').next().unwrap_or(&plain) };
    let short = without_suffix(words).replace(';', ",");
    if short.is_empty() { demangled.replace(';', ",") } else { short }
}

/// Removes the text in angle brackets, and everything from the first round bracket on.
fn without_arguments(name: &str) -> String {
    let mut short = String::new();
    let mut rest = name;
    let mut depth = 0_u32;
    while let Some(character) = rest.chars().next() {
        if depth == 0
            && let Some(operator) = operator(&short, rest)
        {
            short.push_str(operator);
            rest = &rest[operator.len()..];
            continue;
        }
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            _ if depth == 0 => short.push(character),
            _ => {}
        }
        rest = &rest[character.len_utf8()..];
    }
    short.trim_end().to_owned()
}

/// Returns the symbol of an operator, such as `<<`, if the name so far ends in `operator`. Brackets in the symbol do
/// not begin arguments.
fn operator<'a>(before: &str, rest: &'a str) -> Option<&'a str> {
    const WITH_BRACKETS: [&str; 12] =
        ["<=>", "<<=", ">>=", "->*", "()", "<<", ">>", "<=", ">=", "->", "<", ">"];
    let sign = WITH_BRACKETS.iter().find(|sign| rest.starts_with(**sign))?;
    before.ends_with("operator").then(|| &rest[..sign.len()])
}

/// Removes suffixes such as `.constprop.0`, `.isra.3` and ` [clone .cold]`.
fn without_suffix(name: &str) -> &str {
    let end = [".constprop", ".isra", ".part", ".cold", ".lto_priv", "[clone"]
        .iter()
        .filter_map(|suffix| name.find(suffix))
        .min();
    name[..end.unwrap_or(name.len())].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        let cases = [
            ("handle_one_connection", "handle_one_connection"),
            ("pthread_cond_wait@@GLIBC_2.3.2", "pthread_cond_wait"),
            ("pthread_cond_clockwait@GLIBC_2.30", "pthread_cond_clockwait"),
            ("os_event_wait_low(os_event*, long)", "os_event_wait_low"),
            ("void log_buffer<false, (Mode)2>(log_t&, std::vector<int>)", "log_buffer"),
            ("PolicyMutex<TTASEventMutex<GenericPolicy> >::enter(unsigned int)", "PolicyMutex::enter"),
            ("Item::(anonymous namespace)::val(int) const", "Item::anonymous::val"),
            ("bool operator<<=(A<int>, B)", "operator<<="),
            ("Foo::operator()(int) const", "Foo::operator()"),
            ("Foo::operator bool() const", "Foo::operator bool"),
            ("row_sel.constprop.0", "row_sel"),
            ("scan(int) [clone .cold]", "scan"),
            (
                "std::thread::_State_impl<std::thread::_Invoker<std::tuple<T, void (*)(unsigned long)> > >::_M_run()",
                "std::thread::_State_impl::_M_run",
            ),
            ("a;b", "a,b"),
            ("<", "<"),
            ("", ""),
        ];
        for (demangled, expected) in cases {
            assert_eq!(short_name(demangled), expected, "{demangled}");
        }
    }
}
