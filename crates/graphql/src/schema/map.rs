//! A whole program as flat lists, for a picture of it.

use std::collections::HashMap;

use async_graphql::{Context, SimpleObject};
use lmlang_ir::{Body, FuncRef, NodeRef, Opcode, Source};

use crate::error::ApiError;
use crate::schema::neighbourhood;
use crate::schema::view::View;
use crate::transport::budget;

/// The most nodes of a map.
pub(crate) const MOST: usize = 50_000;

/// The nodes of a program and the edges of data between them, as flat lists: those of nodes go together item by item, and so
/// do the two of edges.
#[derive(Clone, Debug, Default, SimpleObject)]
pub struct ProgramMap {
    /// Of each node its ref; the nodes stand by function and ref.
    refs: Vec<String>,
    /// Of each node the place of its function in `functionTable`.
    functions: Vec<i32>,
    /// Of each node the place of its operator in `opcodeTable`.
    opcodes: Vec<i32>,
    /// The refs of the functions that the nodes are of, each once.
    function_table: Vec<String>,
    /// The mnemonics of their operators, each once.
    opcode_table: Vec<String>,
    /// Of each edge of data between two of the nodes the place in `refs` of the one whose output it starts at.
    edge_from: Vec<i32>,
    /// Of each such edge the place in `refs` of the one that takes it.
    edge_to: Vec<i32>,
    /// Whether there are more nodes than `maxNodes`.
    truncated: bool,
}

impl ProgramMap {
    /// The map of what a view shows.
    pub(super) async fn of(
        context: &Context<'_>,
        view: &View,
        max_nodes: i32,
    ) -> Result<ProgramMap, ApiError> {
        let most = neighbourhood::limit("mapNodes", max_nodes, MOST)?;
        let (mut map, mut opcodes) = (ProgramMap::default(), HashMap::new());
        for (function, content) in view.program().functions() {
            map.add(function, content.body(), most, &mut opcodes);
            if map.truncated {
                break;
            }
            budget::breathe().await;
        }
        budget::count(context, map.bytes())?;
        Ok(map)
    }

    /// Adds the nodes of a function, as far as there is room.
    fn add(&mut self, function: FuncRef, body: &Body, most: usize, opcodes: &mut HashMap<Opcode, i32>) {
        let mut places: HashMap<NodeRef, i32> = HashMap::new();
        for (node, content) in body.nodes() {
            if self.refs.len() == most {
                self.truncated = true;
                break;
            }
            if places.is_empty() {
                self.function_table.push(function.to_string());
            }
            let opcode = content.op().code();
            let named = *opcodes.entry(opcode).or_insert_with(|| {
                self.opcode_table.push(opcode.mnemonic().to_owned());
                last(&self.opcode_table)
            });
            self.opcodes.push(named);
            self.functions.push(last(&self.function_table));
            self.refs.push(node.to_string());
            places.insert(node, last(&self.refs));
        }
        // A loop's body gives what it carries round to a node that may stand before it.
        for (node, content) in body.nodes() {
            let Some(to) = places.get(&node) else { continue };
            for source in content.inputs().iter() {
                let Some(Source::Node(from, _)) = source else { continue };
                if let Some(from) = places.get(&from) {
                    self.edge_from.push(*from);
                    self.edge_to.push(*to);
                }
            }
        }
    }

    /// About how long it is as JSON.
    fn bytes(&self) -> u64 {
        let texts = self.refs.iter().chain(&self.function_table).chain(&self.opcode_table);
        let numbers = self.functions.len() + self.opcodes.len() + self.edge_from.len() + self.edge_to.len();
        (texts.map(|text| text.len() + 3).sum::<usize>() + 6 * numbers) as u64
    }
}

fn last<T>(items: &[T]) -> i32 {
    i32::try_from(items.len()).unwrap_or(i32::MAX) - 1
}
