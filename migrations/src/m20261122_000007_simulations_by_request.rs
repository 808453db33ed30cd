//! What bounds stored simulations and finds one again: the digest of what is run, and whether it has ended.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// As the migration of simulations describes it. Those that are there are not found again by what they run; they expire.
#[derive(DeriveIden)]
enum Simulations {
    Table,
    Program,
    Digest,
    Ended,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in
            [blob(Simulations::Digest).default(Vec::<u8>::new()), boolean(Simulations::Ended).default(false)]
        {
            manager
                .alter_table(Table::alter().table(Simulations::Table).add_column(column).to_owned())
                .await?;
        }
        for (name, column) in
            [("simulations_digest", Simulations::Digest), ("simulations_program", Simulations::Program)]
        {
            manager
                .create_index(Index::create().name(name).table(Simulations::Table).col(column).to_owned())
                .await?;
        }
        Ok(())
    }
}
