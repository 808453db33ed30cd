//! Programs with a memory of their own, and values of the heap beside it.

use lmlang_compiled::Compiler;
use lmlang_interp::Options;
use lmlang_ir::{Const, Value};

use super::tools::{alike, alike_with, checked, function};

fn int(value: i32) -> Value {
    Value::Const(Const::I32(value))
}

#[test]
fn both_memories_are_there() {
    let text = "module both
memory ram 1 max 2
data greeting at 8 b\"hello\"
func loaded (address: i32, length: i32) -> (bytes) {
  return (bytes.load address, length)
}
func stored (address: i32, data: bytes) -> (bytes, i32) {
  bytes.store address, data
  before = memory.grow 1
  return (bytes.load 8, 8), before
}
func joined (text: string) -> (string, i32) {
  store.i32 0, (string.len text)
  return (string.concat text, (string.from_bytes (bytes.load 8, 5))), (load.i32 0)
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let same = |name: &str, args: &[Value]| {
        assert!(alike(&compiler, &checked, function(&checked, name), args), "{name}{args:?}");
    };
    for (address, length) in
        [(8, 5), (0, 0), (65_536, 0), (65_537, 0), (65_535, 1), (65_535, 2), (-1, 1), (0, -1), (0, 65_536)]
    {
        same("loaded", &[int(address), int(length)]);
    }
    for address in [0, 9, 65_533, 65_534, -1] {
        same("stored", &[int(address), Value::Const(Const::Bytes(b"abc"[..].into()))]);
    }
    same("joined", &[Value::Const(Const::String("say ".into()))]);
}

#[test]
fn what_wasi_reads_is_not_the_heap() {
    let text = "module wasi
memory ram 1
data said at 16 b\"said\\n\"
import \"wasi_snapshot_preview1\" \"fd_write\"
func fd_write (file: i32, buffers: i32, count: i32, written: i32) -> (i32)
func main (text: string) -> (string, i32, i32) {
  store.i32 0, 16
  store.i32 4, 5
  error = call fd_write(1, 0, 1, 8)
  print text
  return (string.concat text, text), error, (load.i32 8)
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let text = Value::Const(Const::String("text".into()));
    assert!(alike_with(&compiler, &checked, function(&checked, "main"), &[text], &Options::default()));
}

#[test]
fn what_starts_first_fills_both() {
    let text = "module starts
memory ram 1
import \"wasi_snapshot_preview1\" \"proc_exit\"
func exit (status: i32) -> ()
global mut text: string = \"first\"
data letters b\"abcdef\"
start func begin () -> () {
  print \"begin\\n\"
  global.set text, (string.concat (global.get text), \" second\")
  memory.init letters 8, 1, 3
  data.drop letters
  if (eq.i32 (load.i32 0), WHEN) {
    call exit(STATUS)
    yield
  }
  return
}
func main () -> (string, i32) {
  return (global.get text), (load.i32 8)
}
func none () -> () {
  print \"none\\n\"
  return
}
";
    for (when, status) in [("1", "0"), ("0", "0"), ("0", "3")] {
        let text = text.replace("WHEN", when).replace("STATUS", status);
        let (checked, compiler) = (checked(&text), Compiler::new());
        for name in ["main", "none", "begin"] {
            assert!(alike(&compiler, &checked, function(&checked, name), &[]), "{name} {when} {status}");
        }
    }
}
