//! Findings in words: lower case, names in backticks, expected and found.

use lmlang_ir::ops::signature::source_type;
use lmlang_ir::types::write_type;
use lmlang_ir::{
    EffectBound, FuncRef, MemberRef, Op, Place, Program, Ref, RegionOwner, RegionRef, Source, Type, TypeRef,
};

use crate::code::Code;
use crate::consequences::without_results;
use crate::diagnostic::{Diagnostic, Fact};

impl Diagnostic {
    /// The finding in words, with the names that entities have now. States the problem only.
    pub fn message(&self, program: &Program) -> String {
        let words = Words { program, of: self };
        let (this, expected, found) = (words.this(), words.expected(), words.found());
        let (input, op) = (words.input(), words.op());
        match self.code {
            Code::EmptyInput if self.expected.is_none() => format!("{input} is empty"),
            Code::EmptyInput => format!("{input} is empty: expected {expected}"),
            Code::UnknownSource => format!("{input} takes {found}, which is not in this function"),
            Code::PortGone => {
                format!("{input} takes {found}, and there is no such output{}", words.producer())
            }
            Code::TypeMismatch => format!("{input}: expected {expected}, found {found}"),
            Code::NotInScope => format!("{input} takes {found}, which is not in scope"),
            Code::MissingTerminator => format!("{this} has no terminator"),
            Code::CodeAfterTerminator => format!("{this} stands after the terminator {}", words.beside()),
            Code::YieldOutsideNode => "`yield` ends a region of a node: expected `return`".to_owned(),
            Code::ReturnInContract => format!("{op} inside of a contract: expected `yield`"),
            Code::UnknownLabel => format!("{op} aims at {found}, which owns no region around it"),
            Code::ContinueNotLoop => format!("{op} aims at {found}, which is not a loop"),
            Code::SwitchTargetsDiffer => {
                format!("the targets take different values: the last takes {expected}, another {found}")
            }
            Code::InputCount | Code::ArityMismatch => {
                let has = format!("{op} has {found} {}", one_or_more(&found, "input", "inputs"));
                match words.missing_results() {
                    Some((owner, missing)) => format!("{has}, and {owner} no results: {missing} is missing"),
                    None => format!("{has}: expected {expected}"),
                }
            }
            Code::RegionCount => {
                format!("{op} owns {found} {}: expected {expected}", one_or_more(&found, "region", "regions"))
            }
            Code::RegionRoleWrong => format!("the role of {this}: expected {expected}, found {found}"),
            Code::RegionParams => format!("the parameters of {this}: expected {expected}, found {found}"),
            Code::FixedLength => format!("{op} cannot change the length of {found}"),
            Code::WrongTypeShape => format!("{op}: expected {}, found {found}", words.a(&expected)),
            Code::UnknownMember => format!("{op} names {found}: expected {expected}"),
            Code::UnknownCapture if self.expected.is_none() => {
                format!("there is no capture {found}: the function has none")
            }
            Code::UnknownCapture => format!("there is no capture {found}: expected {expected}"),
            Code::UnknownType => format!("there is no type {found}"),
            Code::UnknownVariable => format!("the function has no variable {found}"),
            Code::UnknownStorage => format!("there is no storage {found}"),
            Code::WrongStorage => {
                format!("{op}: expected {}, found {}", words.a(&expected), words.a(&found))
            }
            Code::NoReference => format!("{this} has {found}: expected {expected}"),
            Code::GlobalImmutable => format!("{found} is immutable"),
            Code::GlobalInitial => format!("the first value of {this}: expected {expected}, found {found}"),
            Code::UnknownFunction => format!("there is no function {found}"),
            Code::NotVisible => format!("{found} is private to another module"),
            Code::CallNeedsClosure => format!("{found} captures values and is named without them"),
            Code::MatchNotExhaustive => format!("no case for {expected}"),
            Code::DuplicateCase => format!("{op} has a case twice"),
            Code::MixedCases => format!("{op} has cases of different types"),
            Code::MemoryMissing => format!("{} needs a memory, and there is none", words.subject()),
            Code::AlignmentTooLarge => {
                format!("the alignment of {op} is {found}: expected {expected}, what it accesses")
            }
            Code::NoPlainLayout => format!("{found} has no plain layout"),
            Code::LimitsExceeded => format!("{this} starts with {found}: expected {expected}"),
            Code::DuplicateMemory => format!("{this} is a second memory"),
            Code::UnknownRegion => format!("{op} lists {found}, which does not exist"),
            Code::RegionNotOwned => format!("{op} lists {found}, which has another owner"),
            Code::DuplicateRegion => format!("{op} lists {found} twice"),
            Code::StrayRegion => format!("{this} is not part of the tree of regions"),
            Code::ContractRegion => format!("{this} has no region of its own"),
            Code::BodyMissing => format!("{this} has neither a body nor an import"),
            Code::ImportWithBody => format!("{this} is imported and has a body"),
            Code::UnknownModule => format!("{this} stands in {found}, which does not exist"),
            Code::ModuleCycle => format!("{this} stands inside of itself"),
            Code::DuplicateName if self.beside.is_some() => {
                format!("the name {found} is taken by {}", words.beside())
            }
            Code::DuplicateName => format!("{this} has two members called {found}"),
            Code::DuplicateExport => format!("the export name {found} is taken by {}", words.beside()),
            Code::ReservedSection => format!("{this} has the name of the section of the labels"),
            Code::StartSignature => format!("{this} runs at the start: expected `() -> ()`"),
            Code::DuplicateStart => format!("{this} is a second function that runs at the start"),
            Code::ContractNotBoolean => {
                format!("a contract answers with one `bool`: expected {expected}, found {found}")
            }
            Code::InvariantMisplaced => "an invariant in a function that states none of a type".to_owned(),
            Code::VariableInContract => format!("{op} inside of a contract"),
            Code::EffectExceedsBound => format!("{op} needs the bound {found}: expected at most {expected}"),
            Code::TypeContainsItself => format!("{this} contains itself"),
            Code::TypeWithoutValues => format!("{found} has no value that {this} could begin with"),
            Code::UnusedValue => format!("nobody uses the value of {op}"),
            Code::UnreachableCode => format!("{this} is never reached: {} does not pass on", words.beside()),
            Code::VariableNeverRead => format!("nobody reads {this}"),
            Code::VariableUnassigned => {
                format!("{} may be read here before it is assigned", words.beside())
            }
            Code::EffectBoundWider => format!("{this} is declared {found}, and {expected} is enough"),
        }
    }
}

impl Diagnostic {
    /// What the place takes, as it stands in the message but without quotes.
    pub fn expected_text(&self, program: &Program) -> Option<String> {
        Some(Words { program, of: self }.fact(self.expected.as_ref()?).replace('`', ""))
    }

    /// What was found there, as it stands in the message but without quotes.
    pub fn found_text(&self, program: &Program) -> Option<String> {
        Some(Words { program, of: self }.fact(self.found.as_ref()?).replace('`', ""))
    }
}

/// The word for as many as a number in words says.
fn one_or_more<'w>(number: &str, one: &'w str, several: &'w str) -> &'w str {
    if number == "1" { one } else { several }
}

struct Words<'a> {
    program: &'a Program,
    of: &'a Diagnostic,
}

impl Words<'_> {
    fn this(&self) -> String {
        self.entity(self.of.at.entity)
    }

    fn expected(&self) -> String {
        self.of.expected.as_ref().map_or_else(|| "nothing".to_owned(), |fact| self.fact(fact))
    }

    fn found(&self) -> String {
        self.of.found.as_ref().map_or_else(|| "nothing".to_owned(), |fact| self.fact(fact))
    }

    fn beside(&self) -> String {
        self.of.beside.map_or_else(|| "nothing".to_owned(), |of| self.entity(of))
    }

    /// The operator of the node that a source which was found is an output of, in words.
    fn producer(&self) -> String {
        let Some(Fact::Source(Source::Node(of, _))) = &self.of.found else { return String::new() };
        let function = self.of.at.function.and_then(|function| self.program.function(function));
        let node = function.and_then(|function| function.body().node(*of));
        node.map(|node| format!(" of `{}`", node.op().code().mnemonic())).unwrap_or_default()
    }

    /// The operator that has no results although it is given values, and what would say that it has some.
    fn missing_results(&self) -> Option<(String, String)> {
        let owner = without_results(self.program, self.of)?;
        let function = self.program.function(self.of.at.function?)?;
        let body = function.body();
        let given = body.node(self.of.at.node()?)?.inputs().iter();
        let types: Option<Vec<String>> =
            given.map(|source| Some(self.ty(&source_type(self.program, function, source?)?))).collect();
        let types = types.map_or_else(|| "..".to_owned(), |types| types.join(", "));
        Some((format!("`{}`", body.node(owner)?.op().code().mnemonic()), format!("`-> ({types})`")))
    }

    fn node_op(&self) -> Option<&Op> {
        let function = self.program.function(self.of.at.function?)?;
        Some(function.body().node(self.of.at.node()?)?.op())
    }

    fn op(&self) -> String {
        self.node_op().map_or_else(|| self.this(), |op| format!("`{}`", op.code().mnemonic()))
    }

    /// The operator of a node, or the entity itself.
    fn subject(&self) -> String {
        self.op()
    }

    fn input(&self) -> String {
        let Some(op) = self.node_op() else { return self.this() };
        let ports = op.spec().inputs;
        let port = usize::from(self.of.at.port.unwrap_or_default());
        // Only the last port of an operator stands for any number of values.
        let name = ports.get(port).or(ports.last()).map_or("value", |port| port.name);
        let index = match ports.get(port) {
            Some(one) if !one.repeated() => String::new(),
            Some(_) | None => format!(" {}", port + 1 - ports.len().min(port + 1).max(1) + 1),
        };
        format!("input `{name}`{index} of `{}`", op.code().mnemonic())
    }

    fn a(&self, word: &str) -> String {
        let bare = word.trim_matches('`');
        let article = if bare.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {word}")
    }

    /// An entity by its name. A node has its ref; what is inside of something else is told by that.
    fn entity(&self, of: Ref) -> String {
        let inside = match self.program.place(of) {
            Some(Place::Member(ty, member)) => self.member(ty, member),
            Some(Place::Region(function, region)) => self.region(function, region),
            Some(Place::Variable(..)) => self.program.name(of).map(|name| format!("`{name}`")),
            Some(_) | None => None,
        };
        inside.unwrap_or_else(|| format!("`{}`", self.program.path(of)))
    }

    fn member(&self, ty: TypeRef, of: MemberRef) -> Option<String> {
        let def = self.program.type_def(ty)?;
        let name = def.member_name(of)?;
        Some(format!("`{}.{name}`", def.name))
    }

    fn region(&self, function: FuncRef, of: RegionRef) -> Option<String> {
        let body = self.program.function(function)?.body();
        let region = body.region(of)?;
        let owner = match region.owner {
            RegionOwner::Function => self.entity(function.into()),
            RegionOwner::Node(node) => format!("`{}`", body.node(node)?.op().code().mnemonic()),
            RegionOwner::Contract(contract) => format!("\"{}\"", body.contract(contract)?.message),
        };
        Some(format!("the region `{}` of {owner}", region.role))
    }

    fn ty(&self, of: &Type) -> String {
        let mut text = String::new();
        let name = |out: &mut String, of: TypeRef| {
            use std::fmt::Write;
            match self.program.type_def(of) {
                Some(def) => write!(out, "{}", def.name),
                None => write!(out, "{of}"),
            }
        };
        // Writing to a `String` does not fail.
        write_type(&mut text, of, &name).map_or_else(|_| of.to_string(), |()| text)
    }

    fn fact(&self, fact: &Fact) -> String {
        match fact {
            Fact::Type(ty) => format!("`{}`", self.ty(ty)),
            Fact::Types(all) => {
                format!("`({})`", all.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", "))
            }
            Fact::Address => "`i32` or a `ptr`".to_owned(),
            Fact::Reference => "`funcref` or `externref`".to_owned(),
            Fact::Integer => "`i32` or `i64`".to_owned(),
            Fact::Count(count) => count.to_string(),
            Fact::AtMost(most) => format!("at most {most}"),
            Fact::MemberOf(of) => format!("a member of {}", self.entity((*of).into())),
            Fact::Entity(of) => self.entity(*of),
            Fact::Source(source) => format!("`{source}`"),
            Fact::Bound(EffectBound::Pure) => "`pure`".to_owned(),
            Fact::Bound(EffectBound::Reads) => "`reads`".to_owned(),
            Fact::Bound(EffectBound::Any) => "`any`".to_owned(),
            Fact::Text(text) => format!("`{text}`"),
        }
    }
}
