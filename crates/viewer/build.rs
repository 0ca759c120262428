//! Embeds the built page into the program, if `web/dist` exists.
//!
//! The page needs Node, but `cargo build` must work without it. A program without the page shows
//! instructions for building it instead.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let web = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("web");
    let built = web.join("dist");
    let files = files(&built);
    // Cargo cannot watch a directory that does not exist yet, so its parent is watched instead.
    let watched = if built.is_dir() { &built } else { &web };
    println!("cargo::rerun-if-changed={}", watched.display());
    let mut code = String::from("static BUILT: &[Asset] = &[\n");
    for file in &files {
        let path = file.strip_prefix(&built).expect("the file is below this directory");
        writeln!(code, "    Asset {{ path: {path:?}, bytes: include_bytes!({file:?}) }},")
            .expect("writing to a string cannot fail");
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("built.rs"), code).expect("OUT_DIR can be written");
}

/// All files below a directory, sorted by path.
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
