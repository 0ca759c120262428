//! The vocabulary of the peers. It is small, so that messages, names and rules often match.

use testkit::model::ModelRule;

use crate::oracle::DRIVER;

/// Returns all rules that peers add, including rules that need
/// [`Feature::Eavesdroppers`](crate::setting::Feature::Eavesdroppers).
pub fn rules() -> Vec<ModelRule> {
    let any = ModelRule { kind: Some("signal"), ..ModelRule::default() };
    let eavesdropping = ModelRule { eavesdrops: true, ..ModelRule::default() };
    let mut rules = vec![any.clone()];
    rules.extend(INTERFACES.map(|one| ModelRule { interface: Some(one), ..any.clone() }));
    rules.extend(MEMBERS.map(|one| ModelRule { member: Some(one), ..ModelRule::default() }));
    rules.extend(PATHS.map(|one| ModelRule { path_namespace: Some(one), ..any.clone() }));
    rules.extend(
        NAMES.map(|one| ModelRule { sender: Some(one.to_owned()), ..ModelRule::default() }),
    );
    rules.extend(WORDS.map(|one| ModelRule { args: vec![(0, "", one)], ..any.clone() }));
    rules.extend(INTERFACES.map(|one| ModelRule { interface: Some(one), ..eavesdropping.clone() }));
    rules.extend(
        PATHS[1..].iter().map(|one| ModelRule { path: Some(one), ..eavesdropping.clone() }),
    );
    rules.extend(
        NAMES.map(|one| ModelRule { destination: Some(one.to_owned()), ..eavesdropping.clone() }),
    );
    rules.push(ModelRule {
        sender: Some(DRIVER.to_owned()),
        member: Some("NameOwnerChanged"),
        ..any
    });
    // Rules for calls of the bus and for its messages. Of the latter, eavesdroppers receive only
    // broadcasts.
    let driver = || Some(DRIVER.to_owned());
    rules.push(ModelRule { destination: driver(), ..eavesdropping.clone() });
    rules.push(ModelRule { member: Some("RequestName"), ..eavesdropping.clone() });
    rules.push(ModelRule { sender: driver(), ..eavesdropping });
    rules
}

pub(super) const INTERFACES: [&str; 3] =
    ["com.example.One", "com.example.Two", "com.example.Three"];
pub(super) const MEMBERS: [&str; 3] = ["Changed", "Moved", "Gone"];
pub(super) const PATHS: [&str; 4] = ["/", "/a", "/a/b", "/c"];
pub(super) const NAMES: [&str; 5] = ["com.a", "com.b", "com.c", "com.d.e", "com.d.f"];
pub(super) const WORDS: [&str; 3] = ["one", "two", ""];

/// The rules that containers get.
pub(super) const CONTAINER_RULES: [&[&str]; 7] = [
    &[],
    &["see=com.a", "own=com.b"],
    &["talk=com.a", "talk=com.service.comes"],
    &["talk=com.d.*", "call=com.c=com.example.One.Changed@/a/*"],
    &["own=com.d.*", "broadcast=com.a=*", "see=com.service.*"],
    &["talk=com.a", "talk=com.b", "talk=com.c", "own=com.d.e", "talk=com.service.*"],
    &["own=com.a", "own=com.b", "own=com.c", "call=com.service.*=com.example.Two.*"],
];
