//! Compiles the functions with variable arguments.

fn main() {
    println!("cargo::rerun-if-changed=src/variadic.c");
    cc::Build::new().file("src/variadic.c").warnings(true).compile("diligence_variadic");
}
