//! Groups items by a key.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// Groups items with equal keys, in the order of the first occurrence of each key.
pub(crate) fn collected<K: Hash + Eq + Clone, T>(
    items: impl IntoIterator<Item = (K, T)>,
) -> Vec<(K, Vec<T>)> {
    let mut places: HashMap<K, usize, RandomState> = HashMap::default();
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, item) in items {
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(item);
    }
    groups
}
