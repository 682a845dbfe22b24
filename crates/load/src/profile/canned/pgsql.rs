//! Answers in PostgreSQL's protocol ("Message Formats" in the PostgreSQL manual).

use super::Answer;

/// Object ids of the types `bpchar` and `int8`.
const BPCHAR: u32 = 1042;
const INT8: u32 = 20;

/// The state of a connection.
#[derive(Default)]
pub(super) struct Server {
    is_logged_in: bool,
    /// Prepared statements by name, with their answers.
    prepared: Vec<(Vec<u8>, Answer)>,
    /// The answer of the statement that was prepared or bound most recently.
    current: Option<Answer>,
}

impl Server {
    /// Answers the complete messages at the beginning of `bytes`. Returns the length of these messages together. The
    /// first message of a connection has no tag.
    pub(super) fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let mut at = 0;
        loop {
            let tag_bytes = usize::from(self.is_logged_in);
            let Some(&length) = bytes[at..].get(tag_bytes..).and_then(<[u8]>::first_chunk) else { break };
            let end = at + tag_bytes + u32::from_be_bytes(length) as usize;
            let Some(body) = bytes.get(at + tag_bytes + 4..end) else { break };
            if self.is_logged_in {
                self.answer(bytes[at], body, out);
            } else {
                self.is_logged_in = true;
                message(out, b'R', &[&[0; 4]]);
                message(out, b'S', &[b"server_version\x0018.4\0"]);
                message(out, b'K', &[&[0; 8]]);
                ready(out);
            }
            at = end;
        }
        at
    }

    fn answer(&mut self, tag: u8, body: &[u8], out: &mut Vec<u8>) {
        let mut texts = body.split(|&byte| byte == 0);
        let mut text = || texts.next().unwrap_or_default();
        match tag {
            b'P' => {
                let (name, sql) = (text(), text());
                self.current = Some(Answer::of(sql));
                self.prepared.retain(|(known, _)| known != name);
                self.prepared.push((name.to_vec(), Answer::of(sql)));
                message(out, b'1', &[]);
            }
            b'B' => {
                let (_portal, name) = (text(), text());
                let known = self.prepared.iter().find(|(known, _)| known == name);
                self.current = known.map(|(_, answer)| *answer);
                message(out, b'2', &[]);
            }
            b'D' => {
                if body.first() == Some(&b'S') {
                    message(out, b't', &[&[0; 2]]);
                }
                describe(self.current(), out);
            }
            b'E' => rows(self.current(), out),
            b'C' => message(out, b'3', &[]),
            b'S' => ready(out),
            b'Q' => {
                let answer = Answer::of(text());
                if answer.rows().is_some() {
                    describe(answer, out);
                }
                rows(answer, out);
                ready(out);
            }
            _ => {}
        }
    }

    fn current(&self) -> Answer {
        self.current.unwrap_or(Answer::Changed(0))
    }
}

/// Describes the columns of a result. If there is no result, sends `NoData`.
fn describe(answer: Answer, out: &mut Vec<u8>) {
    if answer.rows().is_none() {
        return message(out, b'n', &[]);
    }
    let kind = if answer == Answer::Sum { INT8 } else { BPCHAR };
    let attributes = [&[0; 6][..], &kind.to_be_bytes(), &[0xFF; 2], &[0; 6]];
    message(out, b'T', &[&[0, 1], answer.column(), &[0], &attributes.concat()]);
}

/// Appends the rows of a result to `out`, and the message that ends the result.
fn rows(answer: Answer, out: &mut Vec<u8>) {
    let Some((text, rows)) = answer.rows() else {
        let tag: &[u8] = if answer == Answer::Changed(0) { b"BEGIN\0" } else { b"UPDATE 1\0" };
        return message(out, b'C', &[tag]);
    };
    for _ in 0..rows {
        message(out, b'D', &[&[0, 1], &(text.len() as u32).to_be_bytes(), text]);
    }
    message(out, b'C', &[b"SELECT ", rows.to_string().as_bytes(), &[0]]);
}

fn ready(out: &mut Vec<u8>) {
    message(out, b'Z', &[b"I"]);
}

/// Appends a message to `out`. The body is the concatenation of `parts`.
fn message(out: &mut Vec<u8>, tag: u8, parts: &[&[u8]]) {
    let length = 4 + parts.iter().map(|part| part.len()).sum::<usize>();
    out.push(tag);
    out.extend_from_slice(&(length as u32).to_be_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
}
