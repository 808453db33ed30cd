//! A patch against the text form, over any number of modules and functions.

mod unified;

use std::collections::BTreeSet;

use lmlang_ir::text::{self, Detail, Renewed, TextError, Written, nearest};
use lmlang_ir::{ModuleRef, Place, Ref, RefKind};

use super::error::{Done, EditError, Fail, code};
use super::inputs::{ApplyTextPatch, MoveFunction, Remove, Rename};
use super::session::{Session, shortened, wrong_kind};
use unified::{FilePatch, Malformed, Misfit, Patched};

/// The details that a text can have been read at; of two at which a patch fits as well the first is meant.
const DETAILS: [Detail; 3] = [Detail::Full, Detail::Standard, Detail::Summary];

/// In which order the parts of a patch are carried out; one that has to wait for another is tried again behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Modules are made.
    Modules,
    /// Modules change.
    InModules,
    /// Types and storage are made, or change.
    Declarations,
    /// Functions are made.
    Functions,
    /// Functions change.
    Bodies,
    /// Functions go.
    NoFunctions,
    /// Types and storage go.
    NoDeclarations,
    /// Modules go.
    NoModules,
}

/// What a patch says of one text.
struct Part<'p> {
    phase: Phase,
    file: &'p FilePatch<'p>,
    what: What<'p>,
}

enum What<'p> {
    /// Something is made: behind a path, or in the module of that path.
    Make {
        path: &'p str,
        patched: Patched,
    },
    /// The text of an entity becomes another one.
    Change {
        of: Ref,
        /// What it is by the hunks as they were held against the old one; nothing where they did not fit.
        fit: Option<Fit>,
        /// Its path from now on, where that is another one.
        renamed: Option<&'p str>,
    },
    Remove(Ref),
}

/// A text by the hunks.
struct Fit {
    patched: Patched,
    /// The detail of the old text.
    detail: Detail,
    /// What the entity was then.
    state: Option<String>,
}

impl Session<'_> {
    /// Applies a patch: what it says of all texts, or nothing.
    pub(super) fn apply_text_patch(&mut self, edit: &ApplyTextPatch) -> Done<()> {
        let (files, malformed) = unified::parse(&edit.patch);
        if !malformed.is_empty() {
            return Err(Fail::Errors(malformed.into_iter().map(not_a_patch).collect()));
        }
        let (mut parts, mut errors, mut misfits) = (Vec::new(), Vec::new(), Vec::new());
        for file in &files {
            match self.part(file) {
                Ok(part) => {
                    if let What::Change { of, fit: None, .. } = part.what {
                        misfits.extend(self.patched(file, of).err().into_iter().flatten());
                    }
                    parts.push(part);
                }
                Err(Fail::Errors(more)) => errors.extend(more),
                Err(fail) => return Err(fail),
            }
        }
        if !errors.is_empty() {
            errors.append(&mut misfits);
            return Err(Fail::Errors(errors));
        }
        parts.sort_by_key(|part| part.phase);
        let mut parts = together(parts);
        let removed: BTreeSet<Ref> = parts
            .iter()
            .filter_map(|part| match part.what {
                What::Remove(of) => Some(of),
                What::Make { .. } | What::Change { .. } => None,
            })
            .collect();
        let mut renewed = Renewed::default();
        let mut changes = parts.split_off(parts.partition_point(|part| part.phase == Phase::Modules));
        self.apply_parts(parts, &removed, &mut renewed)?;
        for part in &mut changes {
            self.give_path(part)?;
        }
        // What they were when the hunks were held against them, but for their names.
        for part in &mut changes {
            if let What::Change { of, fit: Some(fit), .. } = &mut part.what {
                fit.state = self.state(*of);
            }
        }
        self.apply_parts(changes, &removed, &mut renewed)
    }

    /// Carries out parts, those that fail once more behind the others, for as long as that helps.
    fn apply_parts(
        &mut self,
        mut parts: Vec<Part<'_>>,
        removed: &BTreeSet<Ref>,
        renewed: &mut Renewed,
    ) -> Done<()> {
        loop {
            let (count, mut left, mut errors) = (parts.len(), Vec::new(), Vec::new());
            for part in parts {
                let before = self.program.clone();
                match self.apply_part(&part, removed, renewed) {
                    Ok(()) => {}
                    Err(Fail::Errors(more)) => {
                        self.program = before;
                        errors.extend(more);
                        left.push(part);
                    }
                    Err(fail) => return Err(fail),
                }
            }
            if left.is_empty() {
                return Ok(());
            }
            if left.len() == count {
                return Err(Fail::Errors(errors));
            }
            parts = left;
        }
    }

    /// Holds what a patch says of one text against that text.
    fn part<'p>(&self, file: &'p FilePatch<'p>) -> Done<Part<'p>> {
        let (phase, what) = match (file.old, file.new) {
            (None, None) => return Err(misfit(file.line, "the patch names no text").into()),
            (None, Some(new)) => {
                let patched = unified::apply("", &file.hunks).map_err(|misfits| {
                    Fail::Errors(misfits.into_iter().map(|one| does_not_apply(file, one)).collect())
                })?;
                let path = paths(new).last().copied().unwrap_or(new);
                (made_in(&patched.text), What::Make { path, patched })
            }
            (Some(old), None) => {
                let of = self.patched_entity(file, old)?;
                let phase = match of.kind {
                    RefKind::Function => Phase::NoFunctions,
                    RefKind::Module => Phase::NoModules,
                    _ => Phase::NoDeclarations,
                };
                (phase, What::Remove(of))
            }
            (Some(old), Some(new)) => {
                let of = self.patched_entity(file, old)?;
                let phase = match of.kind {
                    RefKind::Module => Phase::InModules,
                    RefKind::Function => Phase::Bodies,
                    _ => Phase::Declarations,
                };
                let renamed = (!same_name(old, new)).then(|| bare_name(new));
                // Where they do not fit, another part may change the text first.
                let fit = self.patched(file, of).ok();
                (phase, What::Change { of, fit, renamed })
            }
        };
        Ok(Part { phase, file, what })
    }

    /// The patched text of an entity, of the detail at which the hunks are nearest to where they say they are.
    fn patched(&self, file: &FilePatch<'_>, of: Ref) -> Result<Fit, Vec<EditError>> {
        let (mut best, mut least): (Option<Fit>, Option<Vec<Misfit>>) = (None, None);
        for detail in DETAILS {
            let text = text::print_entity(&self.program, of, detail).unwrap_or_default();
            match unified::apply(&text, &file.hunks) {
                Ok(patched) if best.as_ref().is_none_or(|best| patched.distance < best.patched.distance) => {
                    best = Some(Fit { patched, detail, state: self.state(of) });
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

    /// What tells whether the text of an entity is another one by now, whatever is called otherwise in it.
    fn state(&self, of: Ref) -> Option<String> {
        match self.program.place(of)? {
            Place::Function(function) => Some(self.program.function(function)?.content_hash().to_string()),
            Place::Module(module) => text::module_hash(&self.program, module).map(|hash| hash.to_string()),
            _ => text::print_entity(&self.program, of, Detail::Full),
        }
    }

    /// Renames or moves what a patch gives another path.
    fn give_path(&mut self, part: &Part<'_>) -> Done<()> {
        let What::Change { of, renamed: Some(path), .. } = part.what else { return Ok(()) };
        let now = self.program.path(of);
        if now == path {
            return Ok(());
        }
        let name_now = self.program.name(of).map(|name| name.to_string()).unwrap_or_default();
        let around_now = now.strip_suffix(name_now.as_str()).and_then(|around| around.strip_suffix("::"));
        let around_now = around_now.unwrap_or_default();
        // What has `::` in its name stays where it is, as long as its path begins so.
        let beside = || path.strip_prefix(around_now)?.strip_prefix("::");
        let (around, name) = match (beside().filter(|_| name_now.contains("::")), path.rsplit_once("::")) {
            (Some(name), _) => (around_now, name),
            (None, Some(parts)) => parts,
            (None, None) => ("", path),
        };
        let done = if around == around_now {
            Ok(())
        } else if of.kind == RefKind::Function {
            self.move_function(&MoveFunction { of: of.to_string(), module: around.to_owned() })
        } else {
            let message =
                format!("`{}` becomes `{}`: only functions are moved", shortened(&now), shortened(path));
            Err(misfit(part.file.line, message).into())
        };
        let done = done.and_then(|()| match name == name_now {
            true => Ok(()),
            false => self.rename(&Rename { of: of.to_string(), name: name.to_owned() }, of.kind),
        });
        done.map_err(|fail| at(fail, part.file))
    }

    fn apply_part(&mut self, part: &Part<'_>, removed: &BTreeSet<Ref>, renewed: &mut Renewed) -> Done<()> {
        match &part.what {
            What::Make { path, patched } => self.make(path, patched, renewed),
            What::Remove(of) => self.remove(*of, removed).map_err(|fail| at(fail, part.file)),
            What::Change { renamed: Some(_), .. } if part.file.hunks.is_empty() => Ok(()),
            What::Change { of, fit, renamed } => {
                match fit.as_ref().filter(|fit| fit.state == self.state(*of)) {
                    Some(fit) => self.change(part.file, *of, fit, renewed)?,
                    None => {
                        let fit = self.patched(part.file, *of).map_err(Fail::Errors)?;
                        self.change(part.file, *of, &fit, renewed)?;
                    }
                }
                match renamed.filter(|path| *path != self.program.path(*of)) {
                    None => Ok(()),
                    Some(path) => {
                        let found = self.program.path(*of);
                        let message = format!(
                            "the patch calls it `{}`, and its text `{}`",
                            shortened(path),
                            shortened(&found)
                        );
                        Err(misfit(part.file.line, message).expected([path.to_owned()]).found(found).into())
                    }
                }
            }
        }
    }

    /// Makes the text of an entity another one.
    fn change(
        &mut self,
        file: &FilePatch<'_>,
        of: Ref,
        Fit { patched, detail, .. }: &Fit,
        renewed: &mut Renewed,
    ) -> Done<()> {
        renewed.extend(&patched.text, &self.program, self.refs);
        let given = Written::with_names(&patched.text, &self.names).renewing(renewed);
        let (program, refs) = (&mut self.program, &mut *self.refs);
        // Where things stand in the patched text means nothing to whoever wrote the patch.
        let replaced = match program.place(of) {
            Some(Place::Module(module)) => {
                let before = program.clone();
                let replaced = text::replace_module(program, refs, module, given, Some(*detail));
                let replaced = replaced.map_err(|errors| self.in_patch(errors, patched))?;
                let settled = self.settle_module(&before, &["patch"], replaced.added, &replaced.removed);
                return settled.map_err(|fail| at(fail, file));
            }
            Some(Place::Function(function)) => {
                text::replace_function(program, refs, function, given, Some(*detail))
            }
            Some(Place::Type(ty)) => text::replace_type(program, refs, ty, given),
            Some(Place::Storage(storage)) => text::replace_storage(program, refs, storage, given),
            _ => return Err(self.unknown(&["patch"], of).into()),
        };
        replaced.map(drop).map_err(|errors| self.in_patch(errors, patched))
    }

    /// Makes what stands in a text: items of a module that is there, a function behind the path of one, or a new module.
    fn make(&mut self, path: &str, patched: &Patched, renewed: &mut Renewed) -> Done<()> {
        let around = path.rsplit_once("::").map_or("", |(around, _)| around);
        let module_at = |path: &str| {
            let found = self.program.resolve(path).into_iter().find(|of| of.kind == RefKind::Module);
            found.and_then(|of| ModuleRef::try_from(of).ok())
        };
        let module = module_at(path).or_else(|| module_at(around));
        renewed.extend(&patched.text, &self.program, self.refs);
        let given = Written::with_names(&patched.text, &self.names).renewing(renewed);
        let added = text::add_text(&mut self.program, self.refs, module, given)
            .map_err(|errors| self.in_patch(errors, patched))?;
        for (name, of) in added.entities {
            self.names.entry(name.to_string()).or_insert(of);
        }
        Ok(())
    }

    /// Removes an entity, which may be used by what is removed as well.
    fn remove(&mut self, of: Ref, removed: &BTreeSet<Ref>) -> Done<()> {
        let cascade = self.program.users_of(of).all(|(user, _)| removed.contains(&user));
        let removal = Remove { of: of.to_string(), cascade };
        match of.kind {
            RefKind::Function => self.remove_function(&removal),
            RefKind::Type => self.remove_type(&removal),
            RefKind::Variable => self.remove_variable(&removal),
            _ => self.remove_module(&Remove { cascade: false, ..removal }),
        }
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

/// What a text that is made from nothing has in it: which phase it belongs to.
fn made_in(text: &str) -> Phase {
    let mut items = text.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.split_whitespace().next().filter(|_| line.starts_with(|c: char| c.is_ascii_alphabetic()))
    });
    match (items.next(), items.next()) {
        (Some("module"), None) => Phase::Modules,
        (Some("module" | "func"), _) => Phase::Functions,
        _ => Phase::Declarations,
    }
}

/// The parts with those made one that make something in the same module: their texts may name each other.
fn together(parts: Vec<Part<'_>>) -> Vec<Part<'_>> {
    let mut all: Vec<Part<'_>> = Vec::with_capacity(parts.len());
    let around = |path: &str| path.rsplit_once("::").map(|(around, _)| around.to_owned());
    for part in parts {
        if let What::Make { path, patched } = &part.what
            && part.phase != Phase::Modules
            && let Some(last) = all.last_mut().filter(|last| last.phase == part.phase)
            && let What::Make { path: before, patched: text } = &mut last.what
            && around(before) == around(path)
        {
            text.text.push_str(&patched.text);
            text.origins.extend(&patched.origins);
            continue;
        }
        all.push(part);
    }
    all
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
