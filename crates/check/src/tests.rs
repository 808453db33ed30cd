//! Laws of what is made and made smaller, apart from searches.

use std::num::NonZeroUsize;

use lmlang_interp::{Cache, Environment, Limits};
use lmlang_ir::text::parse_program;
use lmlang_ir::{RefAllocator, Type, Value};
use lmlang_testkit::generate as programs;
use lmlang_verify::Checked;
use proptest::prelude::*;

use crate::generate::{Maker, Source, firsts};
use crate::mutate::mutate;
use crate::parts::{count, part, paths, with};
use crate::pool::Pool;
use crate::probe::Probe;
use crate::random::Random;
use crate::shapes::{MOST_PARTS, Shapes};
use crate::shrink::{MOST_SHRINK_RUNS, Shrink};
use crate::simpler::{simpler, simplicity};

/// What is made for the functions of a program that is generated from a seed, each with its parameters.
fn each_function(seed: u64, mut then: impl FnMut(&mut Probe, &Source, &[Type], &mut Random)) {
    let generated = programs::seeded(seed, &programs::Options { recursion: true, ..Default::default() });
    let checked = Checked::full(generated.program.clone(), NonZeroUsize::MIN);
    let functions: Vec<_> = generated.program.functions().map(|(of, _)| of).collect();
    for (function, found) in generated.program.functions().filter(|(_, f)| f.head().captures.is_empty()) {
        let types: Vec<Type> = found.head().params.iter().map(|param| param.ty.clone()).collect();
        let Ok(shapes) = Shapes::of(&generated.program, &types) else { continue };
        let source = Source { shapes, pool: Pool::of(&generated.program, &functions) };
        let limits = Limits { fuel: 1, ..Limits::default() };
        let mut probe = Probe::new(&checked, function, limits, &Environment::default(), &Cache::new());
        then(&mut probe, &source, &types, &mut Random::new(seed));
    }
}

/// Whether a value has about as many parts as one may at most.
fn is_bounded(value: &Value) -> bool {
    count(value) <= 4 * MOST_PARTS
}

/// However large what it is made of is, and however many of that there could be.
#[test]
fn what_is_made_is_bounded() {
    let text = "module app

type Page = struct {
  lines: array<array<i8, 60000>, 1>,
  next: option<box<Page>>,
}

type Book = enum {
  none,
  pages(array<array<Page>>),
  shelf(array<array<array<i64, 60000>, 60000>, 60000>),
}

func read(a: array<array<array<Page>>>, b: array<Book>, c: array<array<array<i64, 60000>, 60000>>) -> () {
  return
}
";
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it is a program");
    let types: Vec<Type> = program
        .functions()
        .flat_map(|(_, found)| found.head().params.iter().map(|param| param.ty.clone()).collect::<Vec<_>>())
        .collect();
    let source = Source {
        shapes: Shapes::of(&program, &types).expect("there are values"),
        pool: Pool::of(&program, &[]),
    };
    for ty in &types {
        assert!(firsts(&source, ty).iter().all(is_bounded), "{ty}");
    }
    for seed in 0..60 {
        let random = &mut Random::new(seed);
        let made = |random: &mut Random| -> Vec<Value> {
            let mut maker = Maker::new(&source, random, seed as usize);
            types.iter().map(|ty| maker.value(ty)).collect()
        };
        let (args, donor) = (made(random), made(random));
        assert!(args.iter().all(is_bounded), "{seed}");
        let changed = mutate(&source, random, &args, &[1], &donor, seed as usize);
        assert!(changed.iter().all(is_bounded), "{seed}");
    }
}

/// Whoever drives a search may do so on any thread, and on another one the next time.
#[test]
fn searches_can_be_sent() {
    fn sent<T: Send>() {}
    sent::<crate::Checker>();
    sent::<crate::Difference>();
    sent::<crate::Uncovered>();
    sent::<crate::Mutation>();
}

proptest! {
    #![proptest_config(lmlang_testkit::config_of(200))]

    /// A run takes in whatever is made, changed, tried first, or simpler.
    #[test]
    fn what_is_made_is_of_its_type(seed in any::<u64>(), size in 0usize..60) {
        each_function(seed, |probe, source, types, random| {
            let mut fits = |args: &[Value], what: &str| {
                let mut fuel = u64::MAX;
                assert!(args.iter().all(is_bounded), "{what}");
                let begun = probe.begin(args, &mut fuel);
                assert!(begun.is_ok(), "{what}: {begun:?} {args:?}");
            };
            let make = |random: &mut Random| -> Vec<_> {
                let mut maker = Maker::new(source, random, size);
                types.iter().map(|ty| maker.value(ty)).collect()
            };
            let mut args = make(random);
            fits(&args, "made");
            for _ in 0..5 {
                let donor = make(random);
                args = mutate(source, random, &args, &[7, -1, i64::MAX], &donor, size);
                fits(&args, "changed");
            }
            for (index, ty) in types.iter().enumerate() {
                for first in firsts(source, ty) {
                    fits(&with(&args, &[index as u32], first), "first");
                }
            }
            for path in paths(&args).iter().take(12) {
                let simple = part(&args, path).map(|part| simpler(&source.shapes, part)).unwrap_or_default();
                for edit in simple.into_iter().take(20) {
                    let simple = part(&args, path).map(|part| edit.apply(part)).expect("it is there");
                    fits(&with(&args, path, simple), "simpler");
                }
            }
        });
    }

    /// Whatever is asked for, making smaller comes to an end, at what is asked for, and never at something less simple.
    #[test]
    fn making_smaller_ends(seed in any::<u64>(), modulus in 1u64..5) {
        each_function(seed, |_, source, types, random| {
            let mut maker = Maker::new(source, random, 20);
            let args: Vec<_> = types.iter().map(|ty| maker.value(ty)).collect();
            // Something that has no end of its own: by chance.
            let wanted = |args: &[Value]| crate::parts::fingerprint(args).is_multiple_of(modulus);
            let first = simplicity(&source.shapes, &args);
            let mut shrink = Shrink::new(&source.shapes, args);
            let mut runs = 0;
            while let Some(next) = shrink.next(&source.shapes) {
                runs += 1;
                assert!(runs <= MOST_SHRINK_RUNS);
                if wanted(&next) {
                    shrink.take(&source.shapes, next);
                }
            }
            let best = simplicity(&source.shapes, shrink.best());
            assert!(best <= first);
            if modulus == 1 {
                // Where anything is taken, the smallest of all is what is left.
                let smallest: Vec<_> = types.iter().map(|ty| source.shapes.smallest(ty)).collect();
                assert_eq!(shrink.best(), &smallest[..]);
            }
        });
    }
}
