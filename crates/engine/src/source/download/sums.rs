//! Finds the checksum of a file in a text that a vendor publishes: `sha256sums.txt`, `FILE.sha256sum`, or a page of
//! downloads.

use super::integrity::Integrity;

/// The checksum of a file in a text. First searches for a word that can be a checksum in the lines that name the file.
/// Otherwise takes the first checksum after the file's name in parentheses, as on a page of downloads. Otherwise, if
/// the text is one word that can be a checksum, takes that word.
pub(in crate::source) fn find(text: &str, file: &str) -> Option<Integrity> {
    let of_line = |line: &str| names(line, file).then(|| digests(line).next()).flatten();
    if let Some(found) = text.lines().find_map(of_line) {
        return Some(found);
    }
    let on_page = text.split_once(&format!("({file})")).and_then(|(_, rest)| digests(rest).next());
    on_page.or_else(|| {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let only = lines.next().filter(|_| lines.next().is_none())?;
        (only.split_whitespace().count() == 1).then(|| digests(only).next()).flatten()
    })
}

/// Whether a line names a file. A path, or a `*` for binary mode, may precede the name.
fn names(line: &str, file: &str) -> bool {
    line.split_whitespace().any(|word| {
        let word = word.trim_start_matches('*');
        word.rsplit('/').next() == Some(file)
    })
}

/// The words of a text that can be checksums.
fn digests(text: &str) -> impl Iterator<Item = Integrity> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(Integrity::from_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "d41d8cd98f00b204e9800998ecf8427e";

    #[test]
    fn a_checksum_is_found_in_what_vendors_publish() {
        let (wanted, other) = ("ab".repeat(32), "cd".repeat(32));
        let listed = format!("{other}  ./b.tar.gz\n{wanted}  ./a.tar.gz\n{other} *a.tar.gz.asc\n");
        let binary = format!("{wanted} *a.tar.gz\n");
        let path = format!("{wanted}  /build/out/a.tar.gz");
        let alone = format!("{wanted}\n");
        for text in [listed, binary, path, alone] {
            assert_eq!(find(&text, "a.tar.gz").map(|found| found.digits()), Some(wanted.clone()), "{text}");
        }
        let page = format!("<td>(a.tar.gz)</td>\n<td>MD5: <code class=\"md5\">{MD5}</code> |</td>");
        assert_eq!(find(&page, "a.tar.gz").map(|found| found.digits()), Some(MD5.to_owned()));
    }

    #[test]
    fn the_checksum_of_another_file_is_not_taken() {
        let other = "cd".repeat(32);
        for text in [
            format!("{other}  b.tar.gz\n"),
            format!("{other}  a.tar.gz.asc\n"),
            format!("<p>{other}</p>\n<p>more</p>"),
            String::new(),
        ] {
            assert_eq!(find(&text, "a.tar.gz"), None, "{text}");
        }
    }
}
