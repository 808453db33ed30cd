//! What processes over one database share and nobody else knows: no backup has it.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, QueryTrait};

use crate::entity::secrets;
use crate::fault::Fault;
use crate::store::Store;

impl Store {
    /// The secret with a name: the one that is there, or else the given one from now on. Whoever asks, in whichever process, is
    /// answered the same.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn secret(&self, name: &str, new: [u8; 32]) -> Result<[u8; 32], Fault> {
        if let Some(there) = self.find_secret(name).await? {
            return Ok(there);
        }
        let row = secrets::ActiveModel { name: Set(name.to_owned()), value: Set(new.to_vec()) };
        let mut insert = secrets::Entity::insert(row).into_query();
        insert.on_conflict(OnConflict::column(secrets::Column::Name).do_nothing().to_owned());
        self.committer().write(vec![insert.into()], None).await?;
        // Another process may have been first.
        self.find_secret(name).await?.ok_or(UNREADABLE)
    }

    async fn find_secret(&self, name: &str) -> Result<Option<[u8; 32]>, Fault> {
        let row = secrets::Entity::find_by_id(name.to_owned()).one(&self.reader).await?;
        row.map(|row| row.value.try_into().map_err(|_| UNREADABLE)).transpose()
    }
}

const UNREADABLE: Fault = Fault::Row { table: "secrets", column: "value" };
