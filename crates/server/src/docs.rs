//! The documentation, embedded in the binary: for readers without a clone, and for agents, which `/llms.txt` tells what there is.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../docs"]
struct Docs;

/// How lmlang is made: pages link to it.
const ARCHITECTURE: &str = include_str!("../../../ARCHITECTURE.md");

const MARKDOWN: &str = "text/markdown; charset=utf-8";

const SUMMARY: &str = "# lmlang

> A program as a typed graph in a database. Agents and people read, change, check, run and undo the same graph over GraphQL, \
with tools over MCP, or on the command line; the server verifies every change as it lands, keeps every revision, and streams \
live edits and the traces of runs.

GraphQL is at `/graphql`, subscriptions are at `/graphql/ws`, MCP is at `/mcp`. `/llms-full.txt` has all pages in one.
";

/// What there is, a line for each page, in the form that <https://llmstxt.org> describes.
pub(crate) async fn index() -> Response {
    let mut text = format!("{SUMMARY}\n## Pages\n\n");
    let (mut guides, mut reference) = (String::new(), String::new());
    for (path, page) in pages() {
        let (title, about) = told(&page);
        let list = if path.starts_with("reference/") { &mut reference } else { &mut guides };
        writeln!(list, "- [{title}](/docs/{path}): {about}").expect("a string takes everything");
    }
    text.push_str(&guides);
    text.push_str("\n## Reference\n\n");
    text.push_str(&reference);
    text.push_str(
        "- [Schema](/schema.graphql): every type, field and argument of the GraphQL API, with descriptions\n",
    );
    typed("text/plain; charset=utf-8", text)
}

/// All pages, one after the other.
pub(crate) async fn all() -> Response {
    let pages: Vec<String> = pages().into_iter().map(|(_, page)| page).collect();
    typed("text/plain; charset=utf-8", format!("{SUMMARY}\n{}", pages.join("\n")))
}

/// The table of contents.
pub(crate) async fn contents() -> Response {
    one(Path("README.md".to_owned())).await
}

/// Where links of the table of contents lead on from.
pub(crate) async fn folder() -> Redirect {
    Redirect::permanent("/docs/")
}

/// How lmlang is made.
pub(crate) async fn architecture() -> Response {
    typed(MARKDOWN, ARCHITECTURE.to_owned())
}

/// One page, or a picture of one.
pub(crate) async fn one(Path(path): Path<String>) -> Response {
    if let (Some(picture), true) = (Docs::get(&path), path.ends_with(".png")) {
        return ([(header::CONTENT_TYPE, "image/png")], picture.data.into_owned()).into_response();
    }
    match page(&path) {
        Some(page) => typed(MARKDOWN, page),
        None => (StatusCode::NOT_FOUND, "there is no such page: /llms.txt lists all\n").into_response(),
    }
}

/// The GraphQL schema.
pub(crate) async fn schema() -> Response {
    // Printing it takes longer than all else here, and whoever asks needs no token.
    static SDL: LazyLock<String> = LazyLock::new(lmlang_graphql::schema::sdl);
    typed("text/plain; charset=utf-8", SDL.clone())
}

/// All pages with their paths, in the order of the table of contents, which comes first.
fn pages() -> Vec<(Cow<'static, str>, String)> {
    let contents = page("README.md").unwrap_or_default();
    let mut pages: Vec<_> = Docs::iter().filter_map(|path| page(&path).map(|page| (path, page))).collect();
    pages.sort_by_cached_key(|(path, _)| contents.find(&format!("]({path})")));
    pages
}

fn page(path: &str) -> Option<String> {
    if !path.ends_with(".md") {
        return None;
    }
    Some(String::from_utf8_lossy(&Docs::get(path)?.data).into_owned())
}

/// The title of a page, and the first sentence of its text.
fn told(page: &str) -> (&str, String) {
    let title = page.lines().next().unwrap_or_default().trim_start_matches('#').trim();
    let paragraphs = page.split("\n\n").map(str::trim);
    let first = paragraphs.skip(1).find(|text| text.starts_with(char::is_alphabetic)).unwrap_or_default();
    let joined = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = joined.split_once(". ").map_or(joined.as_str(), |(sentence, _)| sentence);
    (title, without_links(sentence.trim_end_matches(['.', ':'])))
}

/// A sentence with the words of its links alone: where they lead is said from the page that they are on.
fn without_links(sentence: &str) -> String {
    let (mut text, mut rest) = (String::new(), sentence);
    while let Some((before, link)) = rest.split_once('[')
        && let Some((words, target)) = link.split_once("](")
        && let Some((_, after)) = target.split_once(')')
    {
        text.push_str(before);
        text.push_str(words);
        rest = after;
    }
    text + rest
}

fn typed(kind: &'static str, text: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_told_by_its_title_and_first_sentence() {
        let page =
            "# Backups\n\n```console\n$ x\n```\n\nA [backup](backup.md) is one file\nwith all. It is made.\n";
        assert_eq!(told(page), ("Backups", "A backup is one file with all".to_owned()));
    }
}
