//! Tokens with which callers show who they are, each as a hash of its secret.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// `id` is what a token is called in public. `programs` holds ids with a blank between them; null: all programs. A row
/// stays when its token is revoked: logs name its author.
#[derive(DeriveIden)]
enum ApiTokens {
    Table,
    Id,
    Hash,
    Name,
    Kind,
    Scopes,
    Programs,
    Created,
    Expires,
    LastUsed,
    Revoked,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(ApiTokens::Table)
                    .col(text(ApiTokens::Id).primary_key())
                    .col(blob(ApiTokens::Hash))
                    .col(text(ApiTokens::Name))
                    .col(small_integer(ApiTokens::Kind))
                    .col(small_integer(ApiTokens::Scopes))
                    .col(text_null(ApiTokens::Programs))
                    .col(big_integer(ApiTokens::Created))
                    .col(big_integer_null(ApiTokens::Expires))
                    .col(big_integer_null(ApiTokens::LastUsed))
                    .col(big_integer_null(ApiTokens::Revoked))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("api_tokens_name")
                    .table(ApiTokens::Table)
                    .col(ApiTokens::Name)
                    .unique()
                    .and_where(Expr::col(ApiTokens::Revoked).is_null())
                    .to_owned(),
            )
            .await
    }
}
