//! An agent that writes three functions into an empty module, through MCP alone, and is done in few calls.

use serde_json::{Value, json};

use crate::wire::Wire;
use crate::world::World;

struct Agent {
    wire: Wire,
    calls: usize,
    /// What it read last: its next base.
    revision: String,
}

impl Agent {
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.calls += 1;
        let answer = self.wire.tool(tool, arguments).await;
        let result = answer["result"].clone();
        if let Some(revision) = result["structuredContent"]["revision"].as_str() {
            self.revision = revision.to_owned();
        }
        result
    }

    async fn edit(&mut self, edits: Value) -> Value {
        let arguments = json!({ "program": "work", "base_revision": self.revision, "edits": edits });
        self.call("propose_structured_edit", arguments).await
    }

    async fn returns(&mut self, function: &str, args: Value, expect: &str) {
        let result =
            self.call("simulate", json!({ "program": "work", "function": function, "args": args })).await;
        assert!(text(&result).contains(&format!("returned {expect}")), "{}", text(&result));
    }

    /// Begins the next function.
    fn next(&mut self) {
        assert!(self.calls <= 12, "{} calls", self.calls);
        self.calls = 0;
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("there is a text")
}

/// The ref behind a word of a text: `n12` of `mul.i64#n12`.
fn node(text: &str, word: &str) -> String {
    let (_, rest) = text.split_once(&format!("{word}#")).unwrap_or_else(|| panic!("{word}: {text}"));
    rest.chars().take_while(|letter| letter.is_ascii_alphanumeric()).collect()
}

#[tokio::test]
async fn an_agent_writes_three_functions() {
    let world = World::new().await;
    let mut wire = Wire::open(&world);
    wire.initialize("2025-11-25").await;
    let mut agent = Agent { wire, calls: 0, revision: String::new() };

    // As text, with a mistake that the answer teaches to repair.
    agent.call("program", json!({ "action": "create", "name": "work", "text": "module work\n" })).await;
    let gcd = |rem: &str| {
        format!(
            "pub func gcd (a: i64, b: i64) -> (i64) {{
               r = loop L (x: i64 = a, y: i64 = b) -> (i64) {{
                 break_if L (eqz.i64 y), x
                 continue L y, ({rem} x, y)
               }}
               return r
             }}"
        )
    };
    let refused = agent.edit(json!([{ "addText": { "module": "work", "text": gcd("rem.i64") } }])).await;
    assert_eq!(refused["isError"], true);
    let near = refused["structuredContent"]["errors"][0]["candidates"].as_array().expect("there are some");
    assert!(near.contains(&json!("rem_s.i64")), "{}", text(&refused));
    let done = agent.edit(json!([{ "addText": { "module": "work", "text": gcd("rem_s.i64") } }])).await;
    assert_eq!(done["isError"], false, "{}", text(&done));
    agent.returns("work::gcd", json!([48, 36]), "i64:12").await;
    agent.next();

    // With structured edits alone: x * x + 1.
    let edits = json!([
        { "addFunction": {
            "as": "f", "name": "poly", "module": "work", "visibility": "PUBLIC",
            "params": [{ "name": "x", "type": "i64" }], "results": ["i64"],
        } },
        { "insertNode": { "as": "sq", "op": "mul.i64", "function": "$f", "inputs": ["x", "x"] } },
        { "insertNode": { "as": "one", "op": "const.i64 1", "function": "$f", "inputs": [] } },
        { "insertNode": { "as": "sum", "op": "add.i64", "function": "$f", "inputs": ["$sq", "$one"] } },
        { "insertNode": { "op": "return", "function": "$f", "inputs": ["$sum"] } },
    ]);
    let done = agent.edit(edits).await;
    assert_eq!(done["isError"], false, "{}", text(&done));
    agent.returns("work::poly", json!([7]), "i64:50").await;
    agent.next();

    // Mixed: a draft as text with a hole, seen, completed and corrected in the graph.
    let draft = "pub func lcm (a: i64, b: i64) -> (i64) {
                   g = call gcd(a, b)
                   q = div_s.i64 a, _
                   p = add.i64 q, b
                   return p
                 }";
    let done = agent.edit(json!([{ "addText": { "module": "work", "text": draft } }])).await;
    assert_eq!(done["isError"], false, "{}", text(&done));
    let seen = agent.call("retrieve_subgraph", json!({ "program": "work", "of": ["work::lcm"] })).await;
    let (call, div, add) = {
        let seen = text(&seen);
        (node(seen, "g"), node(seen, "q"), node(seen, "p"))
    };
    let edits = json!([
        { "addEdge": { "from": call, "to": div, "targetPort": 1 } },
        { "modifyNode": { "ref": add, "op": "mul.i64" } },
        { "setDoc": { "ref": "work::lcm", "doc": "The least common multiple." } },
    ]);
    let done = agent.edit(edits).await;
    assert_eq!(done["isError"], false, "{}", text(&done));
    agent.returns("work::lcm", json!([4, 6]), "i64:12").await;
    let verified = agent.call("verify_and_propagate", json!({ "program": "work", "scope": "full" })).await;
    assert!(text(&verified).contains("valid, complete"), "{}", text(&verified));
    agent.next();
    agent.wire.close().await;
}
