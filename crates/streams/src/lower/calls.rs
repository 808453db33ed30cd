//! Casts and scalar functions.

use super::emit::{Body, Leaves, Present, Val};
use crate::functions::Scalar;
use crate::plan::typed::Expr;
use crate::sql::syntax::Compare;
use crate::types::Ty;

/// A number to an integral power, by squaring.
pub(super) const POWER: &str = r"; A number to an integral power, by squaring.
func power (base: f64, exponent: i64) -> (f64) pure {
  minus = lt_s.i64 exponent, 0
  start = select<i64> minus, (sub.i64 0, exponent), exponent
  raised = loop L (left: i64 = start, square: f64 = base, product: f64 = 1.0) -> (f64) {
    break_if L (eqz.i64 left), product
    odd = eqz.i64 (xor.i64 (and.i64 left, 1), 1)
    more = select<f64> odd, (mul.f64 product, square), product
    continue L (shr_u.i64 left, 1), (mul.f64 square, square), more
  }
  return (select<f64> minus, (div.f64 1.0, raised), raised)
}

";

impl Body<'_> {
    pub(super) fn cast(&mut self, from: &Ty, to: &Ty, of: Val) -> Val {
        let Val { value, present } = of;
        let text = match (from, to) {
            (Ty::Time, Ty::Int) | (Ty::Int, Ty::Time) => return Val { value, present },
            (Ty::Int, Ty::Float) => format!("convert_s.i64.f64 {value}"),
            (Ty::Bool, Ty::Int) => format!("extend_u.bool.i64 {value}"),
            (Ty::Int, Ty::Bool) => format!("ne.i64 {value}, 0"),
            (Ty::Int, Ty::Text) => format!("string.format.i64 {value}"),
            (Ty::Float, Ty::Text) => format!("string.format.f64 {value}"),
            (Ty::Bool, Ty::Text) => format!("select<string> {value}, \"true\", \"false\""),
            (Ty::Float, Ty::Int) => {
                let cast = self.line("cast", &format!("trunc_sat_s.f64.i64 {value}"));
                // Below 2^63, and not below -2^63; no NaN is.
                let below = self.line("below", &format!("lt.f64 {value}, 9223372036854775808.0"));
                let above = self.line("above", &format!("ge.f64 {value}, -9223372036854775808.0"));
                let fits = self.line("fits", &format!("and.bool {below}, {above}"));
                let present = self.and(&present, &Present::If(fits));
                return Val { value: cast, present };
            }
            (Ty::Text, Ty::Int | Ty::Float) => {
                let of = if *to == Ty::Int { "i64" } else { "f64" };
                let parsed = self.line("parsed", &format!("string.parse.{of} {value}"));
                let inner = self.open(&parsed, to, "number");
                let present = self.and(&present, &inner.present);
                return Val { value: inner.value, present };
            }
            // The plan has no other.
            _ => "_".to_owned(),
        };
        Val { value: self.line("cast", &text), present }
    }

    pub(super) fn call(&mut self, scalar: Scalar, args: &[Expr], ty: &Ty, leaves: &dyn Leaves) -> Val {
        let mut vals = Vec::with_capacity(args.len());
        for arg in args {
            vals.push(self.expr(arg, leaves));
        }
        let mut rest = vals.into_iter();
        let Some(first) = rest.next() else {
            // Bounds of windows are leaves.
            return Val { value: "_".to_owned(), present: Present::Always };
        };
        let real = *ty == Ty::Float;
        let Val { value, present } = &first;
        let same = |value: String| Val { value, present: present.clone() };
        match scalar {
            Scalar::Abs if real => {
                let value = self.line("size", &format!("abs.f64 {value}"));
                same(value)
            }
            Scalar::Abs => {
                let minus = self.line("is_negative", &format!("lt_s.i64 {value}, 0"));
                let value = self.line("size", &format!("select<i64> {minus}, (sub.i64 0, {value}), {value}"));
                same(value)
            }
            Scalar::Ceil | Scalar::Floor | Scalar::Round if !real => first,
            Scalar::Ceil => {
                let value = self.line("rounded", &format!("ceil.f64 {value}"));
                same(value)
            }
            Scalar::Floor => {
                let value = self.line("rounded", &format!("floor.f64 {value}"));
                same(value)
            }
            Scalar::Round => {
                let whole = self.line("whole", &format!("trunc.f64 {value}"));
                let part = self.line("part", &format!("abs.f64 (sub.f64 {value}, {whole})"));
                let up = self.line("is_half", &format!("ge.f64 {part}, 0.5"));
                let next = self.line("away", &format!("add.f64 {whole}, (copysign.f64 1.0, {value})"));
                let value = self.line("rounded", &format!("select<f64> {up}, {next}, {whole}"));
                same(value)
            }
            Scalar::Sqrt => {
                let root = self.line("root", &format!("sqrt.f64 {value}"));
                let real = self.line("is_real", &format!("ge.f64 {value}, 0.0"));
                let present = self.and(present, &Present::If(real));
                Val { value: root, present }
            }
            Scalar::Power => {
                *self.power = true;
                let Some(exponent) = rest.next() else { return first };
                let present = self.and(present, &exponent.present);
                let value = self.line("raised", &format!("call power({value}, {})", exponent.value));
                Val { value, present }
            }
            Scalar::Mod => {
                let Some(divisor) = rest.next() else { return first };
                self.remainder(&first, &divisor)
            }
            Scalar::Length => {
                let count = format!("extend_u.i32.i64 (array.len<i32> (string.chars {value}))");
                let value = self.line("length", &count);
                same(value)
            }
            Scalar::Concat => {
                let mut text = first;
                for more in rest {
                    text = self.concat(&text, &more);
                }
                text
            }
            Scalar::Coalesce => {
                let vals: Vec<Val> = std::iter::once(first).chain(rest).collect();
                let mut vals = vals.into_iter().rev();
                let Some(mut found) = vals.next() else {
                    return Val { value: "_".to_owned(), present: Present::Always };
                };
                for val in vals {
                    found = match &val.present {
                        Present::Always => val,
                        Present::Never => found,
                        Present::If(flag) => {
                            let flag = flag.clone();
                            let set = Val { value: val.value.clone(), present: Present::Always };
                            self.choose(&flag, &set, &found, ty)
                        }
                    };
                }
                found
            }
            Scalar::NullIf => {
                let Some(other) = rest.next() else { return first };
                let same = self.compare(Compare::Eq, ty, &first, &other);
                let equal = self.holds(&same);
                let differs = self.not(&equal);
                let present = match differs.as_str() {
                    "true" => first.present.clone(),
                    _ => self.and(&first.present, &Present::If(differs)),
                };
                Val { value: first.value, present }
            }
            Scalar::WindowStart | Scalar::WindowEnd => first,
        }
    }
}
