//! Writes the seeds of each target into its corpus, so that fuzzing begins behind their first bytes:
//! `cargo run --bin seeds`.

use std::fs;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    for target in fuzzing::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in (target.seeds)() {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}
