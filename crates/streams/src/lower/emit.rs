//! The lines of one function.

use super::names::{Names, Record, Types};
use crate::plan::typed::{Expr, Kind};
use crate::sql::syntax::{Arithmetic, Compare, Literal};
use crate::types::Ty;

/// Whether a value is there.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Present {
    Always,
    Never,
    /// Where this operand of type `bool` is true.
    If(String),
}

/// A value as operands: what it is, and whether it is there. What stands for a value that is not there makes no
/// difference, and computing with it does not trap.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) value: String,
    pub(super) present: Present,
}

/// Where the values come from that an expression begins with.
pub(super) trait Leaves {
    /// An operand of an option type: a column, a key, an aggregate, or a value of the row before.
    fn option(&self, kind: &Kind) -> Option<String>;
    /// An operand that is never NULL.
    fn plain(&self, kind: &Kind) -> Option<String>;
}

/// A function that is being written.
pub(super) struct Body<'t> {
    pub(super) types: &'t mut Types,
    pub(super) names: Names,
    pub(super) lines: String,
    /// Options that were opened, by their operands.
    opened: Vec<(String, Val)>,
    /// Whether `power` is needed.
    pub(super) power: &'t mut bool,
}

impl<'t> Body<'t> {
    pub(super) fn new(types: &'t mut Types, power: &'t mut bool, params: &[&str]) -> Body<'t> {
        Body { types, names: Names::with(params), lines: String::new(), opened: Vec::new(), power }
    }

    /// Writes a line that makes a value.
    pub(super) fn line(&mut self, name: &str, text: &str) -> String {
        let name = self.names.take(name);
        self.lines.push_str(&format!("  {name} = {text}\n"));
        name
    }

    pub(super) fn and(&mut self, a: &Present, b: &Present) -> Present {
        match (a, b) {
            (Present::Never, _) | (_, Present::Never) => Present::Never,
            (Present::Always, other) | (other, Present::Always) => other.clone(),
            (Present::If(a), Present::If(b)) if a == b => Present::If(a.clone()),
            (Present::If(a), Present::If(b)) => Present::If(self.line("both", &format!("and.bool {a}, {b}"))),
        }
    }

    /// Both, with one more condition.
    fn and_if(&mut self, a: &Present, condition: String) -> Present {
        self.and(a, &Present::If(condition))
    }

    pub(super) fn flag(present: &Present) -> String {
        match present {
            Present::Always => "true".to_owned(),
            Present::Never => "false".to_owned(),
            Present::If(operand) => operand.clone(),
        }
    }

    /// Whether a condition holds: it is there and true.
    pub(super) fn holds(&mut self, val: &Val) -> String {
        match &val.present {
            Present::Always => val.value.clone(),
            Present::Never => "false".to_owned(),
            Present::If(present) => self.line("holds", &format!("and.bool {present}, {}", val.value)),
        }
    }

    /// Opens an option.
    pub(super) fn open(&mut self, operand: &str, ty: &Ty, hint: &str) -> Val {
        if let Some((_, val)) = self.opened.iter().find(|(known, _)| known == operand) {
            return val.clone();
        }
        let of = self.types.plain(ty, hint);
        let zero = self.types.zero(ty);
        let value = self.names.take(hint);
        let present = self.names.take(&format!("{hint}_is_set"));
        self.lines.push_str(&format!(
            "  {value}, {present} = match {operand} -> ({of}, bool) {{\n    case some (it: {of}) {{ yield it, true }}\n    case none {{ yield {zero}, false }}\n  }}\n"
        ));
        let val = Val { value, present: Present::If(present) };
        self.opened.push((operand.to_owned(), val.clone()));
        val
    }

    /// The value as an operand of an option type.
    pub(super) fn close(&mut self, val: &Val, ty: &Ty) -> String {
        let option = self.types.option(ty, "Struct");
        let none = format!("(enum.new {option}.none)");
        match &val.present {
            Present::Never => none,
            Present::Always => format!("(enum.new {option}.some {})", val.value),
            Present::If(flag) => {
                format!("(select<{option}> {flag}, (enum.new {option}.some {}), {none})", val.value)
            }
        }
    }

    /// An expression as an operand of an option type; what is one already stays as it is.
    pub(super) fn nullable(&mut self, expr: &Expr, leaves: &dyn Leaves) -> String {
        match leaves.option(&expr.kind) {
            Some(operand) => operand,
            None => {
                let val = self.expr(expr, leaves);
                self.close(&val, &expr.ty)
            }
        }
    }

    /// Writes what computes an expression.
    pub(super) fn expr(&mut self, expr: &Expr, leaves: &dyn Leaves) -> Val {
        if let Some(operand) = leaves.option(&expr.kind) {
            let hint = operand.trim_end_matches(')').rsplit([' ']).nth(1).unwrap_or("value");
            let hint = hint.rsplit('.').next().unwrap_or("value").to_owned();
            return self.open(&operand, &expr.ty, &hint);
        }
        if let Some(value) = leaves.plain(&expr.kind) {
            return Val { value, present: Present::Always };
        }
        match &expr.kind {
            // Leaves have been looked at; what is none here is a mistake that the verifier finds.
            Kind::Column(_) | Kind::Key(_) | Kind::Aggregate(_) | Kind::Previous(..) => {
                Val { value: "_".to_owned(), present: Present::Always }
            }
            Kind::Literal(literal) => self.literal(literal, &expr.ty),
            Kind::ToFloat(of) => {
                let of = self.expr(of, leaves);
                let value = self.line("real", &format!("convert_s.i64.f64 {}", of.value));
                Val { value, present: of.present }
            }
            Kind::Field(of, index) => self.field(of, *index, &expr.ty, leaves),
            Kind::Index(of, index) => self.index(of, index, &expr.ty, leaves),
            Kind::Negate(of) => {
                let ty = of.ty.clone();
                let of = self.expr(of, leaves);
                let text = match ty {
                    Ty::Float => format!("neg.f64 {}", of.value),
                    _ => format!("sub.i64 0, {}", of.value),
                };
                Val { value: self.line("minus", &text), present: of.present }
            }
            Kind::Not(of) => {
                let of = self.expr(of, leaves);
                Val { value: self.not(&of.value), present: of.present }
            }
            Kind::Arithmetic(op, a, b) => {
                let ty = &expr.ty;
                let (a, b) = (self.expr(a, leaves), self.expr(b, leaves));
                self.arithmetic(*op, ty, &a, &b)
            }
            Kind::Concat(a, b) => {
                let (a, b) = (self.expr(a, leaves), self.expr(b, leaves));
                self.concat(&a, &b)
            }
            Kind::Compare(op, a, b) => {
                let ty = a.ty.clone();
                let (a, b) = (self.expr(a, leaves), self.expr(b, leaves));
                self.compare(*op, &ty, &a, &b)
            }
            Kind::And(a, b) => {
                let (a, b) = (self.expr(a, leaves), self.expr(b, leaves));
                self.conjunction(&a, &b)
            }
            Kind::Or(a, b) => {
                let (a, b) = (self.expr(a, leaves), self.expr(b, leaves));
                self.disjunction(&a, &b)
            }
            Kind::IsNull(of) => {
                let of = self.expr(of, leaves);
                Val { value: self.not(&Body::flag(&of.present)), present: Present::Always }
            }
            Kind::IsTruth(of, truth) => {
                let of = self.expr(of, leaves);
                let value = if *truth { of.value } else { self.not(&of.value) };
                let value = self.holds(&Val { value, present: of.present });
                Val { value, present: Present::Always }
            }
            Kind::Between(parts) => {
                let ty = parts[0].ty.clone();
                let [of, low, high] = parts.as_ref();
                let (of, low, high) =
                    (self.expr(of, leaves), self.expr(low, leaves), self.expr(high, leaves));
                let from = self.compare(Compare::Ge, &ty, &of, &low);
                let to = self.compare(Compare::Le, &ty, &of, &high);
                self.conjunction(&from, &to)
            }
            Kind::In(of, list) => {
                let ty = of.ty.clone();
                let of = self.expr(of, leaves);
                let mut any = Val { value: "false".to_owned(), present: Present::Always };
                for one in list {
                    let one = self.expr(one, leaves);
                    let same = self.compare(Compare::Eq, &ty, &of, &one);
                    any = self.disjunction(&any, &same);
                }
                any
            }
            Kind::Case { branches, otherwise } => {
                let mut conditions = Vec::with_capacity(branches.len());
                for (when, _) in branches {
                    let when = self.expr(when, leaves);
                    conditions.push(self.holds(&when));
                }
                self.branches(conditions, branches, otherwise.as_deref(), &expr.ty, leaves)
            }
            Kind::Match { operand, branches, otherwise } => {
                let ty = operand.ty.clone();
                let operand = self.expr(operand, leaves);
                let mut conditions = Vec::with_capacity(branches.len());
                for (when, _) in branches {
                    let when = self.expr(when, leaves);
                    let same = self.compare(Compare::Eq, &ty, &operand, &when);
                    conditions.push(self.holds(&same));
                }
                self.branches(conditions, branches, otherwise.as_deref(), &expr.ty, leaves)
            }
            Kind::Cast(of) => {
                let from = of.ty.clone();
                let of = self.expr(of, leaves);
                self.cast(&from, &expr.ty, of)
            }
            Kind::Call(scalar, args) => self.call(*scalar, args, &expr.ty, leaves),
        }
    }

    fn literal(&mut self, literal: &Literal, ty: &Ty) -> Val {
        let value = match literal {
            Literal::Null => {
                return Val { value: self.types.zero(ty), present: Present::Never };
            }
            Literal::Bool(value) => value.to_string(),
            Literal::Int(value) => value.to_string(),
            Literal::Float(value) => float(*value),
            Literal::Text(text) => quoted(text),
        };
        Val { value, present: Present::Always }
    }

    fn field(&mut self, of: &Expr, index: usize, ty: &Ty, leaves: &dyn Leaves) -> Val {
        let Ty::Struct(fields) = &of.ty else {
            return Val { value: "_".to_owned(), present: Present::Always };
        };
        let Record { name, fields: names } = self.types.nested(fields, "Struct");
        let of = self.expr(of, leaves);
        let field = &names[index];
        let read = format!("(struct.get {name}.{field} {})", of.value);
        let inner = self.open(&read, ty, field);
        let present = self.and(&of.present, &inner.present);
        Val { value: inner.value, present }
    }

    fn index(&mut self, of: &Expr, index: &Expr, ty: &Ty, leaves: &dyn Leaves) -> Val {
        let option = self.types.option(ty, "Element");
        let (of, index) = (self.expr(of, leaves), self.expr(index, leaves));
        let length = self.line("length", &format!("extend_u.i32.i64 (array.len<{option}> {})", of.value));
        // An index that is not there stands for one outside.
        let index = match &index.present {
            Present::Always => index.value,
            Present::Never => "-1".to_owned(),
            Present::If(flag) => self.line("index", &format!("select<i64> {flag}, {}, -1", index.value)),
        };
        let inside = self.line("inside", &format!("lt_u.i64 {index}, {length}"));
        let element = self.line(
            "element",
            &format!(
                "if {inside} -> ({option}) {{ yield (array.get<{option}> {}, (wrap.i64.i32 {index})) }} else {{ yield (enum.new {option}.none) }}",
                of.value
            ),
        );
        let inner = self.open(&element, ty, "item");
        let present = self.and(&of.present, &inner.present);
        Val { value: inner.value, present }
    }

    pub(super) fn not(&mut self, value: &str) -> String {
        match value {
            "true" => "false".to_owned(),
            "false" => "true".to_owned(),
            value => self.line("other", &format!("not.bool {value}")),
        }
    }

    fn arithmetic(&mut self, op: Arithmetic, ty: &Ty, a: &Val, b: &Val) -> Val {
        let present = self.and(&a.present, &b.present);
        let (a, b) = (&a.value, &b.value);
        let of = if *ty == Ty::Float { "f64" } else { "i64" };
        match op {
            Arithmetic::Add => Val { value: self.line("sum", &format!("add.{of} {a}, {b}")), present },
            Arithmetic::Sub => Val { value: self.line("difference", &format!("sub.{of} {a}, {b}")), present },
            Arithmetic::Mul => Val { value: self.line("product", &format!("mul.{of} {a}, {b}")), present },
            Arithmetic::Div if *ty == Ty::Float => {
                let value = self.line("quotient", &format!("div.f64 {a}, {b}"));
                let some = self.line("divisible", &format!("ne.f64 {b}, 0.0"));
                Val { value, present: self.and_if(&present, some) }
            }
            // No other constant makes trouble.
            Arithmetic::Div if b.parse::<i64>().is_ok_and(|b| b != 0 && b != -1) => {
                Val { value: self.line("quotient", &format!("div_s.i64 {a}, {b}")), present }
            }
            Arithmetic::Rem if b.parse::<i64>().is_ok_and(|b| b != 0) => {
                Val { value: self.line("remainder", &format!("rem_s.i64 {a}, {b}")), present }
            }
            Arithmetic::Div => {
                // Dividing by -1 is negating, so that the least integer does not trap.
                let zero = self.line("by_zero", &format!("eqz.i64 {b}"));
                let minus = self.line("by_minus", &format!("eq.i64 {b}, -1"));
                let unsafe_ = self.line("special", &format!("or.bool {zero}, {minus}"));
                let divisor = self.line("divisor", &format!("select<i64> {unsafe_}, 1, {b}"));
                let quotient = self.line("quotient", &format!("div_s.i64 {a}, {divisor}"));
                let value =
                    self.line("result_of", &format!("select<i64> {minus}, (sub.i64 0, {a}), {quotient}"));
                let some = self.not(&zero);
                Val { value, present: self.and_if(&present, some) }
            }
            Arithmetic::Rem => {
                let zero = self.line("by_zero", &format!("eqz.i64 {b}"));
                let divisor = self.line("divisor", &format!("select<i64> {zero}, 1, {b}"));
                let value = self.line("remainder", &format!("rem_s.i64 {a}, {divisor}"));
                let some = self.not(&zero);
                Val { value, present: self.and_if(&present, some) }
            }
        }
    }

    pub(super) fn remainder(&mut self, a: &Val, b: &Val) -> Val {
        self.arithmetic(Arithmetic::Rem, &Ty::Int, a, b)
    }

    pub(super) fn concat(&mut self, a: &Val, b: &Val) -> Val {
        let present = self.and(&a.present, &b.present);
        Val { value: self.line("text", &format!("string.concat {}, {}", a.value, b.value)), present }
    }

    pub(super) fn compare(&mut self, op: Compare, ty: &Ty, a: &Val, b: &Val) -> Val {
        let present = self.and(&a.present, &b.present);
        Val { value: self.compared(op, ty, &a.value, &b.value), present }
    }

    /// Whether two values that are there compare so.
    pub(super) fn compared(&mut self, op: Compare, ty: &Ty, a: &str, b: &str) -> String {
        let signed = match op {
            Compare::Eq => "eq",
            Compare::Ne => "ne",
            Compare::Lt => "lt_s",
            Compare::Le => "le_s",
            Compare::Gt => "gt_s",
            Compare::Ge => "ge_s",
        };
        let text = match ty {
            Ty::Text if op == Compare::Eq => format!("string.eq {a}, {b}"),
            Ty::Text => format!("{signed}.i32 (string.compare {a}, {b}), 0"),
            Ty::Bool => format!("{signed}.bool {a}, {b}"),
            Ty::Float => format!("{}.f64 {a}, {b}", signed.trim_end_matches("_s")),
            _ => format!("{signed}.i64 {a}, {b}"),
        };
        self.line("is_so", &text)
    }

    /// `AND` of three-valued logic: false beats NULL.
    fn conjunction(&mut self, a: &Val, b: &Val) -> Val {
        self.junction(a, b, "and")
    }

    /// `OR` of three-valued logic: true beats NULL.
    fn disjunction(&mut self, a: &Val, b: &Val) -> Val {
        if a.value == "false" && a.present == Present::Always {
            return b.clone();
        }
        self.junction(a, b, "or")
    }

    fn junction(&mut self, a: &Val, b: &Val, op: &str) -> Val {
        // What is not there counts as what decides nothing; the result is there when both are, or one decides.
        let neutral = if op == "and" { "true" } else { "false" };
        let one = |body: &mut Self, val: &Val| match &val.present {
            Present::Always => val.value.clone(),
            Present::Never => neutral.to_owned(),
            Present::If(flag) => {
                body.line("known", &format!("select<bool> {flag}, {}, {neutral}", val.value))
            }
        };
        let (known_a, known_b) = (one(self, a), one(self, b));
        let value = self.line("truth", &format!("{op}.bool {known_a}, {known_b}"));
        let both = self.and(&a.present, &b.present);
        if both == Present::Always {
            return Val { value, present: both };
        }
        let decided = if op == "and" { self.not(&value) } else { value.clone() };
        let present = match both {
            Present::If(both) => self.line("is_known", &format!("or.bool {both}, {decided}")),
            Present::Always | Present::Never => decided,
        };
        Val { value, present: Present::If(present) }
    }

    fn branches(
        &mut self,
        conditions: Vec<String>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        ty: &Ty,
        leaves: &dyn Leaves,
    ) -> Val {
        let mut result = match otherwise {
            Some(otherwise) => self.expr(otherwise, leaves),
            None => Val { value: self.types.zero(ty), present: Present::Never },
        };
        for (condition, (_, then)) in conditions.iter().zip(branches).rev() {
            let then = self.expr(then, leaves);
            result = self.choose(condition, &then, &result, ty);
        }
        result
    }

    /// One of two values.
    pub(super) fn choose(&mut self, condition: &str, a: &Val, b: &Val, ty: &Ty) -> Val {
        let of = self.types.plain(ty, "Struct");
        let value = self.line("chosen", &format!("select<{of}> {condition}, {}, {}", a.value, b.value));
        let present = if a.present == b.present {
            a.present.clone()
        } else {
            let (a, b) = (Body::flag(&a.present), Body::flag(&b.present));
            Present::If(self.line("is_chosen", &format!("select<bool> {condition}, {a}, {b}")))
        };
        Val { value, present }
    }
}

/// A float as an operand.
pub(super) fn float(value: f64) -> String {
    format!("{value:?}")
}

/// A text as an operand.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            ' '..='~' => out.push(char),
            other => out.push_str(&format!("\\u{{{:x}}}", u32::from(other))),
        }
    }
    out.push('"');
    out
}
