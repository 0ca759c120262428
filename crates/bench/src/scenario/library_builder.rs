//! Where the programs of libraries are made.

use std::collections::BTreeMap;
use std::fmt;

use super::Effort;
use crate::library::{BuiltLibrary, Cache, Library, MissingLibrary};
use crate::result::Absence;

/// Finds libraries, and has their programs made. What is not there is written down once.
pub struct LibraryBuilder<'t> {
    place: Place,
    effort: Effort,
    known: BTreeMap<Library, Option<BuiltLibrary>>,
    absences: Vec<Absence>,
    tell: &'t mut dyn FnMut(&str),
}

/// Where programs are kept.
#[derive(Debug)]
enum Place {
    Cache(Result<Cache, MissingLibrary>),
    /// No library is looked for.
    Nowhere,
}

impl<'t> LibraryBuilder<'t> {
    /// One that keeps programs where the user's programs keep such things. `tell` is called with a
    /// sentence about anything that takes long.
    pub(crate) fn of_user(effort: Effort, tell: &'t mut dyn FnMut(&str)) -> Self {
        Self::new(Place::Cache(Cache::of_user()), effort, tell)
    }

    /// A builder that finds no libraries.
    pub(crate) fn without_libraries(tell: &'t mut dyn FnMut(&str)) -> Self {
        Self::new(Place::Nowhere, Effort::Quick, tell)
    }

    fn new(place: Place, effort: Effort, tell: &'t mut dyn FnMut(&str)) -> Self {
        Self { place, effort, known: BTreeMap::new(), absences: Vec::new(), tell }
    }

    /// The program of a library, if it is there or can be made.
    pub(crate) fn library(&mut self, library: Library) -> Option<BuiltLibrary> {
        if let Some(known) = self.known.get(&library) {
            return known.clone();
        }
        let ready = match &self.place {
            Place::Nowhere => None,
            Place::Cache(Err(missing)) => Some(Err(missing.to_string())),
            Place::Cache(Ok(cache)) => {
                Some(prepare(library, &cache.clone(), self.effort, self.tell))
            }
        };
        let ready = ready.and_then(|ready| self.unless_absent(library, ready));
        self.known.insert(library, ready.clone());
        ready
    }

    /// The libraries that are missing.
    pub(crate) fn into_absences(self) -> Vec<Absence> {
        self.absences
    }

    fn unless_absent(
        &mut self,
        library: Library,
        ready: Result<BuiltLibrary, String>,
    ) -> Option<BuiltLibrary> {
        ready
            .map_err(|remedy| {
                let subject = format!("the library {library}");
                self.absences.push(Absence { subject, remedy });
            })
            .ok()
    }
}

fn prepare(
    library: Library,
    cache: &Cache,
    effort: Effort,
    tell: &mut dyn FnMut(&str),
) -> Result<BuiltLibrary, String> {
    let found = library.find(cache).map_err(|missing| missing.to_string())?;
    if !found.is_built(cache) && library == Library::Zbus {
        if effort == Effort::Quick {
            return Err(
                "its program is not built yet, which takes a minute; measure once without \
                        --quick"
                    .to_owned(),
            );
        }
        tell("building the program for zbus, which takes a minute");
    }
    found.prepare(cache).map_err(|missing| missing.to_string())
}

impl fmt::Debug for LibraryBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibraryBuilder").field("place", &self.place).finish_non_exhaustive()
    }
}
