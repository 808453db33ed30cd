//! The reference, as Markdown: the commands, the operators, and the codes of findings, errors and traps.

use std::fmt::Write;

use clap::{Arg, Command};
use lmlang_graphql::schema::ops::{OpSpec, PortSpec};
use lmlang_ir::CodePage;

use crate::exit::Exit;
use crate::settings::{LAYERS, NAMES};

/// The width of a help text.
const WIDTH: usize = 100;

/// All commands, each with its help, the exit codes, and the settings.
pub(crate) fn commands(command: Command) -> String {
    let mut command = command.term_width(WIDTH);
    command.build();
    let mut text = "# Commands\n\nWhat `lmlang help` says of each command.\n".to_owned();
    add_command(&mut text, &mut command, "");
    text.push_str("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n");
    for exit in Exit::ALL {
        add(&mut text, format_args!("| {} | {} |\n", exit.number(), exit.meaning()));
    }
    add(&mut text, format_args!("| n | {} |\n", Exit::of_program(0).meaning()));
    add(&mut text, format_args!("\n## Settings\n\n{LAYERS}\n\n| setting | meaning |\n| --- | --- |\n"));
    for (name, meaning) in NAMES {
        add(&mut text, format_args!("| `{name}` | {meaning} |\n"));
    }
    text
}

fn add_command(text: &mut String, command: &mut Command, before: &str) {
    let name = format!("{before}{}", command.get_name());
    // The options of all commands stand under the first.
    let hide = |arg: Arg| {
        let everywhere = arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str());
        arg.hide(everywhere && !before.is_empty())
    };
    let help = command.clone().mut_args(hide).render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    add(text, format_args!("\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()));
    for inner in command.get_subcommands_mut() {
        add_command(text, inner, &format!("{name} "));
    }
}

/// Operators by what they belong to, each with its ports and a use.
pub(crate) fn operators(specs: &[OpSpec]) -> String {
    let mut text = "# Operators\n\nWhat nodes compute. `T` and `U` are attributes: `add.i32`. `ops` asks for the same over GraphQL.\n".to_owned();
    let mut groups: Vec<&str> = Vec::new();
    for spec in specs {
        if !groups.contains(&spec.group) {
            groups.push(spec.group);
        }
    }
    for group in groups {
        add(&mut text, format_args!("\n## {group}\n"));
        for spec in specs.iter().filter(|spec| spec.group == group) {
            add_operator(&mut text, spec);
        }
    }
    text
}

fn add_operator(text: &mut String, spec: &OpSpec) {
    let ports = |ports: &[PortSpec]| {
        let told = ports.iter().map(|port| {
            format!("{}: {}{}", port.name, port.ty, if port.repeated { ", any number" } else { "" })
        });
        match ports {
            [] => "none".to_owned(),
            _ => told.collect::<Vec<_>>().join("; "),
        }
    };
    add(text, format_args!("\n### {}\n\n{}\n\n```lm\n{}\n```\n\n", spec.mnemonic, spec.doc, spec.example));
    let mut rows = vec![("inputs", ports(&spec.inputs)), ("outputs", ports(&spec.outputs))];
    if !spec.attributes.is_empty() {
        rows.push(("attributes", spec.attributes.join("; ")));
    }
    if !spec.regions.is_empty() {
        rows.push(("regions", spec.regions.join(", ")));
    }
    rows.push(("effect", format!("{:?}", spec.effect).to_lowercase()));
    if !spec.traps.is_empty() {
        rows.push(("traps", spec.traps.join(", ")));
    }
    rows.extend(spec.wasm.map(|wasm| ("WebAssembly", wasm.to_owned())));
    for (name, value) in rows {
        add(text, format_args!("* {name}: {value}\n"));
    }
}

/// Codes, each with what it means and what to do.
pub(crate) fn codes(pages: &[CodePage]) -> String {
    let mut text = "# Codes\n\nThe codes of findings, refused edits, texts, traps and errors. `diagnosticCode` asks for one over GraphQL.\n".to_owned();
    for page in pages {
        let CodePage { code, title, meaning, example, repair, repaired } = page;
        let title = title.trim_end_matches('.');
        add(
            &mut text,
            format_args!("\n## {code}\n\n**{title}**: {meaning}\n\n```text\n{}\n```\n\n", example.trim_end()),
        );
        add(&mut text, format_args!("{repair}\n"));
        if let Some(repaired) = repaired {
            add(&mut text, format_args!("\n```text\n{}\n```\n", repaired.trim_end()));
        }
    }
    text
}

fn add(text: &mut String, more: std::fmt::Arguments<'_>) {
    text.write_fmt(more).expect("a string takes everything");
}
