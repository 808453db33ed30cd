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
