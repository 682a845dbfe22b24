//! Logins to a fake MySQL server.

use dyno_load::TlsMode;

use super::tls::greet_over_tls;
use super::{LOST, NOT_SHOWN, SEQUENCE, greet};
use crate::behaviours::Behaviour;
use crate::behaviours::Outcome::{Fails, IsEndless, IsLate};
use crate::mysql::{SSL, error, greeting, greeting_of, more_data, ok, packet, switch_to};

/// The public key of an impostor, in the form in which `caching_sha2_password` sends it.
const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAvUikRlQRLvnUd1SMNy1+
Tm3u+HBT6XmjyuG8xImC0hpRMH5MaREX8gNLcQI4Xw6zadSAx5M2I40EG7vMHRE6
xBFTQl0MXc8DOrUuivZyZdv0Ys68ePLWnr3vk4iwuYyU6XSzwj9K1flSprrczXkL
/LKNzpy+Rrvk2IdwWXYovBMugKJ2Ld5W6oOUEJYAZl/x2ZBGPM146EXp/kkwGltH
hPySp8Txud5sLrzs4SWbme6nuddAqdnw7FKEl6oDy1OwQoVVv6IGmvWIkF/ppCdf
U3zx0CidZpGG7jBpGMnI95gWArHH6a5sFw+Ag3hLsn9r6xWxImYOv8tq/aMFmgO+
vQIDAQAB
-----END PUBLIC KEY-----
";

/// Logins that never succeed.
pub(super) fn logins() -> Vec<Behaviour> {
    vec![
        Behaviour::new("is silent after the client's answer", IsLate, |mut peer| {
            greet(&mut peer);
            peer.stay();
        }),
        Behaviour::new("closes after the client's answer", Fails(LOST), |mut peer| greet(&mut peer)),
        Behaviour::new("denies access", Fails("Access denied"), |mut peer| {
            greet(&mut peer);
            peer.say(error(2, 1045, "Access denied for user 'dyno'"));
        }),
        Behaviour::new("asks for an unknown plugin", Fails("'quantum_entanglement'"), |mut peer| {
            greet(&mut peer);
            peer.say(switch_to(2, "quantum_entanglement"));
            peer.stay();
        }),
        Behaviour::new("asks for the hash of MySQL 4.0", Fails("'mysql_old_password'"), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b"\xfe"));
            peer.stay();
        }),
        Behaviour::new("asks for another plugin without end", IsEndless, |mut peer| {
            greet(&mut peer);
            let mut number = 2_u8;
            while peer.say(switch_to(number, "mysql_native_password")) && peer.hear() {
                number = number.wrapping_add(2);
            }
        }),
        Behaviour::new("asks with an empty nonce, then closes", Fails(LOST), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b"\xfecaching_sha2_password\0"));
            peer.hear();
        }),
        Behaviour::new("knows the password and does not say so", IsLate, |mut peer| {
            greet(&mut peer);
            peer.say(switch_to(2, "caching_sha2_password"));
            peer.hear();
            peer.say(more_data(4, &[3]));
            peer.stay();
        }),
    ]
}

/// Logins that end with an invalid message.
pub(super) fn ends_of_logins() -> Vec<Behaviour> {
    vec![
        Behaviour::new(
            "has more to say about a hash",
            Fails("unexpected data for mysql_native"),
            |mut peer| {
                greet(&mut peer);
                peer.say(more_data(2, b"more"));
                peer.stay();
            },
        ),
        Behaviour::new("lets in with half an OK", Fails("malformed OK packet"), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b"\0\0"));
            peer.stay();
        }),
        Behaviour::new("lets in a byte at a time", IsLate, |mut peer| {
            greet(&mut peer);
            peer.dribble(packet(2, &[&[0, 0, 0, 2, 0, 0, 0][..], &[b' '; 200]].concat()));
        }),
        Behaviour::new("lets in by another number", Fails(SEQUENCE), |mut peer| {
            greet(&mut peer);
            peer.say(ok(9));
            peer.stay();
        }),
        Behaviour::new("answers a login with rows", Fails("malformed authentication"), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b"\x55rows"));
            peer.stay();
        }),
        Behaviour::new("answers a login with nothing", Fails("malformed authentication"), |mut peer| {
            greet(&mut peer);
            peer.say(packet(2, b""));
            peer.stay();
        }),
        Behaviour::new(
            "answers a login without end",
            Fails("larger than the limit of 1048576"),
            |mut peer| {
                greet(&mut peer);
                peer.say(b"\xff\xff\xff\x02\0");
                while peer.say([0; 4096]) {}
            },
        ),
        Behaviour::new("greets twice", Fails(SEQUENCE), |mut peer| {
            peer.say([greeting(false), greeting(false)].concat());
            peer.stay();
        }),
    ]
}

/// Servers that ask for the password itself.
pub(super) fn thieves() -> Vec<Behaviour> {
    vec![
        Behaviour::new("asks for the password in clear text", Fails(NOT_SHOWN), |mut peer| {
            greet(&mut peer);
            peer.say(switch_to(2, "mysql_clear_password"));
            peer.stay();
        }),
        Behaviour::new("has clear text for its default", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("mysql_clear_password", 0));
            peer.stay();
        }),
        Behaviour::new("forgets the password and sends its key", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("caching_sha2_password", 0));
            peer.hear();
            peer.say([more_data(2, &[4]), more_data(4, KEY.as_bytes())].concat());
            peer.stay();
        }),
        Behaviour::new("sends its key unasked", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("caching_sha2_password", 0));
            peer.hear();
            peer.say(more_data(2, KEY.as_bytes()));
            peer.stay();
        }),
        Behaviour::new("asks for sha256_password", Fails(NOT_SHOWN), |mut peer| {
            greet(&mut peer);
            peer.say(switch_to(2, "sha256_password"));
            peer.stay();
        }),
        Behaviour::new("has sha256_password for its default", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("sha256_password", 0));
            peer.stay();
        }),
        Behaviour::with_tls("asks for clear text over TLS", Fails(NOT_SHOWN), |mut peer| {
            greet_over_tls(&mut peer, "mysql_native_password");
            peer.say(switch_to(3, "mysql_clear_password"));
            peer.stay();
        }),
        Behaviour::with_tls("forgets the password over TLS", Fails(NOT_SHOWN), |mut peer| {
            greet_over_tls(&mut peer, "caching_sha2_password");
            peer.say(more_data(3, &[4]));
            peer.stay();
        }),
        Behaviour::with_tls("asks for sha256_password over TLS", Fails(NOT_SHOWN), |mut peer| {
            greet_over_tls(&mut peer, "mysql_native_password");
            peer.say(switch_to(3, "sha256_password"));
            peer.stay();
        }),
        Behaviour::with_tls("has sha256_password for its default, and TLS", Fails(NOT_SHOWN), |mut peer| {
            peer.say(greeting_of("sha256_password", SSL));
            peer.stay();
        }),
        Behaviour {
            tls: TlsMode::Preferred,
            ..Behaviour::new("has no TLS, which was only preferred", Fails(NOT_SHOWN), |mut peer| {
                peer.say(greeting_of("caching_sha2_password", 0));
                peer.hear();
                peer.say(more_data(2, &[4]));
                peer.stay();
            })
        },
    ]
}
