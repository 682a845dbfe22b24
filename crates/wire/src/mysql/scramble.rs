//! The formulas by which a password is proved without being sent.

use ed25519_dalek::VerifyingKey;
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use rsa::pkcs8::DecodePublicKey;
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::reader::malformed;
use crate::error::ProtocolError;

/// `mysql_native_password`: `SHA1(p) XOR SHA1(nonce + SHA1(SHA1(p)))`; nothing for an empty password.
pub(super) fn native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    use sha1::Digest as _; // of another release than the one above

    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let proof = Sha1::new().chain_update(nonce).chain_update(Sha1::digest(once)).finalize();
    xor(&once, &proof)
}

/// `caching_sha2_password`: `SHA256(p) XOR SHA256(SHA256(SHA256(p)) + nonce)`; nothing for an empty password.
pub(super) fn caching_sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha256::digest(password);
    let proof =
        Sha256::new().chain_update(Sha256::digest(Sha256::digest(once))).chain_update(nonce).finalize();
    xor(&once, &proof)
}

/// `client_ed25519` of MariaDB: a signature over the nonce.
///
/// It is the signature of RFC 8032 (5.1.6), but for the secret: there the hash of 32 random bytes gives the scalar
/// and the prefix, here the hash of the password does, however long that is.
pub(super) fn ed25519(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let secret = ExpandedSecretKey::from_bytes(&Sha512::digest(password).into());
    raw_sign::<Sha512>(&secret, nonce, &VerifyingKey::from(&secret)).to_bytes().to_vec()
}

/// The full exchange of `caching_sha2_password` and `sha256_password` without TLS: the password and its NUL, crossed
/// (XOR) with the nonce, encrypted (RSA, OAEP with SHA-1) for the public key that the server sent in PEM.
///
/// The key is not authenticated, so this hides the password from listeners, not from an impostor. The timing
/// attack known as Marvin (RUSTSEC-2023-0071) is on private-key operations of the `rsa` crate; none is done here.
pub(super) fn encrypt(
    password: &[u8],
    nonce: &[u8],
    public_key_pem: &[u8],
) -> Result<Vec<u8>, ProtocolError> {
    let key = std::str::from_utf8(public_key_pem)
        .ok()
        .and_then(|pem| RsaPublicKey::from_public_key_pem(pem).ok())
        .ok_or_else(|| malformed("authentication", "no RSA public key where one was asked for"))?;
    let secret: Vec<u8> =
        [password, &[0]].concat().iter().zip(nonce.iter().cycle()).map(|(a, b)| a ^ b).collect();
    key.encrypt(&mut OsRng, Oaep::new::<Sha1>(), &secret).map_err(|error| {
        malformed("authentication", format!("its RSA key does not fit the password: {error}"))
    })
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}
