//! Floats as text, which a module writes and reads by itself: bit for bit as a run here does.

use std::num::NonZeroUsize;

use lmlang_interp::Environment;
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, FuncRef, RefAllocator, Value};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, export};
use proptest::prelude::*;
use wasmi::Module;

use super::oracle::{here_values, there_values, translated};

const TEXT: &str = r#"
module floats
export "f10" func write64#f10 (value: f64) -> (string) pure { return (string.format.f64 value) }
export "f11" func write32#f11 (value: f32) -> (string) pure { return (string.format.f32 value) }
export "f12" func read64#f12 (text: string) -> (option<f64>) pure { return (string.parse.f64 text) }
export "f13" func read32#f13 (text: string) -> (option<f32>) pure { return (string.parse.f32 text) }
"#;

struct Floats {
    checked: Checked,
    module: Module,
}

impl Floats {
    fn new() -> Floats {
        let program = parse_program(TEXT, &mut RefAllocator::starting_at(100)).unwrap();
        let checked = Checked::full(program, NonZeroUsize::MIN);
        let module = translated(&export(&checked, ExportOptions::default()).unwrap()).unwrap();
        Floats { checked, module }
    }

    fn agree(&self, function: u64, argument: Const) {
        let (of, arguments) = (FuncRef::new(function).unwrap(), [Value::Const(argument)]);
        let (here, ..) = here_values(&self.checked, of, &arguments, &Environment::default());
        let (there, _) =
            there_values(self.checked.program(), &self.module, of, &arguments, &Environment::default())
                .expect("these have a meaning");
        assert_eq!(here, there, "{arguments:?}");
    }

    /// Writes a float of each width, and reads what is written, with something changed.
    fn both(&self, bits: u64) {
        self.agree(10, Const::F64(bits));
        self.agree(11, Const::F32(bits as u32));
        self.text(&format!("{}", f64::from_bits(bits)));
        self.text(&format!("{:e}", f32::from_bits(bits as u32)));
    }

    fn text(&self, text: &str) {
        self.agree(12, Const::String(text.into()));
        self.agree(13, Const::String(text.into()));
    }
}

#[test]
fn floats_are_written_and_read_as_here() {
    let floats = Floats::new();
    let edges =
        [0, 1, 2, 0xf_ffff_ffff_ffff, 0x10_0000_0000_0000, 0x7fef_ffff_ffff_ffff, 0x7ff0_0000_0000_0000];
    for bits in edges.into_iter().chain([0x007f_ffff, 0x0080_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000]) {
        floats.both(bits);
        floats.both(bits | 1 << 63 | 1 << 31);
    }
    for value in [1.0, 0.1, 0.3, 123.456, 1e21, 1e-7, 5e-324, 9.5, 99.5, 9_007_199_254_740_993.0] {
        floats.both(f64::to_bits(value));
        floats.both(u64::from(f32::to_bits(value as f32)));
    }
    let halfway = "1.00000000000000011102230246251565404236316680908203125";
    let denormal = "2.4703282292062327208e-324";
    for text in [
        "",
        "+",
        "-",
        ".",
        "1.",
        ".5",
        "-.5e1",
        "+1e+2",
        "1e",
        "1e+",
        "e5",
        "1.2.3",
        "1 ",
        " 1",
        "0x1",
        "1_0",
        "nan",
        "-NaN",
        "+inf",
        "InFiNiTy",
        "infinit",
        "-infinity",
        "00012.500",
        "1e400",
        "-1e400",
        "1e-400",
        "0e999999999999",
        "1e-99999999999",
        "0.000",
        "-0",
        halfway,
        denormal,
        "1.7976931348623158e308",
        "3.4028235677973366e38",
        "é",
    ] {
        floats.text(text);
    }
    let zeros = "0".repeat(1_000);
    floats.text(&format!("{halfway}{zeros}1"));
    floats.text(&format!("{halfway}{zeros}"));
    floats.text(&format!("0.{zeros}1e1001"));
    floats.text(&format!("1{zeros}e-1000"));
    let cases = if std::env::var_os("LMLANG_LONG").is_some() { 3_000 } else { 30 };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(bits: u64, text in "[-+]?[0-9]{0,25}[.]?[0-9]{0,25}([eE][-+]?[0-9]{1,3})?")| {
        floats.both(bits);
        floats.text(&text);
    });
}
