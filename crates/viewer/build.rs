//! Puts the built page into the program, if it was built.
//!
//! The page needs Node, and `cargo build` shall not: without it the program has a page that tells how
//! to build it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let web = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("web");
    let built = web.join("dist");
    let files = files(&built);
    // A folder that is not there yet cannot be watched, that in which it will be can.
    let watched = if built.is_dir() { &built } else { &web };
    println!("cargo::rerun-if-changed={}", watched.display());
    let mut code = String::from("static BUILT: &[Asset] = &[\n");
    for file in &files {
        let path = file.strip_prefix(&built).expect("it is in there");
        writeln!(code, "    Asset {{ path: {path:?}, bytes: include_bytes!({file:?}) }},")
            .expect("a text takes everything");
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("built.rs"), code).expect("the folder for what is generated can be written");
}

/// All files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}
