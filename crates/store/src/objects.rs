//! Content-addressed objects: chunks of tries, shared by all programs and revisions.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryTrait};

use crate::entity::objects;
use crate::fault::Fault;
use crate::store::Store;

/// The hash of an object's content.
pub type ObjectHash = [u8; 32];

/// Bytes under the hash of what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The hash of the content, which the store does not check.
    pub hash: ObjectHash,
    /// How the bytes are encoded.
    pub version: u8,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Bounds of one statement. They bound how long an edit waits behind background writing.
const MAX_OBJECTS: usize = 256;
const MAX_BYTES: usize = 1 << 20;

/// How many hashes one statement asks for.
const HASHES_PER_STATEMENT: usize = 500;

impl Store {
    /// Stores objects, and answers how many of them were new.
    ///
    /// Happens in the background, in portions; when it is done, all of them are durable.
    ///
    /// # Errors
    ///
    /// A fault of the database. Some of the objects may be stored then.
    pub async fn put_objects(&self, mut objects: Vec<Object>) -> Result<u64, Fault> {
        // In one order everywhere: processes that store the same objects never wait for each other.
        objects.sort_unstable_by_key(|object| object.hash);
        let mut new = 0;
        let mut rows = Vec::new();
        let mut bytes = 0;
        for object in objects {
            bytes += object.bytes.len();
            rows.push(objects::ActiveModel {
                hash: Set(object.hash.to_vec()),
                version: Set(i16::from(object.version)),
                bytes: Set(object.bytes),
            });
            if rows.len() == MAX_OBJECTS || bytes >= MAX_BYTES {
                new += self.put_portion(std::mem::take(&mut rows)).await?;
                bytes = 0;
            }
        }
        if !rows.is_empty() {
            new += self.put_portion(rows).await?;
        }
        Ok(new)
    }

    async fn put_portion(&self, rows: Vec<objects::ActiveModel>) -> Result<u64, Fault> {
        let mut insert = objects::Entity::insert_many(rows).into_query();
        insert.on_conflict(OnConflict::column(objects::Column::Hash).do_nothing().to_owned());
        let changed = self.committer().write_in_background(vec![insert.into()]).await?;
        Ok(changed.iter().sum())
    }

    /// The objects with these hashes, in order of the hashes. What is missing is left out.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn objects(&self, hashes: &[ObjectHash]) -> Result<Vec<Object>, Fault> {
        let mut found = Vec::with_capacity(hashes.len());
        for chunk in hashes.chunks(HASHES_PER_STATEMENT) {
            for row in among(chunk).all(&self.reader).await? {
                found.push(Object::try_from(row)?);
            }
        }
        found.sort_by_key(|object| object.hash);
        found.dedup_by_key(|object| object.hash);
        Ok(found)
    }
}

fn among(hashes: &[ObjectHash]) -> sea_orm::Select<objects::Entity> {
    objects::Entity::find().filter(objects::Column::Hash.is_in(hashes.iter().map(|hash| hash.to_vec())))
}

impl TryFrom<objects::Model> for Object {
    type Error = Fault;

    fn try_from(row: objects::Model) -> Result<Self, Fault> {
        Ok(Self {
            hash: row.hash.try_into().map_err(|_| Fault::Row { table: "objects", column: "hash" })?,
            version: u8::try_from(row.version)
                .map_err(|_| Fault::Row { table: "objects", column: "version" })?,
            bytes: row.bytes,
        })
    }
}
