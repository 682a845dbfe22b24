//! Messages of a PostgreSQL server.

pub(super) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag], length.to_be_bytes().as_slice(), body].concat()
}

pub(super) fn authentication(kind: i32, detail: &[u8]) -> Vec<u8> {
    message(b'R', &[kind.to_be_bytes().as_slice(), detail].concat())
}

pub(super) fn parameter(name: &str, value: &str) -> Vec<u8> {
    message(b'S', format!("{name}\0{value}\0").as_bytes())
}

/// All messages of a login without authentication.
pub(super) fn welcome() -> Vec<u8> {
    let key = message(b'K', &[0; 8]);
    [authentication(0, b""), parameter("server_version", "18.4"), key, ready()].concat()
}

pub(super) fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

pub(super) fn complete(tag: &str) -> Vec<u8> {
    message(b'C', format!("{tag}\0").as_bytes())
}

/// A `RowDescription`.
pub(super) fn columns(names: &[&str]) -> Vec<u8> {
    let mut body = u16::try_from(names.len()).unwrap().to_be_bytes().to_vec();
    for name in names {
        body.extend_from_slice(name.as_bytes());
        body.extend_from_slice(&[0; 19]);
    }
    message(b'T', &body)
}

pub(super) fn row(fields: &[Option<&str>]) -> Vec<u8> {
    let mut body = u16::try_from(fields.len()).unwrap().to_be_bytes().to_vec();
    for field in fields {
        let length = field.map_or(-1, |text| i32::try_from(text.len()).unwrap());
        body.extend_from_slice(&length.to_be_bytes());
        body.extend_from_slice(field.unwrap_or_default().as_bytes());
    }
    message(b'D', &body)
}

pub(super) fn error(severity: &str, state: &str, text: &str) -> Vec<u8> {
    report(b'E', severity, state, text)
}

pub(super) fn notice(severity: &str) -> Vec<u8> {
    report(b'N', severity, "01000", "mind this")
}

fn report(tag: u8, severity: &str, state: &str, text: &str) -> Vec<u8> {
    message(tag, format!("S{severity}\0V{severity}\0C{state}\0M{text}\0\0").as_bytes())
}

/// Answer to a Parse and Describe of a statement, up to the description of its result.
pub(super) fn parsed() -> Vec<u8> {
    [message(b'1', b""), message(b't', b"\0\x01\0\0\0\x17")].concat()
}

/// Answer to a Bind.
pub(super) fn bound() -> Vec<u8> {
    message(b'2', b"")
}

/// Answer to a Close.
pub(super) fn closed() -> Vec<u8> {
    message(b'3', b"")
}
