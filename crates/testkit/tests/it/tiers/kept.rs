//! What is compiled is kept for as long as it is what would be compiled anew.

use std::sync::Barrier;
use std::thread;

use lmlang_compiled::{Compiler, Refusal};
use lmlang_interp::{Options, Outcome};
use lmlang_wasm::ExportError;

use super::tools::{alike, checked, function, interpreted};

#[test]
fn where_a_global_puts_data_is_looked_at() {
    let compiler = Compiler::new();
    for base in [8, 12] {
        let text = format!(
            "module m
memory main 1
import \"host\" \"base\" global base: i32 = {base}
data here at global.get base b\"a\"
func f () -> (i32) {{
  return (load.i32 8)
}}
"
        );
        let checked = checked(&text);
        assert!(alike(&compiler, &checked, function(&checked, "f"), &[]), "{base}");
    }
}

#[test]
fn what_became_private_is_not_run_as_if_it_were_not() {
    let text = "module a
pub func seven () -> (i32) {
  return 7
}
module b
func f () -> (i32) {
  x = call a::seven()
  return x
}
";
    let compiler = Compiler::new();
    let open = checked(text);
    let of = function(&open, "f");
    assert!(alike(&compiler, &open, of, &[]));
    let private = checked(&text.replace("pub func", "func"));
    let ended = interpreted(&private, of, &[], &Options::default()).outcome;
    assert!(matches!(ended, Outcome::ReachedHole { .. }), "{ended:?}");
    let refused = compiler.compile(&private, of);
    assert!(matches!(refused, Err(Refusal::Export(ExportError::Incomplete { .. }))), "{refused:?}");
    assert!(alike(&compiler, &open, of, &[]));
}

#[test]
fn who_asks_at_the_same_time_is_told_its_own_names() {
    let text = "module NAME
table t [null]
func f (s: string) -> (i32) {
  n = call_indirect t<(string) -> (i32)> 0, s
  return n
}
";
    let programs: Vec<_> = (0..8).map(|of| checked(&text.replace("NAME", &format!("module_{of}")))).collect();
    for _ in 0..20 {
        let (compiler, together) = (Compiler::new(), Barrier::new(programs.len()));
        thread::scope(|scope| {
            for (of, checked) in programs.iter().enumerate() {
                let (compiler, together) = (&compiler, &together);
                scope.spawn(move || {
                    let function = function(checked, "f");
                    together.wait();
                    let refused = compiler.compile(checked, function).unwrap_err().to_string();
                    assert!(refused.contains(&format!("`module_{of}::f`")), "{refused}");
                });
            }
        });
    }
}
