//! Tests of the server side.

use diligence_wire::hex;
use diligence_wire::sasl::line::LINE_LEN_MAX;
use diligence_wire::sasl::server::{
    AuthenticatedIdentity, COMMANDS_MAX, Rejection, SaslServer, ServerProgress, Violation,
};
use diligence_wire::sasl::{FdPassing, Mechanism, Mechanisms, ServerConfig};

use super::{GUID_TEXT, NOW, TestSystem, check_lines, cuts, side, tcp_server, unix_server};

/// The outcome, and the number of consumed bytes.
type ServedHandshake = (Result<Option<(AuthenticatedIdentity, FdPassing)>, Violation>, usize);

fn serve<'c>(
    config: &ServerConfig,
    chunks: impl IntoIterator<Item = &'c [u8]>,
    out: &mut Vec<u8>,
) -> ServedHandshake {
    let mut server = SaslServer::new(config.clone());
    let mut consumed_len = 0;
    for chunk in chunks {
        match server.receive(chunk, NOW, &mut TestSystem, out) {
            Ok(ServerProgress::NeedMore) => consumed_len += chunk.len(),
            Ok(ServerProgress::Done { consumed, identity, fds }) => {
                return (Ok(Some((identity, fds))), consumed_len + consumed);
            }
            Err(violation) => return (Err(violation), 0),
        }
    }
    (Ok(None), consumed_len)
}

#[track_caller]
fn check_server(
    config: &ServerConfig,
    transcript: &str,
    end: Result<Option<(AuthenticatedIdentity, FdPassing)>, Violation>,
) {
    let lines = side(transcript, "C").map(|line| line + "\r\n").collect::<String>();
    let bytes = [b"\0", lines.as_bytes()].concat();
    let expected = (end, if end.is_ok() { bytes.len() } else { 0 });
    for chunks in cuts(&bytes) {
        let mut out = Vec::new();
        assert_eq!(serve(config, chunks, &mut out), expected, "{transcript}");
        check_lines(side(transcript, "S"), &out, transcript);
    }
}

fn accepted(uid: u32) -> Result<Option<(AuthenticatedIdentity, FdPassing)>, Violation> {
    Ok(Some((AuthenticatedIdentity::Uid(uid), FdPassing::Off)))
}

#[test]
fn servers_accept_the_user_of_the_socket() {
    let start = "C: AUTH EXTERNAL 31303030\nS: OK GUID\n";
    check_server(&unix_server(), &format!("{start}C: BEGIN"), accepted(1000));
    check_server(
        &unix_server(),
        &format!("{start}C: NEGOTIATE_UNIX_FD\nS: AGREE_UNIX_FD"),
        Ok(None),
    );
    check_server(
        &unix_server(),
        &format!("{start}C: NEGOTIATE_UNIX_FD\nS: AGREE_UNIX_FD\nC: BEGIN"),
        Ok(Some((AuthenticatedIdentity::Uid(1000), FdPassing::Agreed))),
    );
}

#[test]
fn servers_ask_for_a_missing_identity() {
    check_server(
        &unix_server(),
        "C: AUTH EXTERNAL\nS: DATA\nC: DATA\nS: OK GUID\nC: BEGIN",
        accepted(1000),
    );
    check_server(
        &unix_server(),
        "C: AUTH EXTERNAL\nS: DATA\nC: DATA 31303030\nS: OK GUID\nC: BEGIN",
        accepted(1000),
    );
    check_server(
        &unix_server(),
        "C: AUTH EXTERNAL
         S: DATA
         C: DATA 31303031
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS",
        Ok(None),
    );
}

#[test]
fn servers_reject_other_identities() {
    // Another user, a login name, a number that is too large, and numbers with a sign or other
    // characters.
    for identity in ["1001", "user", "4294968296", "+1000", "-1", "1000\0", " 1000"] {
        let identity = hex::encode(identity.as_bytes());
        let transcript = format!(
            "C: AUTH EXTERNAL {identity}
             S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS"
        );
        check_server(&unix_server(), &transcript, Ok(None));
    }
    check_server(
        &tcp_server(),
        "C: AUTH EXTERNAL 31303030
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS
         C: AUTH EXTERNAL
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS",
        Ok(None),
    );
}

/// The client is in a user namespace in which 0 stands for its user, and 1 for another one.
#[test]
fn servers_accept_the_user_of_the_socket_by_its_id_in_the_namespace_of_the_client() {
    check_server(
        &unix_server(),
        "C: AUTH EXTERNAL 31
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS
         C: AUTH EXTERNAL 30
         S: OK GUID
         C: BEGIN",
        accepted(1000),
    );
    let rejected = "C: AUTH EXTERNAL 30
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS";
    check_server(&tcp_server(), rejected, Ok(None));
}

#[test]
fn servers_list_their_mechanisms() {
    let mechanisms = Mechanisms::NONE.with(Mechanism::Anonymous).with(Mechanism::External);
    check_server(
        &ServerConfig { mechanisms, ..unix_server() },
        "C: AUTH
         S: REJECTED EXTERNAL ANONYMOUS
         C: AUTH KERBEROS_V4 not+hexadecimal==
         S: REJECTED EXTERNAL ANONYMOUS
         C: AUTH DBUS_COOKIE_SHA1 31303030
         S: REJECTED EXTERNAL ANONYMOUS
         C: AUTH external 31303030
         S: REJECTED EXTERNAL ANONYMOUS",
        Ok(None),
    );
    check_server(
        &ServerConfig { mechanisms: Mechanisms::NONE, ..unix_server() },
        "C: AUTH\nS: REJECTED",
        Ok(None),
    );
}

#[test]
fn servers_accept_anonymous_clients_if_configured() {
    let anonymous = Ok(Some((AuthenticatedIdentity::Anonymous, FdPassing::Off)));
    check_server(&tcp_server(), "C: AUTH ANONYMOUS\nS: OK GUID\nC: BEGIN", anonymous);
    check_server(&tcp_server(), "C: AUTH ANONYMOUS 747261\nS: OK GUID\nC: BEGIN", anonymous);
    check_server(
        &tcp_server(),
        "C: AUTH ANONYMOUS ff
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS
         C: AUTH ANONYMOUS 7
         S: ERROR",
        Ok(None),
    );
    check_server(
        &tcp_server(),
        "C: AUTH ANONYMOUS\nS: OK GUID\nC: NEGOTIATE_UNIX_FD\nS: ERROR\nC: BEGIN",
        anonymous,
    );
}

#[test]
fn servers_request_proof_of_a_cookie() {
    let challenge =
        hex::encode(format!("org_freedesktop_general 5 {}", "aa".repeat(16)).as_bytes());
    // SHA-1 of "aa…:client:c0ffee".
    let proof = hex::encode(b"client 5edf06b07d64d605ca83291f3d5c3f58cb237f9d");
    for user in ["user", "1000"] {
        let user = hex::encode(user.as_bytes());
        check_server(
            &tcp_server(),
            &format!(
                "C: AUTH DBUS_COOKIE_SHA1 {user}
                 S: DATA {challenge}
                 C: DATA {proof}
                 S: OK GUID
                 C: BEGIN"
            ),
            accepted(1000),
        );
    }
    let wrong = hex::encode(b"client 5EDF06B07D64D605CA83291F3D5C3F58CB237F9D");
    for answer in [&wrong, "616263", ""] {
        check_server(
            &tcp_server(),
            &format!(
                "C: AUTH DBUS_COOKIE_SHA1 31303030
                 S: DATA {challenge}
                 C: DATA {answer}
                 S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS"
            ),
            Ok(None),
        );
    }
    for user in ["nobody", "1001", "\u{e9}"] {
        check_server(
            &tcp_server(),
            &format!(
                "C: AUTH DBUS_COOKIE_SHA1 {}
                 S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS
                 C: AUTH DBUS_COOKIE_SHA1
                 S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS",
                hex::encode(user.as_bytes())
            ),
            Ok(None),
        );
    }
}

#[test]
fn servers_answer_unexpected_lines_with_errors() {
    check_server(
        &unix_server(),
        "C: NONEXISTENT_COMMAND foo bar
         S: ERROR
         C:
         S: ERROR
         C: auth
         S: ERROR
         C: DATA 00
         S: ERROR
         C: CANCEL
         S: ERROR
         C: NEGOTIATE_UNIX_FD
         S: ERROR
         C: AUTH EXTERNAL willy
         S: ERROR
         C: AUTH EXTERNAL
         S: DATA
         C: FOO
         S: ERROR
         C: AUTH
         S: ERROR
         C: AUTH EXTERNAL 31303030
         S: ERROR
         C: NEGOTIATE_UNIX_FD
         S: ERROR
         C: DATA 3
         S: ERROR
         C: DATA 31303030
         S: OK GUID
         C: AUTH EXTERNAL 31303030
         S: ERROR
         C: DATA
         S: ERROR
         C: EXTENSION_COM_EXAMPLE
         S: ERROR
         C: NEGOTIATE_UNIX_FD
         S: AGREE_UNIX_FD
         C: NEGOTIATE_UNIX_FD
         S: AGREE_UNIX_FD
         C: BEGIN",
        Ok(Some((AuthenticatedIdentity::Uid(1000), FdPassing::Agreed))),
    );
}

#[test]
fn clients_can_cancel_until_begin() {
    check_server(
        &unix_server(),
        "C: AUTH EXTERNAL
         S: DATA
         C: CANCEL
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS
         C: AUTH EXTERNAL
         S: DATA
         C: ERROR what?
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS
         C: AUTH EXTERNAL 31303030
         S: OK GUID
         C: NEGOTIATE_UNIX_FD
         S: AGREE_UNIX_FD
         C: CANCEL
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS
         C: AUTH ANONYMOUS
         S: OK GUID
         C: ERROR
         S: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS
         C: AUTH EXTERNAL 31303030
         S: OK GUID
         C: BEGIN",
        accepted(1000),
    );
}

#[test]
fn the_sixth_rejection_ends_the_connection() {
    let round = "C: AUTH\nS: REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS\n";
    check_server(&unix_server(), &round.repeat(5), Ok(None));
    let end = Err(Violation::TooManyRejections { at: 1 + 5 * 6 });
    check_server(&unix_server(), &round.repeat(6), end);
}

#[test]
fn rejections_distinguish_unoffered_mechanisms_from_bad_credentials() {
    let all = unix_server();
    let anonymous =
        ServerConfig { mechanisms: Mechanisms::NONE.with(Mechanism::Anonymous), ..unix_server() };
    for (config, lines, expected) in [
        (&anonymous, "AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n", Some(Rejection::NotOffered)),
        (&anonymous, "AUTH EXTERNAL\r\nAUTH ANONYMOUS ff\r\n", Some(Rejection::NotAccepted)),
        (&anonymous, "AUTH ANONYMOUS\r\nBEGIN\r\n", None),
        (&all, "AUTH EXTERNAL 37\r\nBEGIN\r\n", Some(Rejection::NotAccepted)),
        (&all, "AUTH EXTERNAL\r\nBEGIN\r\n", None),
        (&all, "BEGIN\r\n", None),
    ] {
        let mut server = SaslServer::new(config.clone());
        let bytes = [b"\0", lines.as_bytes()].concat();
        let _ = server.receive(&bytes, NOW, &mut TestSystem, &mut Vec::new());
        assert_eq!(server.rejection(), expected, "{lines:?}");
    }
}

#[test]
fn begin_before_ok_ends_the_connection() {
    check_server(&unix_server(), "C: BEGIN", Err(Violation::BeginBeforeOk { at: 1 }));
    check_server(
        &unix_server(),
        "C: AUTH EXTERNAL\nS: DATA\nC: BEGIN",
        Err(Violation::BeginBeforeOk { at: 16 }),
    );
}

#[track_caller]
fn check_bytes(bytes: &[u8], answers: &[&str], end: Result<Option<usize>, Violation>) {
    for chunks in [vec![bytes], bytes.chunks(1).collect()] {
        let mut out = Vec::new();
        let (outcome, taken) = serve(&unix_server(), chunks, &mut out);
        assert_eq!(outcome.map(|done| done.map(|_| taken)), end);
        check_lines(answers.iter().map(|line| line.replace("GUID", GUID_TEXT)), &out, "");
    }
}

#[test]
fn servers_leave_message_bytes_unconsumed() {
    let login = b"\0AUTH EXTERNAL 31303030\r\nBEGIN\r\n";
    let stream = [login, b"l\x01\r\n BEGIN\r\n".as_slice()].concat();
    check_bytes(&stream, &["OK GUID"], Ok(Some(login.len())));

    let mut server = SaslServer::new(unix_server());
    let mut out = Vec::new();
    let done = server.receive(login, NOW, &mut TestSystem, &mut out);
    let again = server.receive(b"\0AUTH\r\n", NOW, &mut TestSystem, &mut out);
    let fds = FdPassing::Off;
    let identity = AuthenticatedIdentity::Uid(1000);
    assert_eq!(done, Ok(ServerProgress::Done { consumed: login.len(), identity, fds }));
    assert_eq!(again, Ok(ServerProgress::Done { consumed: 0, identity, fds }));
}

#[test]
fn malformed_lines_are_answered_with_errors() {
    let rejected = "REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS";
    check_bytes(b"", &[], Ok(None));
    check_bytes(b"AUTH\r\n", &[], Err(Violation::MissingNul { found: b'A' }));
    check_bytes(b"\0AUTH \xc3\xa9\r\nAUTH\r\n", &["ERROR", rejected], Ok(None));
    check_bytes(b"\0AUTH \0\r\n", &["ERROR"], Ok(None));
    check_bytes(b"\0AUTH\n\r\n", &["ERROR"], Ok(None));
    check_bytes(b"\0AUTH\rAUTH\r\n", &["ERROR"], Ok(None));
    check_bytes(b"\0AUTH\t\r\n", &[rejected], Ok(None));
    check_bytes(b"\0AUTH\r\r\n", &["ERROR"], Ok(None));
    check_bytes(b"\0AUTH\tEXTERNAL  31303030\r\n", &["OK GUID"], Ok(None));
    check_bytes(b"\0AUTH EXTERNAL 31303030 \r\n", &["ERROR"], Ok(None));
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn lines_are_limited_to_16_kib() {
    let line = |len: usize| [b"\0CANCEL\r\n", "A".repeat(len - 2).as_bytes(), b"\r\n"].concat();
    check_bytes(&line(LINE_LEN_MAX), &["ERROR", "ERROR"], Ok(None));
    let end = Err(Violation::LineTooLong { at: 9 });
    check_bytes(&line(LINE_LEN_MAX + 1), &["ERROR"], end);
    check_bytes(&line(2 * LINE_LEN_MAX)[..LINE_LEN_MAX + 10], &["ERROR"], end);
}

#[test]
fn lines_over_the_limit_end_the_connection() {
    let lines = usize::from(COMMANDS_MAX);
    let bytes = [b"\0", "X\r\n".repeat(lines + 1).as_bytes()].concat();
    let end = Err(Violation::TooManyCommands { at: 1 + 3 * u64::from(COMMANDS_MAX) });
    check_bytes(&bytes, &vec!["ERROR"; lines], end);
    check_bytes(&bytes[..1 + 3 * lines], &vec!["ERROR"; lines], Ok(None));
}
