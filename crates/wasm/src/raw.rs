//! Operators that programs do not have, and carry as they came: `raw`.

use std::collections::HashMap;
use std::sync::Arc;

use lmlang_ir::ops::Raw;
use lmlang_ir::{Attr, Op, Opcode, Signature, Type};
use wasm_encoder::{CodeSection, Function, FunctionSection, MemorySection, MemoryType, Module, TypeSection};
use wasmparser::{
    BinaryReader, FuncValidator, FuncValidatorAllocations, Operator, OperatorsReader, Parser, ValType,
    ValidPayload, Validator, ValidatorResources,
};

use crate::accepted::{features, value_type};

/// Whether the operators of a proposal are carried.
macro_rules! of_such_a_proposal {
    (threads) => {
        true
    };
    (wide_arithmetic) => {
        true
    };
    (memory_control) => {
        true
    };
    ($other:ident) => {
        false
    };
}
pub(crate) use of_such_a_proposal;

macro_rules! carried {
    ($(@$proposal:ident $op:ident $({ $($arg:ident: $ty:ty),* })? => $visit:ident ($($ann:tt)*))*) => {
        /// Whether an operator is carried.
        fn is_carried(operator: &Operator<'_>) -> bool {
            match operator {
                $(Operator::$op { .. } => of_such_a_proposal!($proposal),)*
                _ => false,
            }
        }
    };
}
wasmparser::for_each_operator!(carried);

/// Bytes that no operator exceeds.
const LONGEST: usize = 64;

/// What is known of operators, by their bytes.
#[derive(Debug, Default)]
pub(crate) struct Known(HashMap<Vec<u8>, Carried>);

/// An operator that is carried.
#[derive(Debug)]
pub(crate) struct Carried {
    pub(crate) op: Op,
    pub(crate) signature: Signature,
    /// How it is written in the text form of WebAssembly.
    pub(crate) text: Arc<str>,
}

impl Known {
    /// The operator with these bytes, where values of these types lie on top of the stack.
    pub(crate) fn of(
        &mut self,
        bytes: &[u8],
        top: impl Iterator<Item = ValType>,
    ) -> Result<&Carried, String> {
        if !self.0.contains_key(bytes) {
            let top: Vec<ValType> = top.collect();
            let signature = signature(bytes, &top, true)?;
            let raw = Raw { bytes: bytes.to_vec(), signature: signature.clone() };
            let op = Op::new(Opcode::Raw, Attr::Raw(Arc::new(raw)));
            let op = op.expect("the opcode takes this attribute");
            self.0.insert(bytes.to_vec(), Carried { op, signature, text: text(bytes).into() });
        }
        Ok(&self.0[bytes])
    }
}

/// Says what is wrong with an operator that is carried, where there is a memory or none.
pub(crate) fn check(raw: &Raw, memory: bool) -> Result<(), String> {
    let declared: Option<Vec<ValType>> = raw.signature.params.iter().map(number).collect();
    let taken = signature(&raw.bytes, &declared.ok_or("it takes something other than numbers")?, memory)?;
    match taken == raw.signature {
        true => Ok(()),
        false => Err("it takes or gives something else".to_owned()),
    }
}

fn number(ty: &Type) -> Option<ValType> {
    Some(match *ty {
        Type::I32 => ValType::I32,
        Type::I64 => ValType::I64,
        Type::F32 => ValType::F32,
        Type::F64 => ValType::F64,
        _ => return None,
    })
}

/// What the operator with these bytes takes of what lies on top of the stack, and what it gives.
fn signature(bytes: &[u8], top: &[ValType], memory: bool) -> Result<Signature, String> {
    let operator = operator(bytes)?;
    let told = |error: wasmparser::BinaryReaderError| error.message().to_owned();
    let mut validator = validator(memory).map_err(told)?;
    let arity = operator.operator_arity(&validator).map_or(0, |(taken, _)| taken as usize);
    let taken = &top[top.len().saturating_sub(arity)..];
    for ty in taken {
        validator.op(0, &zero(*ty).ok_or("it takes something other than numbers")?).map_err(told)?;
    }
    validator.op(0, &operator).map_err(told)?;
    let given: Option<Vec<Type>> = (0..validator.operand_stack_height() as usize)
        .rev()
        .map(|depth| validator.get_operand_type(depth).flatten().and_then(value_type))
        .collect();
    let params: Option<Vec<Type>> = taken.iter().map(|ty| value_type(*ty)).collect();
    let (params, results) = params.zip(given).ok_or("it gives something other than numbers")?;
    Ok(Signature { params, results })
}

/// The only operator that bytes are.
fn operator(bytes: &[u8]) -> Result<Operator<'_>, String> {
    if bytes.len() > LONGEST {
        return Err("its bytes are no operator".to_owned());
    }
    let mut reader = OperatorsReader::new(BinaryReader::new(bytes, 0));
    match reader.read() {
        Ok(operator) if reader.eof() && is_carried(&operator) => Ok(operator),
        Ok(_) if reader.eof() => Err("it is none of those that are carried".to_owned()),
        Ok(_) | Err(_) => Err("its bytes are no operator".to_owned()),
    }
}

fn zero(ty: ValType) -> Option<Operator<'static>> {
    Some(match ty {
        ValType::I32 => Operator::I32Const { value: 0 },
        ValType::I64 => Operator::I64Const { value: 0 },
        ValType::F32 => Operator::F32Const { value: 0.0f32.into() },
        ValType::F64 => Operator::F64Const { value: 0.0f64.into() },
        ValType::V128 | ValType::Ref(_) => return None,
    })
}

/// A module with one function, whose body are some operators.
fn module_of(operators: &[u8], memory: bool) -> Vec<u8> {
    let (mut types, mut functions) = (TypeSection::new(), FunctionSection::new());
    let (mut memories, mut code, mut body) = (MemorySection::new(), CodeSection::new(), Function::new([]));
    types.ty().function([], []);
    functions.function(0);
    if memory {
        memories.memory(MemoryType {
            minimum: 0,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
    }
    body.raw(operators.iter().copied());
    body.instructions().end();
    code.function(&body);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&memories).section(&code);
    module.finish()
}

/// The validator of an empty function.
fn validator(memory: bool) -> wasmparser::Result<FuncValidator<ValidatorResources>> {
    let (mut validator, mut function) = (Validator::new_with_features(features()), None);
    for payload in Parser::new(0).parse_all(&module_of(&[], memory)) {
        if let ValidPayload::Func(found, _) = validator.payload(&payload?)? {
            function = Some(found);
        }
    }
    let function = function.expect("the module has a function");
    Ok(function.into_validator(FuncValidatorAllocations::default()))
}

/// How an operator is written in a text, with what belongs to it.
fn text(bytes: &[u8]) -> String {
    let printed = crate::print(&module_of(bytes, true)).unwrap_or_default();
    let body = printed.lines().skip_while(|line| !line.trim_start().starts_with("(func")).nth(1);
    body.unwrap_or_default().trim().to_owned()
}
