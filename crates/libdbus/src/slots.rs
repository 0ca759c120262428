//! Data slots: numbers under which programs store their own data in objects of this library.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use crate::c::{Out, UserData};

/// The slots of one type of object.
pub(crate) struct SlotAllocator {
    /// The number of times that each slot was allocated and not freed.
    users: Mutex<Vec<u32>>,
}

impl SlotAllocator {
    pub(crate) const fn new() -> Self {
        Self { users: Mutex::new(Vec::new()) }
    }

    /// Allocates a slot, if `place` has -1, or counts one more user of the slot that it has.
    pub(crate) fn allocate(&self, place: Out<i32>) -> bool {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(current) = place.get() else { return false };
        let index = match usize::try_from(current) {
            Ok(index) if index < users.len() => index,
            Ok(_) => return false,
            Err(_) => users.iter().position(|&count| count == 0).unwrap_or(users.len()),
        };
        if index == users.len() {
            users.push(0);
        }
        users[index] += 1;
        place.set(i32::try_from(index).unwrap_or(-1));
        true
    }

    /// Counts one user less of the slot in `place`, and stores -1 there after the last one.
    pub(crate) fn free(&self, place: Out<i32>) {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let index = place.get().and_then(|slot| usize::try_from(slot).ok());
        if let Some(count) = index.and_then(|index| users.get_mut(index))
            && *count > 0
        {
            *count -= 1;
            if *count == 0 {
                place.set(-1);
            }
        }
    }

    /// Returns the index of a slot that is in use.
    pub(crate) fn index(&self, slot: i32) -> Option<usize> {
        let users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let index = usize::try_from(slot).ok()?;
        users.get(index).is_some_and(|&count| count > 0).then_some(index)
    }
}

/// The data in the slots of one object.
#[derive(Debug, Default)]
pub(crate) struct SlotData(Vec<Option<UserData>>);

impl SlotData {
    pub(crate) const EMPTY: Self = Self(Vec::new());

    /// Stores data and returns the previous data, which the caller drops without a lock.
    pub(crate) fn set(&mut self, index: usize, data: UserData) -> Option<UserData> {
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None);
        }
        self.0[index].replace(data)
    }

    /// Returns the data in a slot, or NULL.
    pub(crate) fn get(&self, index: usize) -> *mut c_void {
        self.0.get(index).and_then(Option::as_ref).map_or(ptr::null_mut(), |data| data.data)
    }
}
