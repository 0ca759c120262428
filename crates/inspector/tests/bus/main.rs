//! Tests of the inspector on a real bus, with well-behaved and hostile services.

mod hostile;
mod names;
mod objects;
mod support;
