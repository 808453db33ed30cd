//! A context for a model: what belongs to a focus, within a budget of tokens, as a whole or as what has changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lmlang_ir::text::Detail;
use lmlang_ir::{Program, Ref};

use crate::compress::{Compressor, Form, Piece, Stage};
use crate::fit::OverBudget;
use crate::gather::{Gathered, NAMED, gather};
use crate::section::{Role, Section};
use crate::token::{Token, Told};

/// The tokens that a budget may have.
pub const MOST_TOKENS: usize = 200_000;
/// What may be asked for at once.
pub const MOST_FOCUS: usize = 50;
/// Bytes of text per token of the budget that are looked at: compression does not make more of them fit.
const BYTES_PER_TOKEN: usize = 24;
/// The same, whatever the budget.
const LEAST_BYTES: usize = 1 << 16;
/// Entries of `omitted` that name one section each, at most.
const OMITTED: usize = 40;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The name of the program.
    pub name: &'a str,
    /// The number of its revision.
    pub revision: u64,
    /// What it is about.
    pub focus: &'a [Ref],
    /// How much a text says: [`Detail::Full`] has runs too, [`Detail::Summary`] no comments, and refs only where needed.
    pub detail: Detail,
    /// The tokens that the text may take.
    pub budget: usize,
    /// How it is counted and abbreviated.
    pub compressor: &'a Compressor,
    /// What the caller was told before.
    pub since: Option<Since<'a>>,
}

/// What a caller was told before.
#[derive(Clone, Copy, Debug)]
pub struct Since<'a> {
    /// Its token.
    pub token: &'a Token,
    /// The program of then.
    pub program: &'a Program,
}

impl Since<'_> {
    /// Whether what was told says as much as something in a detail.
    fn covers(&self, detail: Detail) -> bool {
        self.token.told.detail >= detail
    }
}

/// A context.
#[derive(Clone, Debug, PartialEq)]
pub struct Pack {
    /// The text.
    pub text: String,
    /// Its tokens.
    pub tokens_used: usize,
    /// What it would take without compression.
    pub tokens_whole: usize,
    /// The part of it that is left.
    pub compression_ratio: f64,
    /// The stages that were applied.
    pub stages: Vec<Stage>,
    /// What the text tells, in its order.
    pub included: Vec<Item>,
    /// What belongs to it and was told neither here nor before.
    pub omitted: Vec<Omitted>,
    /// What has changed in the working set: what is told, what is gone, and what belongs to it no longer. Empty without
    /// [`Since`].
    pub changed: Vec<Ref>,
    /// All that the caller has been told by now.
    pub told: Told,
}

/// Something that the text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// What.
    pub of: Ref,
    /// Why.
    pub role: Role,
    /// The tokens that it takes.
    pub tokens: usize,
    /// The last stage that changed it.
    pub stage: Option<Stage>,
}

/// Why something is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Omission {
    /// Comments; the count is of lines.
    Comments,
    /// The middle of one section; the count is of lines.
    Lines,
    /// The rest of one section behind its head; the count is of lines.
    Rest,
    /// Sections of a role; the count is of sections.
    Sections(Role),
}

/// Something that the text does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// Why.
    pub why: Omission,
    /// How much.
    pub count: usize,
    /// Of what: all, or the first of them.
    pub of: Vec<Ref>,
}

/// Makes a context: gathers what belongs to the focus, or what has changed of it, and compresses it until it fits.
///
/// # Errors
///
/// Not even the focus in its smallest form fits.
pub fn pack(program: &Program, request: &Request<'_>) -> Result<Pack, OverBudget> {
    let most_bytes = LEAST_BYTES + BYTES_PER_TOKEN * request.budget;
    let now = gather(program, request.focus, request.detail, most_bytes);
    let mut header = format!("; program {} @ r{}\n", request.name, request.revision);
    let mut told = Told { detail: request.detail, ..Told::default() };
    let mut beyond = now.beyond.clone();
    let (sections, changed) = match request.since {
        None => (now.sections, Vec::new()),
        Some(since) => {
            let delta = delta(program, request, since, &now, most_bytes);
            header.push_str(&delta.heading);
            if since.covers(request.detail) {
                told = Told { detail: request.detail, ..since.token.told.clone() };
                told.forget(&delta.gone);
            }
            delta.untold.iter().for_each(|section| leave_out(&mut beyond, section));
            (delta.sections, delta.changed)
        }
    };
    let compressed = request.compressor.compress(&header, &sections, request.budget)?;
    let mut included = Vec::new();
    for (section, piece) in sections.iter().zip(&compressed.pieces) {
        told.note(section, piece.form == Form::Whole);
        if piece.form != Form::LeftOut {
            let Piece { tokens, stage, .. } = *piece;
            included.push(Item { of: section.of, role: section.role, tokens, stage });
        }
    }
    Ok(Pack {
        compression_ratio: compressed.compression_ratio(),
        tokens_used: compressed.tokens_used,
        tokens_whole: compressed.tokens_whole,
        omitted: omitted(&sections, &compressed.pieces, compressed.comments_removed, beyond),
        text: compressed.content,
        stages: compressed.applied,
        included,
        changed,
        told,
    })
}

/// What has changed.
struct Delta {
    heading: String,
    sections: Vec<Section>,
    /// What is as it was, and was not told as a whole.
    untold: Vec<Section>,
    changed: Vec<Ref>,
    /// What is there no longer, or belongs to the working set no longer.
    gone: BTreeSet<Ref>,
}

/// Compares what belongs to the focus now with what belonged to it then. A section is told when it is new in the working
/// set, when its text is another one, or when the caller asks about something new and was never told; all of them are when
/// the caller was told in less detail.
fn delta(
    program: &Program,
    request: &Request<'_>,
    since: Since<'_>,
    now: &Gathered,
    most_bytes: usize,
) -> Delta {
    let then = gather(since.program, &since.token.focus, request.detail, most_bytes);
    let key = |section: &Section| (section.role.is_core(), section.role == Role::Caller, section.of);
    let before: HashMap<_, &Section> = then.sections.iter().map(|section| (key(section), section)).collect();
    let texts: HashMap<Ref, &str> = then
        .sections
        .iter()
        .filter(|section| section.role != Role::Caller)
        .map(|section| (section.of, section.text.as_str()))
        .collect();
    let same = |section: &Section| match before.get(&key(section)) {
        Some(old) => old.text == section.text,
        // In another role than before, the same text is not told again to whom it was told.
        None => {
            section.role != Role::Caller
                && since.token.told.has(section)
                && texts.get(&section.of).is_some_and(|old| *old == section.text)
        }
    };
    let (rest, others): (Vec<&Section>, Vec<&Section>) = now.sections.iter().partition(|one| same(one));
    let (as_told, untold): (Vec<&Section>, Vec<&Section>) =
        rest.into_iter().partition(|section| since.token.told.has(section));
    let known = then.sections.iter().map(|section| section.of).chain(since.token.told.all());
    let (known, removed): (BTreeSet<Ref>, BTreeSet<Ref>) = known.partition(|of| program.place(*of).is_some());
    // Where the same is asked for again, and all that belongs to it was looked at.
    let is_same_focus = since.token.focus == request.focus && now.beyond.is_empty();
    let belongs: BTreeSet<Ref> = now.sections.iter().map(|section| section.of).collect();
    let left: BTreeSet<Ref> = known.into_iter().filter(|of| is_same_focus && !belongs.contains(of)).collect();
    let mut heading = format!(
        "; since r{}: {} changed, {} removed, {} unchanged",
        since.token.revision,
        others.len(),
        removed.len(),
        as_told.len()
    );
    let again = !since.covers(request.detail);
    if again {
        heading.push_str(", all told again in more detail");
    } else if !untold.is_empty() {
        heading.push_str(&format!(", {} not told as a whole", untold.len()));
    }
    heading.push('\n');
    for of in &removed {
        heading.push_str(&format!("; removed: {} {of}\n", since.program.path(*of)));
    }
    for of in &left {
        heading
            .push_str(&format!("; not used here any more, and not followed: {} {of}\n", program.path(*of)));
    }
    let gone: BTreeSet<Ref> = removed.union(&left).copied().collect();
    let mut changed: Vec<Ref> = others.iter().map(|section| section.of).chain(gone.iter().copied()).collect();
    let mut seen = BTreeSet::new();
    changed.retain(|of| seen.insert(*of));
    let untold = untold.into_iter().filter(|_| !again).cloned().collect();
    let sections = now.sections.iter().filter(|section| again || !same(section)).cloned().collect();
    Delta { heading, sections, untold, changed, gone }
}

/// Counts a section among those that are not told.
fn leave_out(left_out: &mut BTreeMap<Role, (usize, Vec<Ref>)>, section: &Section) {
    let (count, named) = left_out.entry(section.role).or_default();
    *count += 1;
    named.insert(0, section.of);
    named.truncate(NAMED);
}

fn omitted(
    sections: &[Section],
    pieces: &[Piece],
    comments: usize,
    beyond: BTreeMap<Role, (usize, Vec<Ref>)>,
) -> Vec<Omitted> {
    let mut omitted = Vec::new();
    if comments > 0 {
        let of = sections.iter().filter(|section| section.has_comments).map(|section| section.of);
        omitted.push(Omitted { why: Omission::Comments, count: comments, of: of.take(NAMED).collect() });
    }
    let mut left_out = beyond;
    let mut more: BTreeMap<Omission, Omitted> = BTreeMap::new();
    for (section, piece) in sections.iter().zip(pieces) {
        let count = section.line_count().saturating_sub(section.head.lines().count());
        let why = match piece.form {
            Form::Whole => continue,
            Form::Summary => Omission::Lines,
            Form::Reference => Omission::Rest,
            Form::LeftOut => {
                leave_out(&mut left_out, section);
                continue;
            }
        };
        if omitted.len() < OMITTED {
            omitted.push(Omitted { why, count, of: vec![section.of] });
        } else {
            let rest = more.entry(why).or_insert(Omitted { why, count: 0, of: Vec::new() });
            rest.count += count;
            if rest.of.len() < NAMED {
                rest.of.push(section.of);
            }
        }
    }
    omitted.extend(more.into_values());
    let sections = |(role, (count, of))| Omitted { why: Omission::Sections(role), count, of };
    omitted.extend(left_out.into_iter().map(sections));
    omitted
}
