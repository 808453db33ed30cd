//! Rebuilds the crate when the built web page appears or changes; its files are embedded at compile time.

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
}
