//! The objects that a program has registered at a connection.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::ops::Bound;

/// The handler of one object path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectHandler<F> {
    /// The function that is called; `None` if the program has passed NULL.
    pub(crate) function: F,
    pub(crate) data: *mut c_void,
    /// Whether the handler also gets the messages to paths below its own.
    pub(crate) is_fallback: bool,
}

/// The handlers of a connection by path, without the slash at the end of the root.
pub(crate) struct ObjectTree<F>(BTreeMap<Vec<u8>, ObjectHandler<F>>);

// SAFETY: the program decides in which threads its functions and data are used.
unsafe impl<F: Send> Send for ObjectTree<F> {}

fn key(path: &[u8]) -> &[u8] {
    if path == b"/" { b"" } else { path }
}

impl<F: Copy> ObjectTree<F> {
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Registers a handler; false if the path has one.
    pub(crate) fn register(&mut self, path: &[u8], handler: ObjectHandler<F>) -> bool {
        let path = key(path).to_vec();
        if self.0.contains_key(&path) {
            return false;
        }
        self.0.insert(path, handler);
        true
    }

    pub(crate) fn unregister(&mut self, path: &[u8]) -> Option<ObjectHandler<F>> {
        self.0.remove(key(path))
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<&ObjectHandler<F>> {
        self.0.get(key(path))
    }

    /// Removes all handlers and returns them.
    pub(crate) fn take(&mut self) -> Vec<ObjectHandler<F>> {
        std::mem::take(&mut self.0).into_values().collect()
    }

    /// The handlers for a message to this path, in the order in which they are called.
    pub(crate) fn chain(&self, path: &[u8]) -> Vec<ObjectHandler<F>> {
        let path = key(path);
        let exact = self.0.get(path).copied();
        let mut handlers: Vec<_> = exact.into_iter().collect();
        let mut ancestor = path;
        while let Some(slash) = ancestor.iter().rposition(|&byte| byte == b'/') {
            ancestor = &ancestor[..slash];
            handlers.extend(self.0.get(ancestor).copied().filter(|found| found.is_fallback));
        }
        handlers
    }

    /// The names of the children of a path, in order.
    pub(crate) fn children(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let prefix = [key(path), b"/"].concat();
        let below = self.0.range::<[u8], _>((Bound::Included(prefix.as_slice()), Bound::Unbounded));
        let mut names = BTreeSet::new();
        for (registered, _) in below.take_while(|(registered, _)| registered.starts_with(&prefix)) {
            let rest = &registered[prefix.len()..];
            let end = rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len());
            names.insert(rest[..end].to_vec());
        }
        names.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    fn handler(number: u32, is_fallback: bool) -> ObjectHandler<u32> {
        ObjectHandler { function: number, data: ptr::null_mut(), is_fallback }
    }

    #[test]
    fn handlers_are_called_from_the_object_to_the_root() {
        let mut tree = ObjectTree::new();
        assert!(tree.register(b"/", handler(1, true)));
        assert!(tree.register(b"/a", handler(2, false)));
        assert!(tree.register(b"/a/b", handler(3, true)));
        assert!(!tree.register(b"/a/b", handler(4, true)));
        let numbers = |path: &[u8]| -> Vec<u32> {
            tree.chain(path).iter().map(|handler| handler.function).collect()
        };
        assert_eq!(numbers(b"/a/b/c"), [3, 1]);
        assert_eq!(numbers(b"/a"), [2, 1]);
        assert_eq!(numbers(b"/"), [1]);
        assert_eq!(tree.children(b"/"), [b"a"]);
        assert_eq!(tree.children(b"/a"), [b"b"]);
    }
}
