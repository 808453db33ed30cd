//! Making a context fit into its budget.

use thiserror::Error;

use crate::abbreviations::Abbreviations;
use crate::compress::{
    Compressed, Compressor, Form, Piece, SUMMARISED_LINES, Stage, without_comments, without_whitespace,
};
use crate::section::Section;

/// A context that does not fit in its smallest form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a budget of {limit} tokens cannot hold the context, whose smallest form takes {current}")]
pub struct OverBudget {
    /// The tokens of the smallest form.
    pub current: usize,
    /// The budget.
    pub limit: usize,
}

/// The work on one context.
struct Fitting<'a> {
    compressor: &'a Compressor,
    header: &'a str,
    sections: &'a [Section],
    pieces: Vec<Piece>,
    /// The forms that they had before, the longest first.
    longer: Vec<Vec<Piece>>,
    /// Those of the dictionary that are used.
    words: Abbreviations,
    applied: Vec<Stage>,
    /// Tokens of the header and the legend, and of all pieces.
    top: usize,
    comments_removed: usize,
}

impl Compressor {
    /// A context of sections within a budget of tokens, compressed as far as needed: stages in their order, and last,
    /// sections are left out, the least useful first. `header` stands above in any case.
    ///
    /// # Errors
    ///
    /// Not even the smallest form fits.
    pub fn compress(
        &self,
        header: &str,
        sections: &[Section],
        budget: usize,
    ) -> Result<Compressed, OverBudget> {
        let mut work = Fitting {
            compressor: self,
            header,
            sections,
            pieces: Vec::with_capacity(sections.len()),
            longer: vec![Vec::new(); sections.len()],
            words: Abbreviations::new([]),
            applied: Vec::new(),
            top: self.tokenizer.count(header),
            comments_removed: 0,
        };
        for section in sections {
            let text = section.heading.clone() + &section.text;
            let tokens = self.tokenizer.count(&text);
            work.pieces.push(Piece { form: Form::Whole, stage: None, tokens, text });
        }
        let whole = work.total();
        if !work.fits(budget) {
            work.shorten(budget);
            work.restore(budget);
        }
        let content = work.content();
        // Sections begin with a letter or a semicolon and end with a line, where no token goes across. Counted anew all the
        // same: the budget is a promise.
        let used = self.tokenizer.count(&content);
        let core = sections.iter().position(|section| section.role.is_core());
        let tells_core = core.is_none_or(|at| work.pieces[at].form != Form::LeftOut);
        if used > budget || !tells_core {
            return Err(OverBudget { current: work.smallest(core).max(budget + 1), limit: budget });
        }
        Ok(Compressed {
            content,
            tokens_used: used,
            tokens_whole: whole,
            applied: work.applied,
            pieces: work.pieces,
            comments_removed: work.comments_removed,
        })
    }
}

impl Fitting<'_> {
    fn total(&self) -> usize {
        self.top + self.pieces.iter().map(|piece| piece.tokens).sum::<usize>()
    }

    fn fits(&self, budget: usize) -> bool {
        self.total() <= budget
    }

    fn content(&self) -> String {
        let mut content = self.header.to_owned() + &self.words.legend();
        self.pieces.iter().for_each(|piece| content.push_str(&piece.text));
        content
    }

    fn count(&self, text: &str) -> usize {
        self.compressor.tokenizer.count(text)
    }

    /// Goes through the stages, then through the sections from the least useful on, until it fits.
    fn shorten(&mut self, budget: usize) {
        for stage in [Stage::Comments, Stage::Abbreviations, Stage::Whitespace] {
            self.whole_texts(stage);
            if self.fits(budget) {
                return;
            }
        }
        let others: Vec<usize> = self.indices(|section| !section.role.is_core());
        let core: Vec<usize> = self.indices(|section| section.role.is_core());
        for stage in [Stage::Summaries, Stage::References] {
            self.applied.push(stage);
            if others.iter().any(|at| self.degrade(*at, stage, budget)) {
                return;
            }
        }
        // What was asked for itself is the last to become shorter.
        if others.iter().any(|at| self.leave_out(*at, budget))
            || core.iter().any(|at| self.degrade(*at, Stage::Summaries, budget))
            || core.iter().any(|at| self.degrade(*at, Stage::References, budget))
        {
            return;
        }
        for at in core.iter().take(core.len().saturating_sub(1)) {
            if self.leave_out(*at, budget) {
                return;
            }
        }
    }

    /// The sections of some roles, the least useful first.
    fn indices(&self, of: impl Fn(&Section) -> bool) -> Vec<usize> {
        (0..self.sections.len()).rev().filter(|at| of(&self.sections[*at])).collect()
    }

    /// Applies a stage to all texts.
    fn whole_texts(&mut self, stage: Stage) {
        self.applied.push(stage);
        if stage == Stage::Abbreviations {
            let texts = self.pieces.iter().map(|piece| piece.text.as_str());
            self.words = self.compressor.abbreviations.worth(texts, self.compressor.tokenizer);
            self.top = self.count(self.header) + self.count(&self.words.legend());
        }
        for at in 0..self.pieces.len() {
            let text = self.at_stage(at, stage);
            self.replace(at, stage, text);
        }
    }

    /// The text of a piece after a stage that keeps all of the code.
    fn at_stage(&mut self, at: usize, stage: Stage) -> String {
        let (section, text) = (&self.sections[at], &self.pieces[at].text);
        match stage {
            Stage::Comments => {
                let rest = text.strip_prefix(&section.heading).unwrap_or(text);
                let (rest, removed) = without_comments(rest, section.has_comments);
                self.comments_removed += removed;
                section.heading.clone() + &rest
            }
            Stage::Abbreviations => self.words.shorten(text),
            Stage::Whitespace => without_whitespace(text),
            Stage::Summaries | Stage::References => text.clone(),
        }
    }

    fn replace(&mut self, at: usize, stage: Stage, text: String) {
        if self.pieces[at].text == text {
            return;
        }
        let tokens = self.count(&text);
        let piece = &mut self.pieces[at];
        (piece.stage, piece.tokens, piece.text) = (Some(stage), tokens, text);
    }

    /// Puts a shorter form in the place of a section, if it is shorter, and tells whether all fits now.
    fn degrade(&mut self, at: usize, stage: Stage, budget: usize) -> bool {
        let section = &self.sections[at];
        let (form, text) = match stage {
            Stage::Summaries if self.pieces[at].text.lines().count() > SUMMARISED_LINES => {
                (Form::Summary, section.summary())
            }
            Stage::References => (Form::Reference, section.reference()),
            Stage::Comments | Stage::Abbreviations | Stage::Whitespace | Stage::Summaries => return false,
        };
        let Some(text) = text else { return false };
        let text = without_whitespace(&self.words.shorten(&(section.heading.clone() + &text)));
        let tokens = self.count(&text);
        if tokens < self.pieces[at].tokens {
            self.put(at, Piece { form, stage: Some(stage), tokens, text });
        }
        self.fits(budget)
    }

    fn leave_out(&mut self, at: usize, budget: usize) -> bool {
        self.put(at, Piece { form: Form::LeftOut, stage: None, tokens: 0, text: String::new() });
        self.fits(budget)
    }

    fn put(&mut self, at: usize, piece: Piece) {
        let longer = std::mem::replace(&mut self.pieces[at], piece);
        self.longer[at].push(longer);
    }

    /// Gives longer forms back where the last step left room for them, to the most useful sections first.
    fn restore(&mut self, budget: usize) {
        let mut total = self.total();
        for at in 0..self.pieces.len() {
            let others = total.saturating_sub(self.pieces[at].tokens);
            let fitting = self.longer[at].iter().find(|longer| others + longer.tokens <= budget);
            if let Some(longer) = fitting.filter(|_| total <= budget) {
                total = others + longer.tokens;
                self.pieces[at] = longer.clone();
            }
        }
    }

    /// The tokens of the header with the first section in its smallest form.
    fn smallest(&self, core: Option<usize>) -> usize {
        self.top + core.map_or(0, |at| self.pieces[at].tokens)
    }
}
