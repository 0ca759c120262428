//! What there is to choose from: few, so that many have to do with each other.

use testkit::model::Rule;

use crate::oracle::DRIVER;

/// The rules that anybody asks for, also those that only some buses know.
pub fn rules() -> Vec<Rule> {
    let any = Rule { kind: Some("signal"), ..Rule::default() };
    let eavesdropping = Rule { eavesdrops: true, ..Rule::default() };
    let mut rules = vec![any.clone()];
    rules.extend(INTERFACES.map(|one| Rule { interface: Some(one), ..any.clone() }));
    rules.extend(MEMBERS.map(|one| Rule { member: Some(one), ..Rule::default() }));
    rules.extend(PATHS.map(|one| Rule { path_namespace: Some(one), ..any.clone() }));
    rules.extend(NAMES.map(|one| Rule { sender: Some(one.to_owned()), ..Rule::default() }));
    rules.extend(WORDS.map(|one| Rule { args: vec![(0, "", one)], ..any.clone() }));
    rules.extend(INTERFACES.map(|one| Rule { interface: Some(one), ..eavesdropping.clone() }));
    rules.extend(PATHS[1..].iter().map(|one| Rule { path: Some(one), ..eavesdropping.clone() }));
    rules.extend(
        NAMES.map(|one| Rule { destination: Some(one.to_owned()), ..eavesdropping.clone() }),
    );
    rules.push(Rule { sender: Some(DRIVER.to_owned()), member: Some("NameOwnerChanged"), ..any });
    // What the bus is asked, and what it says: of that only what it says to all.
    let driver = || Some(DRIVER.to_owned());
    rules.push(Rule { destination: driver(), ..eavesdropping.clone() });
    rules.push(Rule { member: Some("RequestName"), ..eavesdropping.clone() });
    rules.push(Rule { sender: driver(), ..eavesdropping });
    rules
}

pub(super) const INTERFACES: [&str; 3] =
    ["com.example.One", "com.example.Two", "com.example.Three"];
pub(super) const MEMBERS: [&str; 3] = ["Changed", "Moved", "Gone"];
pub(super) const PATHS: [&str; 4] = ["/", "/a", "/a/b", "/c"];
pub(super) const NAMES: [&str; 5] = ["com.a", "com.b", "com.c", "com.d.e", "com.d.f"];
pub(super) const WORDS: [&str; 3] = ["one", "two", ""];
