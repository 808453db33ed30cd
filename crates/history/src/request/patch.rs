//! A patch against the text form, over any number of modules and functions.

mod unified;

use lmlang_ir::text::{self, Detail, TextError, Written, nearest};
use lmlang_ir::{FuncRef, ModuleRef, Place, Ref, RefKind, TypeRef, VarRef};

use super::error::{Done, EditError, Fail, code};
use super::inputs::{AddText, ApplyTextPatch, Remove};
use super::session::{Session, shortened, wrong_kind};
use unified::{FilePatch, Malformed, Misfit, Patched};

/// The details that a text can have been read at; of two at which a patch fits as well the first is meant.
const DETAILS: [Detail; 3] = [Detail::Full, Detail::Standard, Detail::Summary];

impl Session<'_> {
    /// Applies a patch: what it says of all texts, or nothing.
    pub(super) fn apply_text_patch(&mut self, edit: &ApplyTextPatch) -> Done<()> {
        let (files, malformed) = unified::parse(&edit.patch);
        if !malformed.is_empty() {
            return Err(Fail::Errors(malformed.into_iter().map(not_a_patch).collect()));
        }
        let mut errors = Vec::new();
        for file in &files {
            match self.apply_file(file) {
                Ok(()) => {}
                Err(Fail::Errors(more)) => errors.extend(more),
                Err(fail) => return Err(fail),
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(Fail::Errors(errors)) }
    }

    fn apply_file(&mut self, file: &FilePatch<'_>) -> Done<()> {
        match (file.old, file.new) {
            (None, None) => Err(misfit(file.line, "the patch names no text").into()),
            (None, Some(new)) => self.add_file(file, new),
            (Some(old), None) => {
                let of = self.patched_entity(file, old)?;
                let removal = Remove { of: of.to_string(), cascade: false };
                let removed = match of.kind {
                    RefKind::Function => self.remove_function(&removal),
                    RefKind::Type => self.remove_type(&removal),
                    RefKind::Variable => self.remove_variable(&removal),
                    _ => self.remove_module(&removal),
                };
                removed.map_err(|fail| at(fail, file))
            }
            (Some(old), Some(new)) => {
                let of = self.patched_entity(file, old)?;
                if !same_name(old, new) {
                    let message = format!(
                        "`{}` becomes `{}`: a patch changes texts, and renames by what stands in them",
                        shortened(old),
                        shortened(new)
                    );
                    let error = misfit(file.line, message).found(shortened(new));
                    return Err(error.expected([format!("+++ b/{}", bare_name(old))]).into());
                }
                match of.kind {
                    RefKind::Module => {
                        self.patch_module(file, self.entity_of::<ModuleRef>(&["patch"], &of.to_string())?)
                    }
                    RefKind::Function => {
                        self.patch_function(file, self.entity_of::<FuncRef>(&["patch"], &of.to_string())?)
                    }
                    RefKind::Type => {
                        self.patch_type(file, self.entity_of::<TypeRef>(&["patch"], &of.to_string())?)
                    }
                    _ => self.patch_storage(file, self.entity_of::<VarRef>(&["patch"], &of.to_string())?),
                }
            }
        }
    }

    fn patch_module(&mut self, file: &FilePatch<'_>, module: ModuleRef) -> Done<()> {
        let (patched, detail) = patched(file, |detail| text::print_module(&self.program, module, detail))
            .map_err(Fail::Errors)?;
        let before = self.program.clone();
        let given = Written::with_names(&patched.text, &self.names);
        let replaced = text::replace_module(&mut self.program, self.refs, module, given, Some(detail))
            .map_err(|errors| self.in_patch(errors, &patched))?;
        // Where things stand in the patched text means nothing to whoever wrote the patch.
        self.settle_module(&before, &["patch"], replaced.added, &replaced.removed)
            .map_err(|fail| at(fail, file))
    }

    fn patch_function(&mut self, file: &FilePatch<'_>, function: FuncRef) -> Done<()> {
        let (patched, detail) = patched(file, |detail| text::print_function(&self.program, function, detail))
            .map_err(Fail::Errors)?;
        let given = Written::with_names(&patched.text, &self.names);
        text::replace_function(&mut self.program, self.refs, function, given, Some(detail))
            .map_err(|errors| self.in_patch(errors, &patched))?;
        Ok(())
    }

    fn patch_type(&mut self, file: &FilePatch<'_>, ty: TypeRef) -> Done<()> {
        let (patched, _) =
            patched(file, |detail| text::print_type(&self.program, ty, detail)).map_err(Fail::Errors)?;
        let given = Written::with_names(&patched.text, &self.names);
        text::replace_type(&mut self.program, self.refs, ty, given)
            .map_err(|errors| self.in_patch(errors, &patched))?;
        Ok(())
    }

    fn patch_storage(&mut self, file: &FilePatch<'_>, of: VarRef) -> Done<()> {
        let (patched, _) =
            patched(file, |detail| text::print_storage(&self.program, of, detail)).map_err(Fail::Errors)?;
        let given = Written::with_names(&patched.text, &self.names);
        text::replace_storage(&mut self.program, self.refs, of, given)
            .map_err(|errors| self.in_patch(errors, &patched))?;
        Ok(())
    }

    /// Adds a text that a patch makes from nothing: items of a module that is there, a function behind the path of one, or
    /// a new module.
    fn add_file(&mut self, file: &FilePatch<'_>, new: &str) -> Done<()> {
        let patched = unified::apply("", &file.hunks).map_err(|misfits| {
            Fail::Errors(misfits.into_iter().map(|one| does_not_apply(file, one)).collect())
        })?;
        let path = paths(new).last().copied().unwrap_or(new);
        let around = path.rsplit_once("::").map_or("", |(around, _)| around);
        let module_at =
            |path: &str| self.program.resolve(path).into_iter().find(|of| of.kind == RefKind::Module);
        let module = module_at(path).or_else(|| module_at(around)).map(|of| of.to_string());
        let text = patched.text.clone();
        self.add_text(&AddText { module, text }).map_err(|fail| match fail {
            Fail::Errors(errors) => Fail::Errors(
                errors
                    .into_iter()
                    .map(|error| EditError {
                        path: vec!["patch".to_owned()],
                        line: error.line.and_then(|line| patched.origins.get(line as usize - 1).copied()?),
                        column: error.column.map(|column| column + 1),
                        ..error
                    })
                    .collect(),
            ),
            Fail::Follows | Fail::Stale(_) => fail,
        })
    }

    /// The module, function, type or storage that a `---` line names.
    fn patched_entity(&self, file: &FilePatch<'_>, name: &str) -> Done<Ref> {
        let kinds = [RefKind::Module, RefKind::Function, RefKind::Type, RefKind::Variable];
        for path in paths(name) {
            let Ok(of) = self.entity(&["patch"], path) else { continue };
            let local = matches!(self.program.place(of), Some(Place::Variable(..)));
            if kinds.contains(&of.kind) && !local {
                return Ok(of);
            }
            let error = wrong_kind(&["patch"], of, &kinds);
            return Err(EditError { line: Some(file.line), column: Some(1), ..error }.into());
        }
        let path = paths(name).last().copied().unwrap_or(name);
        let modules = self.program.modules().map(|(module, _)| self.program.path(module.into()));
        let functions = self.program.functions().map(|(function, _)| self.program.path(function.into()));
        let known: Vec<String> = modules.chain(functions).collect();
        let message = format!("there is no text of `{}`", shortened(path));
        let error = EditError::new(code::UNKNOWN_REF, &["patch"], message).found(shortened(path));
        let error = error.expected(["--- a/MODULE", "--- a/MODULE::FUNCTION"].map(str::to_owned));
        let error = error.candidates(nearest(path, known.iter().map(String::as_str)));
        Err(EditError { line: Some(file.line), column: Some(1), ..error }.into())
    }

    /// Mistakes of a patched text, at the lines of the patch that they come from.
    fn in_patch(&self, errors: Vec<TextError>, patched: &Patched) -> Fail {
        let placed = errors.into_iter().map(|error| {
            let index = (error.line as usize).saturating_sub(1);
            match patched.origins.get(index).copied().flatten() {
                Some(line) => TextError { line, column: error.column + 1, ..error },
                None => {
                    let line = patched.text.lines().nth(index).unwrap_or_default().trim();
                    let message =
                        format!("{}, in `{}`, which the patch leaves", error.message, shortened(line));
                    TextError { line: 1, column: 1, message, ..error }
                }
            }
        });
        let placed: Vec<TextError> = placed.collect();
        self.told(&["patch"], placed)
    }
}

/// What a name in a patch may stand for: as it is, and without `a/` or `b/` and `.lm`.
fn paths(name: &str) -> Vec<&str> {
    let bare = name.strip_suffix(".lm").unwrap_or(name);
    let stripped = bare.strip_prefix("a/").or_else(|| bare.strip_prefix("b/"));
    [Some(bare), stripped].into_iter().flatten().collect()
}

/// The patched text, of the detail at which the hunks are nearest to where they say they are.
fn patched(
    file: &FilePatch<'_>,
    print: impl Fn(Detail) -> String,
) -> Result<(Patched, Detail), Vec<EditError>> {
    let (mut best, mut least): (Option<(Patched, Detail)>, Option<Vec<Misfit>>) = (None, None);
    for detail in DETAILS {
        match unified::apply(&print(detail), &file.hunks) {
            Ok(patched) if best.as_ref().is_none_or(|(best, _)| patched.distance < best.distance) => {
                best = Some((patched, detail));
            }
            Ok(_) => {}
            Err(misfits) if least.as_ref().is_none_or(|least| misfits.len() < least.len()) => {
                least = Some(misfits);
            }
            Err(_) => {}
        }
    }
    let misfits = least.unwrap_or_default();
    best.ok_or_else(|| misfits.into_iter().map(|misfit| does_not_apply(file, misfit)).collect())
}

/// What a line of a patch names, without the side that it is of.
fn bare_name(name: &str) -> &str {
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

/// Whether both sides name one text.
fn same_name(old: &str, new: &str) -> bool {
    old == new || bare_name(old) == bare_name(new)
}

fn not_a_patch(line: Malformed) -> EditError {
    let message = format!("expected {}, found `{}`", line.expected, line.found);
    let error = EditError::new(code::PATCH_MALFORMED, &["patch"], message);
    let error = error.expected([line.expected.to_owned()]).found(line.found);
    EditError { line: Some(line.line), column: Some(1), ..error }
}

fn misfit(line: u32, message: impl Into<String>) -> EditError {
    let error = EditError::new(code::PATCH_MISFIT, &["patch"], message);
    EditError { line: Some(line), column: Some(1), ..error }
}

fn does_not_apply(file: &FilePatch<'_>, found: Misfit) -> EditError {
    let name = shortened(file.old.or(file.new).unwrap_or_default());
    let Misfit { hunk, line, expected, found, fits } = found;
    if !fits.is_empty() {
        let places: Vec<String> = fits.iter().take(8).map(usize::to_string).collect();
        let message = format!(
            "hunk {hunk} of `{name}` fits at {} places and does not say which: lines {}",
            fits.len(),
            places.join(", ")
        );
        return misfit(line, message).expected(["`@@ -LINE,COUNT +LINE,COUNT @@`".to_owned()]);
    }
    let there = match &found {
        Some((at, text)) => format!("line {at} is `{}`", shortened(text.trim())),
        None => "the text ends before it".to_owned(),
    };
    let message = format!("hunk {hunk} of `{name}` expects `{}`, and {there}", shortened(expected.trim()));
    let error = misfit(line, message).expected([expected]);
    match found {
        Some((_, text)) => error.found(text),
        None => error,
    }
}

/// A refusal at the line that names the text.
fn at(fail: Fail, file: &FilePatch<'_>) -> Fail {
    let place = |error: EditError| EditError {
        path: vec!["patch".to_owned()],
        line: error.line.or(Some(file.line)),
        column: error.column.or(Some(1)),
        ..error
    };
    match fail {
        Fail::Errors(errors) => Fail::Errors(errors.into_iter().map(place).collect()),
        Fail::Follows | Fail::Stale(_) => fail,
    }
}
