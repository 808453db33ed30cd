//! Edits in words: one line each, for lists of what a revision did.

use std::fmt;

use lmlang_ir::text::print_op;
use lmlang_ir::{NodeContent, NodeRef, RegionRef, RegionRole, counted};

use crate::edit::{Edit, FunctionEdit};

/// `insert n12 = add.i64 n10, n11 into g3 after n11`. Entities are named by ref, so that the line means the same in every
/// revision.
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edit::AddModule { module, content } => write!(f, "add module {module} `{}`", content.name),
            Edit::SetModule { module, content } => write!(f, "change module {module} `{}`", content.name),
            Edit::RemoveModule { module } => write!(f, "remove module {module}"),
            Edit::AddType { ty, content } => write!(f, "add type {ty} `{}`", content.name),
            Edit::SetType { ty, content } => write!(f, "change type {ty} `{}`", content.name),
            Edit::RemoveType { ty } => write!(f, "remove type {ty}"),
            Edit::AddStorage { storage, content } => write!(f, "add storage {storage} `{}`", content.name),
            Edit::SetStorage { storage, content } => write!(f, "change storage {storage} `{}`", content.name),
            Edit::RemoveStorage { storage } => write!(f, "remove storage {storage}"),
            Edit::AddFunction { function, content } => {
                let nodes = counted(content.body().counts().nodes, "node", "nodes");
                write!(f, "add function {function} `{}` with {nodes}", content.head().name)
            }
            Edit::RemoveFunction { function, content: _ } => write!(f, "remove function {function}"),
            Edit::Within { function, edit: FunctionEdit::SetHead { head } } => {
                write!(f, "change the head of {function} `{}`", head.name)
            }
            Edit::Within { function: _, edit } => fmt::Display::fmt(edit, f),
        }
    }
}

impl fmt::Display for FunctionEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FunctionEdit::SetHead { head } => write!(f, "change the head of `{}`", head.name),
            FunctionEdit::AddVariable { variable, content } => {
                write!(f, "add variable {variable}: {}", content.ty)
            }
            FunctionEdit::SetVariable { variable, content } => {
                write!(f, "change variable {variable}: {}", content.ty)
            }
            FunctionEdit::RemoveVariable { variable } => write!(f, "remove variable {variable}"),
            FunctionEdit::AddContract { contract, content } => {
                write!(f, "add contract {contract} \"{}\"", content.message)
            }
            FunctionEdit::SetContract { contract, content } => {
                write!(f, "change contract {contract} \"{}\"", content.message)
            }
            FunctionEdit::RemoveContract { contract } => write!(f, "remove contract {contract}"),
            FunctionEdit::AddRegion { region, content } => write_region(f, "add", *region, content.role),
            FunctionEdit::SetRegion { region, content } => write_region(f, "change", *region, content.role),
            FunctionEdit::RemoveRegion { region } => write!(f, "remove region {region}"),
            FunctionEdit::InsertNode { node, region, after, content } => {
                write!(f, "insert {node} = ")?;
                write_content(f, content)?;
                write_place(f, *region, *after)
            }
            FunctionEdit::RemoveNode { node } => write!(f, "remove {node}"),
            FunctionEdit::SetNode { node, content } => {
                write!(f, "change {node} = ")?;
                write_content(f, content)
            }
            FunctionEdit::SetLabel { node, name: Some(name), doc: _ } => write!(f, "name {node} `{name}`"),
            FunctionEdit::SetLabel { node, name: None, doc: Some(_) } => write!(f, "document {node}"),
            FunctionEdit::SetLabel { node, name: None, doc: None } => {
                write!(f, "take name and doc of {node} away")
            }
            FunctionEdit::SetInput { node, input, source: Some(source) } => {
                write!(f, "connect {node}.in{input} to {source}")
            }
            FunctionEdit::SetInput { node, input, source: None } => write!(f, "disconnect {node}.in{input}"),
            FunctionEdit::MoveNode { node, region, after } => {
                write!(f, "move {node}")?;
                write_place(f, *region, *after)
            }
        }
    }
}

fn write_region(f: &mut fmt::Formatter<'_>, verb: &str, region: RegionRef, role: RegionRole) -> fmt::Result {
    write!(f, "{verb} region {region} ({role})")
}

fn write_content(f: &mut fmt::Formatter<'_>, content: &NodeContent) -> fmt::Result {
    f.write_str(&print_op(&content.op))?;
    for (index, source) in content.inputs.iter().enumerate() {
        f.write_str(if index == 0 { " " } else { ", " })?;
        match source {
            Some(source) => write!(f, "{source}")?,
            None => f.write_str("_")?,
        }
    }
    Ok(())
}

fn write_place(f: &mut fmt::Formatter<'_>, region: RegionRef, after: Option<NodeRef>) -> fmt::Result {
    match after {
        Some(after) => write!(f, " into {region} after {after}"),
        None => write!(f, " into {region} at the front"),
    }
}
