//! Lookups in the user and group database of the machine that runs the tests.

use std::path::Path;
use sys::users::{UserAccount, group_id};

#[test]
fn root_is_found_by_name_and_by_number() {
    let root = UserAccount::by_name("root").unwrap().unwrap();
    assert_eq!(UserAccount::by_id(0).unwrap().unwrap(), root);
    assert_eq!((root.uid(), root.gid(), root.name()), (0, 0, "root".to_owned()));
    assert_eq!(root.home(), Path::new("/root"));
    assert!(root.groups().unwrap().contains(&0));
    assert_eq!(group_id("root").unwrap(), Some(0));
}

#[test]
fn missing_users_and_groups_are_not_found() {
    for name in ["", "no such user", "root\0", "0"] {
        assert_eq!(UserAccount::by_name(name).unwrap(), None, "{name:?}");
        assert_eq!(group_id(name).unwrap(), None, "{name:?}");
    }
    assert_eq!(UserAccount::by_id(3_999_999_999).unwrap(), None);
}
