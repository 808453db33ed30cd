//! The form of scenarios: what `tests/scenarios/README.md` says.

/// A fenced block of a file.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// What stands after the fence.
    pub(crate) kind: String,
    pub(crate) text: String,
    /// The line of the fence, from 1.
    pub(crate) line: usize,
}

/// What a heading begins.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) title: String,
    pub(crate) steps: Vec<Step>,
}

/// One request with the answer that is expected.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) request: Request,
    /// Whether it stores something.
    pub(crate) changes: bool,
    /// The answer as text, and where it stands.
    pub(crate) expected: Block,
}

#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// A document, with its variables and the name of the operation.
    Document { query: String, variables: String, operation: Option<String> },
    /// A request as it goes over the wire: its first line, headers and body.
    Raw { line: String, headers: String, body: Vec<u8> },
}

/// The scenarios of a file; a mistake of form is told with its line.
pub(crate) fn scenarios(text: &str) -> Result<Vec<Scenario>, String> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    let mut open: Option<(Block, String)> = None;
    for (title, block) in blocks(text)? {
        let at = |what: &str| format!("line {}: {what}", block.line);
        if scenarios.last().is_none_or(|last| last.title != title) {
            if let Some((block, _)) = open.take() {
                return Err(format!("line {}: a request without an answer", block.line));
            }
            scenarios.push(Scenario { title, steps: Vec::new() });
        }
        let kind = block.kind.split(' ').next().unwrap_or_default();
        match (kind, &mut open) {
            // What models say, from the beginning on.
            ("script", None) => {}
            ("graphql" | "http", None) => open = Some((block, String::new())),
            ("json", Some((_, variables))) => *variables = block.text,
            ("answer", Some(_)) => {
                let (request, variables) = open.take().expect("a request is open");
                let step = step(request, variables, block)?;
                scenarios.last_mut().expect("a heading was seen").steps.push(step);
            }
            _ => return Err(at(&format!("a block `{}` does not belong here", block.kind))),
        }
    }
    match open {
        Some((block, _)) => Err(format!("line {}: a request without an answer", block.line)),
        None => Ok(scenarios),
    }
}

/// The script by which models answer in a file, if it has one.
pub(crate) fn script(text: &str) -> Option<String> {
    let found = blocks(text).ok()?.into_iter().find(|(_, block)| block.kind == "script");
    found.map(|(_, block)| block.text)
}

fn step(request: Block, variables: String, expected: Block) -> Result<Step, String> {
    let words: Vec<&str> = request.kind.split(' ').collect();
    let changes = words.contains(&"changes");
    let operation = words.iter().find_map(|word| word.strip_prefix("operation=")).map(str::to_owned);
    let text = unfold(&request.text).map_err(|error| format!("line {}: {error}", request.line))?;
    let request = if words[0] == "graphql" {
        let variables = if variables.is_empty() { b"{}".to_vec() } else { unfold(&variables)? };
        let readable = |bytes| String::from_utf8(bytes).map_err(|_| "a document is not UTF-8".to_owned());
        Request::Document { query: readable(text)?, variables: readable(variables)?, operation }
    } else {
        let text = text.strip_suffix(b"\n").unwrap_or(&text);
        let (head, body) = match text.windows(2).position(|two| two == b"\n\n") {
            Some(at) => (&text[..at], text[at + 2..].to_vec()),
            None => (text, Vec::new()),
        };
        let head = String::from_utf8_lossy(head).into_owned();
        let (line, headers) = head.split_once('\n').unwrap_or((&head, ""));
        let headers: String = headers.lines().map(|header| format!("{header}\r\n")).collect();
        Request::Raw { line: line.to_owned(), headers, body }
    };
    Ok(Step { request, changes, expected })
}

/// The blocks with the titles that they stand under.
fn blocks(text: &str) -> Result<Vec<(String, Block)>, String> {
    let (mut found, mut title) = (Vec::new(), String::new());
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        match open.take() {
            Some(block) if line == "```" => found.push((title.clone(), block)),
            Some(mut block) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            None => {
                if let Some(kind) = line.strip_prefix("```") {
                    open = Some(Block { kind: kind.to_owned(), text: String::new(), line: index + 1 });
                } else if line.starts_with('#') {
                    title = line.trim_start_matches('#').trim().to_owned();
                }
            }
        }
    }
    match open {
        Some(block) => Err(format!("line {}: a block without an end", block.line)),
        None => Ok(found),
    }
}

/// Writes out what is abbreviated: `<3 times: a# >` is `a0 a1 a2 `, `<bytes: ff 00>` are these bytes.
pub(crate) fn unfold(text: &str) -> Result<Vec<u8>, String> {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        out.extend_from_slice(before.as_bytes());
        let Some(end) = from.find('>') else {
            rest = from;
            break;
        };
        match abbreviation(&from[1..end])? {
            Some(bytes) => {
                out.extend(bytes);
                rest = &from[end + 1..];
            }
            None => {
                out.push(b'<');
                rest = &from[1..];
            }
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

fn abbreviation(inner: &str) -> Result<Option<Vec<u8>>, String> {
    let Some((lead, what)) = inner.split_once(':') else { return Ok(None) };
    if lead == "bytes" {
        let byte = |hex| u8::from_str_radix(hex, 16).map_err(|_| format!("`{hex}` is no byte"));
        return what.split_whitespace().map(byte).collect::<Result<Vec<u8>, String>>().map(Some);
    }
    let Some(count) = lead.strip_suffix(" times").and_then(|count| count.parse::<usize>().ok()) else {
        return Ok(None);
    };
    let what = what.strip_prefix(' ').unwrap_or(what);
    Ok(Some((0..count).flat_map(|at| what.replace('#', &at.to_string()).into_bytes()).collect()))
}

/// The text of a file with other answers; `answers` are the expected blocks with what should stand in them.
pub(crate) fn with_answers(text: &str, answers: &[(Block, String)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (block, answer) in answers.iter().rev() {
        let from = block.line;
        let to = from + block.text.lines().count();
        lines.splice(from..to, answer.lines().map(str::to_owned));
    }
    lines.join("\n") + "\n"
}

#[test]
fn abbreviations_are_written_out() {
    let check = |text: &str, expect: &[u8]| assert_eq!(unfold(text).expect(text), expect);
    check("a<3 times: x#,>b", b"ax0,x1,x2,b");
    check("<2 times:{>", b"{{");
    check("<bytes: ff 00>", &[0xff, 0]);
    check("array<i64> < b", b"array<i64> < b");
    check("a <", b"a <");
}
