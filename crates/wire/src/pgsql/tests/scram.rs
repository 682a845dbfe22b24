//! Server side of SCRAM-SHA-256 (RFC 5802, RFC 7677), which checks the client's side.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

pub(super) const SALT: &str = "W22ZaJ0SNY7soEsUEjb6gQ==";
pub(super) const ITERATIONS: u32 = 4096;

/// The client's proof and the server's signature, in base64. They are computed from the password `pencil` and the
/// messages in `exchange`.
pub(super) fn proof_and_signature(exchange: &str) -> (String, String) {
    let salt = STANDARD.decode(SALT).unwrap();
    let salted = pbkdf2::pbkdf2_hmac_array::<Sha256, 32>(b"pencil", &salt, ITERATIONS);
    let client_key = hmac(&salted, b"Client Key");
    let mut proof = hmac(&Sha256::digest(client_key), exchange.as_bytes());
    for (byte, key) in proof.iter_mut().zip(client_key) {
        *byte ^= key;
    }
    let signature = hmac(&hmac(&salted, b"Server Key"), exchange.as_bytes());
    (STANDARD.encode(proof), STANDARD.encode(signature))
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(text).finalize().into_bytes().into()
}

#[test]
fn agrees_with_the_example_of_rfc_7677() {
    let exchange = "n=user,r=rOprNGfwEbeRWgbNEkqO,\
        r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,\
        c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
    let (proof, signature) = proof_and_signature(exchange);
    assert_eq!(proof, "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
    assert_eq!(signature, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}
