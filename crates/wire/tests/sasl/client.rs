//! Tests of the client side.

use diligence_wire::guid::Guid;
use diligence_wire::hex;
use diligence_wire::sasl::client::{
    AuthenticationFailure, ClientProgress, DirectAttempt, FdNegotiation, SaslClient,
};
use diligence_wire::sasl::line::LINE_LEN_MAX;
use diligence_wire::sasl::{ClientConfig, FdPassing};

use super::{
    GUID_TEXT, TestSystem, anonymous, check_lines, cookie, cuts, external, pipelined, sequential,
    side,
};

#[track_caller]
fn check_client(
    config: &ClientConfig,
    transcript: &str,
    end: Result<Option<FdPassing>, AuthenticationFailure>,
) {
    let bytes = side(transcript, "S").map(|line| line + "\r\n").collect::<String>().into_bytes();
    for chunks in cuts(&bytes) {
        let mut out = Vec::new();
        let mut client = SaslClient::start(config.clone(), &mut out);
        let mut found = Ok(None);
        for chunk in chunks {
            found =
                client.receive(chunk, &mut TestSystem, &mut out).map(|progress| match progress {
                    ClientProgress::NeedMore => None,
                    ClientProgress::Done { fds, .. } => Some(fds),
                });
        }
        assert_eq!(found, end, "{transcript}");
        assert_eq!(out[0], 0);
        check_lines(side(transcript, "C"), &out[1..], transcript);
    }
}

#[test]
fn clients_authenticate_with_external() {
    check_client(
        &sequential([external()], FdNegotiation::NotRequested),
        "C: AUTH EXTERNAL 31303030\nS: OK GUID\nC: BEGIN",
        Ok(Some(FdPassing::Off)),
    );
    check_client(
        &sequential([external()], FdNegotiation::Requested),
        "C: AUTH EXTERNAL 31303030
         S: OK GUID
         C: NEGOTIATE_UNIX_FD
         S: AGREE_UNIX_FD
         C: BEGIN",
        Ok(Some(FdPassing::Agreed)),
    );
    check_client(
        &sequential([external()], FdNegotiation::Requested),
        "C: AUTH EXTERNAL 31303030
         S: OK 1234deadbeef
         C: NEGOTIATE_UNIX_FD
         S: ERROR Not supported on this OS
         C: BEGIN",
        Ok(Some(FdPassing::Off)),
    );
    check_client(
        &sequential([DirectAttempt::ExternalWithoutUid.into()], FdNegotiation::NotRequested),
        "C: AUTH EXTERNAL\nS: DATA\nC: DATA\nS: OK GUID\nC: BEGIN",
        Ok(Some(FdPassing::Off)),
    );
}

#[test]
fn clients_continue_with_offered_mechanisms() {
    check_client(
        &sequential([external(), cookie(), anonymous()], FdNegotiation::NotRequested),
        "C: AUTH EXTERNAL 31303030
         S: REJECTED DBUS_TEST_NONEXISTENT_MECH1 ANONYMOUS DBUS_TEST_NONEXISTENT_MECH2
         C: AUTH ANONYMOUS 64696c6967656e6365
         S: OK GUID
         C: BEGIN",
        Ok(Some(FdPassing::Off)),
    );
    check_client(
        &sequential([external(), anonymous()], FdNegotiation::NotRequested),
        "C: AUTH EXTERNAL 31303030
         S: REJECTED
         C: AUTH ANONYMOUS 64696c6967656e6365
         S: REJECTED",
        Err(AuthenticationFailure::Rejected { at: 10, offered: String::new() }),
    );
    check_client(
        &sequential([external(), anonymous()], FdNegotiation::NotRequested),
        "C: AUTH EXTERNAL 31303030\nS: REJECTED BONGO_MD5",
        Err(AuthenticationFailure::Rejected { at: 0, offered: "BONGO_MD5".into() }),
    );
}

#[test]
fn clients_prove_knowledge_of_a_cookie() {
    // "org_freedesktop_general 5 server"; "bb… " and SHA-1 of "server:bb…:c0ffee".
    let challenge = hex::encode(b"org_freedesktop_general 5 server");
    let text = "bb".repeat(16);
    let proof = hex::encode(format!("{text} 66be970a0c928b19cb80912b0b651b51cf64cb4d").as_bytes());
    check_client(
        &sequential([cookie()], FdNegotiation::NotRequested),
        &format!(
            "C: AUTH DBUS_COOKIE_SHA1 75736572
             S: DATA {challenge}
             C: DATA {proof}
             S: OK GUID
             C: BEGIN"
        ),
        Ok(Some(FdPassing::Off)),
    );
    // An unknown cookie, an unknown context, an invalid context, and an empty challenge.
    for data in ["org_freedesktop_general 6 x", "other 5 x", "a/b 5 x", ""] {
        check_client(
            &sequential([cookie(), anonymous()], FdNegotiation::NotRequested),
            &format!(
                "C: AUTH DBUS_COOKIE_SHA1 75736572
                 S: DATA {}
                 C: CANCEL
                 S: REJECTED
                 C: AUTH ANONYMOUS 64696c6967656e6365
                 S: OK GUID
                 C: BEGIN",
                hex::encode(data.as_bytes())
            ),
            Ok(Some(FdPassing::Off)),
        );
    }
}

#[test]
fn clients_cancel_an_attempt_after_an_error() {
    check_client(
        &sequential([external(), anonymous()], FdNegotiation::NotRequested),
        "C: AUTH EXTERNAL 31303030
         S: NONEXISTENT_COMMAND foo bar
         C: ERROR
         S: AGREE_UNIX_FD
         C: ERROR
         S: ERROR
         C: CANCEL
         S: REJECTED EXTERNAL ANONYMOUS
         C: AUTH ANONYMOUS 64696c6967656e6365
         S: DATA
         C: CANCEL
         S: OK GUID",
        Err(AuthenticationFailure::Unexpected { at: 86, found: format!("OK {GUID_TEXT}") }),
    );
}

#[test]
fn pipelined_clients_send_everything_at_once() {
    let all = "C: AUTH EXTERNAL 31303030\nC: NEGOTIATE_UNIX_FD\nC: BEGIN\n";
    let config = pipelined(DirectAttempt::External { uid: 1000 }, FdNegotiation::Requested);
    for (answers, end) in [
        ("", Ok(None)),
        ("S: OK GUID", Ok(None)),
        ("S: OK GUID\nS: AGREE_UNIX_FD", Ok(Some(FdPassing::Agreed))),
        ("S: OK GUID\nS: ERROR no", Ok(Some(FdPassing::Off))),
        ("S: REJECTED X", Err(AuthenticationFailure::Rejected { at: 0, offered: "X".into() })),
        ("S: ERROR no", Err(AuthenticationFailure::Unexpected { at: 0, found: "ERROR no".into() })),
        (
            "S: OK GUID\nS: DATA 00",
            Err(AuthenticationFailure::Unexpected { at: 37, found: "DATA 00".into() }),
        ),
    ] {
        check_client(&config, &format!("{all}{answers}"), end);
    }
    check_client(
        &pipelined(DirectAttempt::ExternalWithoutUid, FdNegotiation::Requested),
        "C: AUTH EXTERNAL
         C: DATA
         C: NEGOTIATE_UNIX_FD
         C: BEGIN
         S: DATA
         S: OK GUID
         S: AGREE_UNIX_FD",
        Ok(Some(FdPassing::Agreed)),
    );
    check_client(
        &pipelined(DirectAttempt::ExternalWithoutUid, FdNegotiation::NotRequested),
        "C: AUTH EXTERNAL\nC: DATA\nC: BEGIN\nS: OK GUID",
        Err(AuthenticationFailure::Unexpected { at: 0, found: format!("OK {GUID_TEXT}") }),
    );
}

#[test]
fn clients_leave_message_bytes_unconsumed() {
    let answers = format!("OK {GUID_TEXT}\r\nAGREE_UNIX_FD\r\n").into_bytes();
    let stream = [answers.as_slice(), b"l\x02\r\nOK\r\n"].concat();
    let mut out = Vec::new();
    let config = pipelined(DirectAttempt::External { uid: 0 }, FdNegotiation::Requested);
    let mut client = SaslClient::start(config, &mut out);
    let guid = Some(Guid::from_bytes([7; 16]));
    let fds = FdPassing::Agreed;
    for (input, consumed) in [(stream.as_slice(), answers.len()), (b"OK\r\n", 0)] {
        let found = client.receive(input, &mut TestSystem, &mut out);
        assert_eq!(found, Ok(ClientProgress::Done { consumed, guid, fds }));
    }
}

#[test]
fn clients_limit_the_lines_of_a_server() {
    let answers = |input: &[u8]| {
        let mut client = SaslClient::start(
            sequential([external()], FdNegotiation::NotRequested),
            &mut Vec::new(),
        );
        client.receive(input, &mut TestSystem, &mut Vec::new())
    };
    assert_eq!(
        answers(&[b'X'; LINE_LEN_MAX + 1]),
        Err(AuthenticationFailure::LineTooLong { at: 0 })
    );
    let endless = "X\r\n".repeat(1000);
    assert_eq!(
        answers(endless.as_bytes()),
        Err(AuthenticationFailure::TooManyAnswers { at: 3 * 256 })
    );
    assert!(matches!(answers(b"OK \xff\r\n"), Err(AuthenticationFailure::NotAscii { at: 0, .. })));
}
