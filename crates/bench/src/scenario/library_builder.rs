//! Builds the programs of libraries for scenarios.

use std::collections::BTreeMap;

use super::Effort;
use crate::library::{BuiltLibrary, Cache, Library, MissingLibrary};
use crate::result::Absence;

/// Finds libraries and builds their programs, each once. A library that is missing becomes an
/// [`Absence`].
pub struct LibraryBuilder<'t> {
    /// `None` if scenarios shall find no libraries.
    cache: Option<Result<Cache, MissingLibrary>>,
    effort: Effort,
    known: BTreeMap<Library, Option<BuiltLibrary>>,
    absences: Vec<Absence>,
    tell: &'t mut dyn FnMut(&str),
}

impl<'t> LibraryBuilder<'t> {
    /// Creates a builder that keeps programs in `cache`; without a cache it finds no libraries. It
    /// calls `tell` with a sentence before each long operation.
    pub(crate) fn new(
        cache: Option<Result<Cache, MissingLibrary>>,
        effort: Effort,
        tell: &'t mut dyn FnMut(&str),
    ) -> Self {
        Self { cache, effort, known: BTreeMap::new(), absences: Vec::new(), tell }
    }

    /// The program of a library, if the library is installed and its program can be built.
    pub(crate) fn library(&mut self, library: Library) -> Option<BuiltLibrary> {
        if let Some(known) = self.known.get(&library) {
            return known.clone();
        }
        let built = match self.cache.clone()? {
            Ok(cache) => self.build(library, &cache),
            Err(missing) => Err(missing.to_string()),
        };
        let absent = |remedy| Absence { subject: format!("the library {library}"), remedy };
        let built = built.map_err(|remedy| self.absences.push(absent(remedy))).ok();
        self.known.insert(library, built.clone());
        built
    }

    /// The libraries that are missing.
    pub(crate) fn into_absences(self) -> Vec<Absence> {
        self.absences
    }

    fn build(&mut self, library: Library, cache: &Cache) -> Result<BuiltLibrary, String> {
        let found = library.find(cache).map_err(|missing| missing.to_string())?;
        if !found.is_built(cache) && library == Library::Zbus {
            if self.effort == Effort::Quick {
                return Err(NOT_BUILT.to_owned());
            }
            (self.tell)("building the program for zbus, which takes a minute");
        }
        found.prepare(cache).map_err(|missing| missing.to_string())
    }
}

const NOT_BUILT: &str =
    "its program is not built yet, which takes a minute; measure once without --quick";
