//! The login, from the first byte to the first `ReadyForQuery` ("Start-up" in the PostgreSQL manual's protocol
//! chapter).

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};

use super::backend::{Reader, Report};
use super::frontend;
use super::inbox::{self, Message};
use super::link::Link;
use crate::outbox::Outbox;
use crate::{Event, Login, PgsqlMethod, ProtocolError, TlsMode};

/// Tags that a server may send until it is ready: authentication, parameters, notices and errors.
const LOGIN_TAGS: &[u8] = b"AEKNRSZv";

/// Largest message of a login, in bytes. Messages of real servers have some hundred bytes.
const LOGIN_LIMIT_BYTES: usize = 1 << 20;

/// State of a login. It is dropped with the password when the login is complete.
pub(super) struct Handshake {
    login: Login,
    step: Step,
}

enum Step {
    /// The client has requested TLS. The answer is one byte.
    TlsAsked,
    /// The transport is starting TLS.
    TlsStarting,
    /// The client waits for the server's authentication request.
    Started,
    /// A SCRAM exchange is in progress, in which the server also proves that it knows the password.
    Scram(Box<ScramSha256>),
    /// The client has sent everything that the server requested.
    Answered,
    /// The login is accepted. The server sends parameters until it is ready.
    Accepted,
}

impl Handshake {
    /// Writes the first message. PostgreSQL does not encrypt unix sockets, so TLS is requested there only if the
    /// login requires it.
    pub(super) fn start(login: Login, outbox: &mut Outbox) -> Handshake {
        let ask_tls = match login.tls {
            TlsMode::Disabled => false,
            TlsMode::Preferred => !login.local,
            TlsMode::Required => true,
        };
        let step = if ask_tls {
            frontend::ssl_request(outbox.end());
            Step::TlsAsked
        } else {
            frontend::startup(outbox.end(), &login);
            Step::Started
        };
        Handshake { login, step }
    }

    /// Continues the login over TLS.
    pub(super) fn tls_established(&mut self, outbox: &mut Outbox) {
        self.start_up(outbox);
    }

    fn start_up(&mut self, outbox: &mut Outbox) {
        frontend::startup(outbox.end(), &self.login);
        self.step = Step::Started;
    }

    /// Parses up to the next event. [`Event::Ready`] or [`Event::Failed`] is the last one.
    pub(super) fn advance(&mut self, link: &mut Link) -> Result<Event, ProtocolError> {
        match self.step {
            Step::TlsAsked => self.read_tls_answer(link),
            Step::TlsStarting => Ok(Event::NeedInput),
            _ => self.read_messages(link),
        }
    }

    fn read_tls_answer(&mut self, link: &mut Link) -> Result<Event, ProtocolError> {
        match link.inbox.unparsed().first() {
            None => Ok(Event::NeedInput),
            Some(b'S') => {
                link.inbox.take_byte();
                // An attacker could add unencrypted bytes after the answer. These bytes would look as if they had
                // come over TLS.
                if !link.inbox.unparsed().is_empty() {
                    return Err(malformed("answer to the TLS request", "more bytes follow it in clear"));
                }
                self.step = Step::TlsStarting;
                Ok(Event::StartTls)
            }
            Some(b'N') if self.login.tls == TlsMode::Required => Err(ProtocolError::TlsUnavailable),
            Some(b'N') => {
                link.inbox.take_byte();
                self.start_up(&mut link.outbox);
                self.read_messages(link)
            }
            // The answer is an ErrorResponse, or it is invalid.
            Some(_) => self.read_messages(link),
        }
    }

    fn read_messages(&mut self, link: &mut Link) -> Result<Event, ProtocolError> {
        loop {
            check_begin(link.inbox.unparsed())?;
            let Some(message) = link.inbox.peek()? else { return Ok(Event::NeedInput) };
            link.inbox.take(message);
            let body = link.inbox.body(message);
            match (message.tag, &self.step) {
                (b'E', _) => return Ok(Event::Failed(Report(body).server_error())),
                (b'Z', Step::Accepted) => return Ok(Event::Ready),
                // The message contains a key for cancelling queries. This client never cancels queries.
                (b'K', Step::Accepted) => {}
                (b'R', Step::Started | Step::Scram(_) | Step::Answered) => {
                    self.authenticate(message, link)?;
                }
                _ => link.take_unasked(message)?,
            }
            link.inbox.forget_parsed();
        }
    }

    /// Answers one Authentication message.
    fn authenticate(&mut self, message: Message, link: &mut Link) -> Result<(), ProtocolError> {
        const WHAT: &str = "authentication request";
        let mut request = Reader(link.inbox.body(message));
        let kind = request.i32().ok_or_else(|| malformed(WHAT, "it ends too early"))?;
        if let Step::Started = self.step {
            self.check_method(kind)?;
        }
        let Login { user, password, .. } = &self.login;
        let out = link.outbox.end();
        self.step = match (&mut self.step, kind) {
            (Step::Started | Step::Answered, 0) => Step::Accepted,
            (Step::Started, 3) => {
                frontend::password(out, password.as_bytes());
                Step::Answered
            }
            (Step::Started, 5) => {
                let salt = request.0.try_into().map_err(|_| malformed(WHAT, "the salt is not 4 bytes"))?;
                frontend::password(out, md5_hash(user.as_bytes(), password.as_bytes(), salt).as_bytes());
                Step::Answered
            }
            (Step::Started, 10) => {
                require_scram(request.0)?;
                // Channel binding needs the server's certificate, which only the transport has. Without channel
                // binding, TLS is as safe as with libpq's default, which does not require channel binding either.
                let scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
                frontend::sasl_initial_response(out, SCRAM_SHA_256, scram.message());
                Step::Scram(Box::new(scram))
            }
            (Step::Scram(scram), 11) => {
                scram.update(request.0).map_err(|error| scram_failed(&error))?;
                frontend::sasl_response(out, scram.message());
                return Ok(());
            }
            (Step::Scram(scram), 12) => {
                scram.finish(request.0).map_err(|error| scram_failed(&error))?;
                Step::Answered
            }
            (Step::Started, kind) => return Err(ProtocolError::UnknownAuthentication(method_name(kind))),
            (_, kind) => return Err(malformed(WHAT, format!("{} is out of order", method_name(kind)))),
        };
        Ok(())
    }

    /// Refuses a method that the login does not permit. An impostor could read a password in clear text. Such a
    /// password is therefore sent only if the server is known, or if the login permits this method by name.
    fn check_method(&self, kind: i32) -> Result<(), ProtocolError> {
        let (method, used) = match kind {
            0 => (PgsqlMethod::None, "none"),
            3 => (PgsqlMethod::Password, "password"),
            5 => (PgsqlMethod::Md5, "md5"),
            10 => (PgsqlMethod::ScramSha256, "scram-sha-256"),
            _ => return Ok(()),
        };
        let required = &self.login.trust.methods;
        if !required.is_empty() && !required.contains(&method) {
            return Err(ProtocolError::OtherMethod { used });
        }
        let gives_password = method == PgsqlMethod::Password && !self.login.password.is_empty();
        if gives_password && required.is_empty() && !self.login.is_known() {
            let (verify, allow) = ("verify-ca", "require_auth=password");
            return Err(ProtocolError::ClearPassword { verify, allow });
        }
        Ok(())
    }
}

/// Refuses a message by its first bytes, because a server of another protocol would never send the rest.
fn check_begin(unparsed: &[u8]) -> Result<(), ProtocolError> {
    let Some(tag) = unparsed.first() else { return Ok(()) };
    if !LOGIN_TAGS.contains(tag) {
        return Err(malformed("message", format!("'{}' has no place in a login", tag.escape_ascii())));
    }
    match inbox::announced_bytes(unparsed) {
        Some(bytes) if bytes > LOGIN_LIMIT_BYTES => {
            Err(ProtocolError::TooLarge { what: "message", limit_bytes: LOGIN_LIMIT_BYTES })
        }
        _ => Ok(()),
    }
}

/// Checks that the server offers SCRAM-SHA-256.
fn require_scram(offer: &[u8]) -> Result<(), ProtocolError> {
    /// Largest number of mechanisms that the error names. Real servers offer one or two.
    const NAMED: usize = 8;
    let mechanisms = offer.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    if mechanisms.clone().any(|name| name == SCRAM_SHA_256.as_bytes()) {
        return Ok(());
    }
    let names: Vec<_> = mechanisms.take(NAMED).map(String::from_utf8_lossy).collect();
    Err(ProtocolError::UnknownAuthentication(format!("SASL {}", names.join(", "))))
}

/// Name of an authentication method, in the manual's terms.
fn method_name(kind: i32) -> String {
    match kind {
        0 => "AuthenticationOk".into(),
        2 => "Kerberos V5".into(),
        3 => "password".into(),
        5 => "md5".into(),
        6 => "SCM credentials".into(),
        7 | 8 => "GSSAPI".into(),
        9 => "SSPI".into(),
        10 => "SASL".into(),
        11 | 12 => "SASL continuation".into(),
        other => format!("number {other}"),
    }
}

fn malformed(what: &'static str, detail: impl Into<String>) -> ProtocolError {
    ProtocolError::Malformed { what, detail: detail.into() }
}

fn scram_failed(error: &std::io::Error) -> ProtocolError {
    malformed("SCRAM message", error.to_string())
}
