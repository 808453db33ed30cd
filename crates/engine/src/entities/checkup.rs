//! Checking the entities of a database: all of them can be read and are found by their properties, and no relation ends
//! nowhere.

use lmlang_store::Fault;
use uuid::Uuid;

use crate::engine::Engine;
use crate::entities::record;
use crate::error::Error;

/// Rows that are read at a time.
const PAGE: u64 = 256;

impl Engine {
    /// Checks every entity and relation, as they are at one moment: how many there are, and what is wrong, in words.
    pub(crate) async fn examine_entities(&self) -> Result<(u64, Vec<String>), Error> {
        let (mut count, mut found) = (0, Vec::new());
        for part in [
            self.examine_nodes(&mut count, &mut found).await,
            self.examine_edges(&mut count, &mut found).await,
        ] {
            match part {
                Ok(()) => {}
                // What comes after such a row was not looked at.
                Err(fault @ Fault::Row { .. }) => found.push(fault.to_string()),
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok((count, found))
    }

    async fn examine_nodes(&self, count: &mut u64, found: &mut Vec<String>) -> Result<(), Fault> {
        let view = self.store().entities_now().await?;
        let mut after: Option<(String, String)> = None;
        loop {
            let place = after.as_ref().map(|(label, name)| (label.as_str(), name.as_str()));
            let rows = view.entities(None, None, place, PAGE).await?;
            let more = rows.len() as u64 == PAGE;
            let otherwise = view.found_otherwise(&rows).await?;
            for row in rows {
                *count += 1;
                after = Some((row.label.clone(), row.name.clone()));
                let named = format!("the entity {}:{}", row.label, row.name);
                let is_other = otherwise.contains(&row.id);
                match record::entity(row) {
                    Err(fault) => found.push(format!("{named}: {fault}")),
                    Ok(_) if is_other => {
                        found.push(format!("{named} is looked up by other values than its properties have"));
                    }
                    Ok(_) => {}
                }
            }
            if !more {
                return Ok(());
            }
        }
    }

    async fn examine_edges(&self, count: &mut u64, found: &mut Vec<String>) -> Result<(), Fault> {
        let view = self.store().entities_now().await?;
        let mut after: Option<Uuid> = None;
        loop {
            let rows = view.relations(after, PAGE).await?;
            let more = rows.len() as u64 == PAGE;
            for (row, [source, target]) in rows {
                *count += 1;
                after = Some(row.id);
                let named = format!("the relation {} of kind {}", row.id, row.kind);
                for (end, there) in [("begins", source), ("ends", target)] {
                    if !there {
                        found.push(format!("{named} {end} at an entity that is not there"));
                    }
                }
                if let Err(fault) = record::relation(row) {
                    found.push(format!("{named}: {fault}"));
                }
            }
            if !more {
                return Ok(());
            }
        }
    }
}
