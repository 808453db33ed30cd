//! Rebuilds the crate when the built web page or a page of the documentation appears or changes; they are embedded at
//! compile time.

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
    println!("cargo::rerun-if-changed=../../docs");
}
