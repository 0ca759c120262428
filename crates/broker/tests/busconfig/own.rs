//! Settings of this implementation in `<?diligence ?>` instructions.

use broker::busconfig::RateSetting;
use bus::BusLimits;

use super::{ConfigFiles, check_refusal, environment, wrap};

#[test]
fn instructions_set_what_elements_cannot() {
    let main = r#"
        <limit name="max_names_per_connection">10</limit>
        <include>more.conf</include>
        <?diligence
          <!-- for programs that connect in a loop -->
          <limit name="max_connections_per_second_per_user">50</limit>
          <limit name="max_connection_burst_per_user" user="alice">7</limit>
          <limit name="max_names_per_connection" user="alice">20</limit>
        ?>
        <?other anything <goes?>
        <limit name="max_match_rules_per_connection">30</limit>"#;
    let more = wrap(
        r#"<?diligence <limit name="max_outgoing_bytes" user="0">0x10</limit>?>
           <?diligence <limit name="max_outgoing_bytes" user="alice">1</limit>?>
           <?diligence <limit name="max_outgoing_bytes" user="alice">2</limit>?><?diligence?>"#,
    );
    let files = ConfigFiles::with_main(main).add("more.conf", more);
    let document = files.read(&environment()).unwrap();
    let rate = |per_second, burst| RateSetting { per_second, burst };
    assert_eq!(document.own.connection_rate, rate(Some(50), None));
    assert_eq!(document.own.connection_rates, [(1000, rate(None, Some(7)))].into());
    assert_eq!(document.warnings, []);

    let everybody = BusLimits {
        max_names_per_connection: 10,
        max_match_rules_per_connection: 30,
        ..BusLimits::default()
    };
    assert_eq!(document.limits, everybody);
    let root = BusLimits { max_outgoing_bytes: 16, ..everybody };
    let alice = BusLimits { max_names_per_connection: 20, max_outgoing_bytes: 2, ..everybody };
    assert_eq!(document.user_limits(), [(0, root), (1000, alice)].into());
}

#[test]
fn limits_for_unknown_users_are_ignored() {
    let files = ConfigFiles::with_main(
        "<?diligence\n<limit name='max_outgoing_bytes' user='bob'>5</limit>?>",
    );
    let document = files.read(&environment()).unwrap();
    assert!(document.user_limits().is_empty());
    let warnings = document.warnings.iter().map(|warning| files.shorten(warning));
    let expected = "main.conf:3:1: Unknown username \"bob\" on element <limit>";
    assert_eq!(warnings.collect::<Vec<_>>(), [expected]);
}

/// Positions are correct in instructions, also after multi-byte characters.
#[test]
fn unknown_content_of_an_instruction_is_rejected() {
    let check = |content: &str, expected: &str| {
        check_refusal(&format!("<!-- ü --><?diligence {content}?>"), Some(expected));
    };
    check("<bees/>", "2:23: Element <bees> not allowed inside <diligence> in configuration file");
    check("<limit name='max_bees'>5</limit>", "2:23: There is no limit called \"max_bees\"");
    check("<limit>5</limit>", "2:23: <limit> element must have a \"name\" attribute");
    check(
        "\n <limit name='max_outgoing_bytes' hat='x'>5</limit>",
        "3:35: Attribute \"hat\" is invalid on <limit> element in this context",
    );
    check(
        "<limit name='max_outgoing_bytes'>5</limit>",
        "2:23: <limit name=\"max_outgoing_bytes\"> in <?diligence ?> must have a \"user\" attribute; \
         the limit for all users is set outside",
    );
    check(
        "<limit name='auth_timeout' user='alice'>5</limit>",
        "2:23: <limit name=\"auth_timeout\"> cannot be set per user, so it is not allowed in <?diligence ?>",
    );
    check(
        "<limit name='max_message_size'>5</limit>",
        "2:23: <limit name=\"max_message_size\"> cannot be set per user, so it is not allowed in <?diligence ?>",
    );
    check(
        "<limit name='max_outgoing_bytes' user='bob'>many</limit>",
        "2:23: <limit name=\"max_outgoing_bytes\"> element has invalid value (could not parse as \
         integer)",
    );
    check(
        "<limit name='max_connection_burst_per_user'>-1</limit>",
        "2:23: <limit name=\"max_connection_burst_per_user\"> must be a positive number",
    );
    check(
        "<limit name='max_connections_per_second_per_user'>4294967296</limit>",
        "2:23: <limit name=\"max_connections_per_second_per_user\"> value is too large",
    );
    check(
        "text",
        "2:22: No text content expected inside XML element diligence in configuration file",
    );
}

#[test]
fn an_instruction_stands_in_the_root() {
    let misplaced = "<?diligence ?> is only allowed in <busconfig> itself";
    check_refusal(
        "<policy context='default'><?diligence?></policy>",
        Some(&format!("2:27: {misplaced}")),
    );
    check_refusal("<?other?>", None);
    let before = ConfigFiles::new().add("main.conf", "<?diligence?><busconfig/>");
    let refusal = before.read(&environment()).unwrap_err();
    assert_eq!(before.shorten(refusal), format!("main.conf:1:1: {misplaced}"));
}
