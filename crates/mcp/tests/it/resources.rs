//! What is read by address, over the protocol.

use serde_json::{Value, json};

use crate::wire::Wire;
use crate::world::World;

fn text(answer: &Value) -> &str {
    answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test]
async fn traces_and_differences_are_read_page_by_page() {
    let world = World::with_shop().await;
    let mut wire = Wire::open(&world);
    wire.initialize("2025-11-25").await;
    let text_of_loop = "pub func count (n: i64) -> (i64) {
        r = loop L (i: i64 = 0) -> (i64) {
          break_if L (ge_s.i64 i, n), i
          continue L (add.i64 i, 1)
        }
        return r
      }";
    let edits = json!([{ "addText": { "module": "shop", "text": text_of_loop } }]);
    let edit = json!({ "program": "shop", "base_revision": "r1", "edits": edits });
    wire.tool("propose_structured_edit", edit).await;
    let run =
        wire.tool("simulate", json!({ "program": "shop", "function": "shop::count", "args": [500] })).await;
    let link = &run["result"]["content"][1];
    assert_eq!(link["type"], "resource_link", "{run}");
    let mut uri = link["uri"].as_str().expect("it has an address").to_owned();
    let (mut steps, mut pages) = (0, 0);
    loop {
        let answer = wire.ask("resources/read", json!({ "uri": uri })).await;
        let page = text(&answer);
        assert!(page.starts_with("; program shop @ r2\n"), "{page}");
        steps += page.lines().filter(|line| line.starts_with(|letter: char| letter.is_ascii_digit())).count();
        pages += 1;
        assert!(pages < 100, "the pages do not end");
        let Some((_, next)) = page.split_once("; next page: ") else { break };
        uri = next.trim().to_owned();
    }
    let recorded = run["result"]["structuredContent"]["counts"]["trace_steps"].as_u64();
    assert_eq!(Some(steps as u64), recorded);
    assert!(pages > 1);

    let diff = wire.tool("diff", json!({ "program": "shop", "from": "r1" })).await;
    let uri = diff["result"]["content"][1]["uri"].as_str().expect("there is a link").to_owned();
    assert_eq!(uri, "lmlang://program/shop/diff/r1..r2");
    let answer = wire.ask("resources/read", json!({ "uri": uri })).await;
    assert!(text(&answer).contains("+pub func count"), "{answer}");

    let answer = wire.ask("resources/read", json!({ "uri": "lmlang://schema/edits?max_tokens=20000" })).await;
    assert!(
        text(&answer).contains("input EditInput") && text(&answer).contains("input InsertNode"),
        "{answer}"
    );
    for absent in ["lmlang://nothing", "file:///x", "lmlang://run/S-0/trace"] {
        let answer = wire.ask("resources/read", json!({ "uri": absent })).await;
        assert!(answer["error"]["code"].is_i64(), "{absent}: {answer}");
    }
    let listed = wire.ask("resources/templates/list", json!({})).await;
    assert_eq!(listed["result"]["resourceTemplates"].as_array().map(Vec::len), Some(2), "{listed}");
    wire.close().await;
}
