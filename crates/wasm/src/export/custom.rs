//! Custom sections, where they stand among the others.

use lmlang_ir::{Program, SectionPlace, StorageKind};
use wasm_encoder::{CustomSection, Module};

use super::scope::Scope;

/// The custom sections that are written, by ref.
pub(super) struct Carried<'p>(Vec<(SectionPlace, CustomSection<'p>)>);

impl<'p> Carried<'p> {
    pub(super) fn of(program: &'p Program, scope: &'p Scope) -> Carried<'p> {
        let sections = scope.storage(program).filter_map(|(_, storage)| match &storage.kind {
            StorageKind::Custom { section, place, bytes } if !tells_of_bytes(section) => {
                Some((*place, CustomSection { name: (**section).into(), data: (**bytes).into() }))
            }
            _ => None,
        });
        Carried(sections.collect())
    }

    /// Writes those that stand at a place.
    pub(super) fn put(&self, at: SectionPlace, module: &mut Module) {
        for (_, section) in self.0.iter().filter(|(place, _)| *place == at) {
            module.section(section);
        }
    }
}

/// Whether a section tells of the bytes of the module that it came in, or of the indices in it. Those are others in every
/// module that is written, so that it would lie.
fn tells_of_bytes(section: &str) -> bool {
    const ALL: [&str; 4] = ["linking", "sourceMappingURL", "external_debug_info", "build_id"];
    const FAMILIES: [&str; 3] = [".debug_", "reloc.", "metadata.code."];
    ALL.contains(&section) || FAMILIES.iter().any(|family| section.starts_with(family))
}
