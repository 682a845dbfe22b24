//! Formulas that prove knowledge of a password without sending it.

use ed25519_dalek::VerifyingKey;
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use rsa::pkcs8::DecodePublicKey;
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use crate::error::ProtocolError;
use crate::mysql::framing::reader::malformed;

/// `mysql_native_password`: `SHA1(p) XOR SHA1(nonce + SHA1(SHA1(p)))`; empty for an empty password.
pub(in crate::mysql) fn native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    use sha1::Digest as _; // a different release of the crate than the import above

    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let proof = Sha1::new().chain_update(nonce).chain_update(Sha1::digest(once)).finalize();
    xor(&once, &proof)
}

/// `caching_sha2_password`: `SHA256(p) XOR SHA256(SHA256(SHA256(p)) + nonce)`; empty for an empty password.
pub(in crate::mysql) fn caching_sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha256::digest(password);
    let proof = Sha256::new().chain_update(Sha256::digest(once)).chain_update(nonce).finalize();
    xor(&once, &proof)
}

/// `client_ed25519` of MariaDB: a signature of the nonce.
///
/// The signature follows RFC 8032 (5.1.6), with one exception. The RFC derives the scalar and the prefix from the hash
/// of 32 random bytes, but MariaDB derives them from the hash of the password, which may have any length.
pub(in crate::mysql) fn ed25519(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let secret = ExpandedSecretKey::from_bytes(&Sha512::digest(password).into());
    raw_sign::<Sha512>(&secret, nonce, &VerifyingKey::from(&secret)).to_bytes().to_vec()
}

/// Full authentication of `caching_sha2_password` and `sha256_password` without TLS. The password and its NUL are
/// combined with the nonce (XOR). The result is encrypted (RSA, OAEP with SHA-1) with the server's public key,
/// which is given in PEM.
///
/// A key that the server itself sent protects the password from listeners, but not from an impostor. The Marvin
/// timing attack (RUSTSEC-2023-0071) concerns private-key operations of the `rsa` crate, which are not used here.
pub(in crate::mysql) fn encrypt(
    password: &[u8],
    nonce: &[u8],
    public_key_pem: &[u8],
) -> Result<Vec<u8>, ProtocolError> {
    let key = public_key(public_key_pem)
        .ok_or_else(|| malformed("authentication", "no RSA public key where one was asked for"))?;
    let secret: Vec<u8> =
        [password, &[0]].concat().iter().zip(nonce.iter().cycle()).map(|(a, b)| a ^ b).collect();
    key.encrypt(&mut OsRng, Oaep::new::<Sha1>(), &secret).map_err(|error| {
        malformed("authentication", format!("its RSA key does not fit the password: {error}"))
    })
}

/// The RSA key in a text in PEM. MySQL's file `public_key.pem` has a NUL after the text.
pub(in crate::mysql) fn public_key(pem: &[u8]) -> Option<RsaPublicKey> {
    let pem = std::str::from_utf8(pem).ok()?;
    RsaPublicKey::from_public_key_pem(pem.trim_end_matches('\0')).ok()
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }

    /// The login is from the tests of Go's driver for MySQL.
    #[test]
    fn native_of_a_known_login() {
        let nonce = [70, 114, 92, 94, 1, 38, 11, 116, 63, 114, 23, 101, 126, 103, 26, 95, 81, 17, 24, 21];
        assert_eq!(hex(&native(b"secret", &nonce)), "35b18c9ffbbd7f356dfcac32d3c0f0a41a30cf2d");
    }

    /// The logins are from the tests of Go's driver for MySQL.
    #[test]
    fn caching_sha2_of_known_logins() {
        let nonce = [10, 47, 74, 111, 75, 73, 34, 48, 88, 76, 114, 74, 37, 13, 3, 80, 82, 2, 23, 21];
        for (password, expected) in [
            ("secret", "f490e76f66d9d86665ce54d98c78d0acfe2fb0b08b423da807144873d30b312c"),
            ("secret2", "abc3934a012cf342e876071c8ee202de51785b430258a7a0138bc79c4d800bc6"),
        ] {
            assert_eq!(hex(&caching_sha2(password.as_bytes(), &nonce)), expected);
        }
    }

    /// The signature is from MariaDB's test of the plugin.
    #[test]
    fn ed25519_of_a_known_login() {
        let signature = hex(&ed25519(b"foobar", &[b'A'; 32]));
        assert_eq!(signature[..64], *"e83dc93f433f33355649ee23aa7592d61a1123090884f58d3063423a24e43054");
        assert_eq!(signature[64..], *"73febba858a2f93923554feea76a44753887ab2f140e854f0fe57ca0b0648a0e");
    }

    #[test]
    fn an_empty_password_proves_nothing() {
        for scramble in [native, caching_sha2, ed25519] {
            assert!(scramble(b"", &[b'A'; 32]).is_empty());
        }
    }
}
