//! What client and server send each other: logins, encryption, compression, values and results.

mod big;
mod compression;
mod logins;
mod metadata;
mod results;
mod tls;
mod trust;
mod types;

use dyno_engine::testing::Trial;

pub(crate) fn tests() -> Vec<Trial> {
    let tests = [
        big::tests(),
        logins::tests(),
        tls::tests(),
        trust::tests(),
        compression::tests(),
        metadata::tests(),
        types::tests(),
        results::tests(),
    ];
    tests.into_iter().flatten().collect()
}
