//! Tokens with which callers show who they are. Of the secret of one, only a hash is here.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};
use uuid::Uuid;

use crate::actors::ActorKind;
use crate::entity::api_tokens;
use crate::entry::Timestamp;
use crate::fault::{Failure, Fault};
use crate::store::Store;

/// A token's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is called in public.
    pub id: String,
    /// The hash by which it is found.
    pub hash: [u8; 32],
    /// The author of what is done with it, unique among tokens that are not revoked.
    pub name: String,
    /// What that author is.
    pub kind: ActorKind,
    /// What it is good for, a bit each.
    pub scopes: u8,
    /// The programs that it is good for; without, all.
    pub programs: Option<Vec<Uuid>>,
    /// When it was made.
    pub created: Timestamp,
    /// From when on it is good for nothing.
    pub expires: Option<Timestamp>,
    /// About when it was used last.
    pub last_used: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

/// Why a token was not made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateTokenError {
    /// Another token has the name.
    #[error("token `{name}` exists")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The database could not do it.
    #[error(transparent)]
    Storage(#[from] Fault),
}

impl Store {
    /// Stores a token.
    ///
    /// # Errors
    ///
    /// See [`CreateTokenError`]; nothing is stored then.
    pub async fn create_token(&self, token: Token) -> Result<(), CreateTokenError> {
        let programs = token.programs.as_ref().map(|programs| {
            let programs: Vec<String> = programs.iter().map(Uuid::to_string).collect();
            programs.join(" ")
        });
        let row = api_tokens::ActiveModel {
            id: Set(token.id.clone()),
            hash: Set(token.hash.to_vec()),
            name: Set(token.name.clone()),
            kind: Set(token.kind as i16),
            scopes: Set(token.scopes.into()),
            programs: Set(programs),
            created: Set(token.created.0),
            expires: Set(token.expires.map(|time| time.0)),
            last_used: Set(token.last_used.map(|time| time.0)),
            revoked: Set(token.revoked.map(|time| time.0)),
        };
        let insert = api_tokens::Entity::insert(row).into_query();
        match self.committer().write(vec![insert.into()], None).await {
            Ok(_) => Ok(()),
            Err(Failure::Clash) => {
                // A statement whose answer was lost has run before.
                let there = api_tokens::Entity::find_by_id(token.id).one(&self.reader).await;
                match there.map_err(Fault::from)? {
                    Some(row) if row.hash == token.hash => Ok(()),
                    Some(_) | None => Err(CreateTokenError::NameTaken { name: token.name }),
                }
            }
            Err(failure) => Err(CreateTokenError::Storage(failure.into())),
        }
    }

    /// All tokens, the oldest first, those that were revoked too.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn tokens(&self) -> Result<Vec<Token>, Fault> {
        let rows = api_tokens::Entity::find()
            .order_by_asc(api_tokens::Column::Created)
            .order_by_asc(api_tokens::Column::Id);
        rows.all(&self.reader).await?.into_iter().map(Token::try_from).collect()
    }

    /// The tokens that are not revoked.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn unrevoked_tokens(&self) -> Result<Vec<Token>, Fault> {
        let rows = api_tokens::Entity::find().filter(api_tokens::Column::Revoked.is_null());
        rows.all(&self.reader).await?.into_iter().map(Token::try_from).collect()
    }

    /// Whether there ever was a token.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn had_tokens(&self) -> Result<bool, Fault> {
        Ok(api_tokens::Entity::find().one(&self.reader).await?.is_some())
    }

    /// Revokes a token, unless it was before.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn revoke_token(&self, id: &str, time: Timestamp) -> Result<(), Fault> {
        let update = Query::update()
            .table(api_tokens::Entity)
            .value(api_tokens::Column::Revoked, time.0)
            .and_where(Expr::col(api_tokens::Column::Id).eq(id))
            .and_where(Expr::col(api_tokens::Column::Revoked).is_null())
            .to_owned();
        self.committer().write(vec![update.into()], None).await?;
        Ok(())
    }

    /// Notes in the background that a token is used.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is noted then.
    pub async fn use_token(&self, id: &str, time: Timestamp) -> Result<(), Fault> {
        let update = Query::update()
            .table(api_tokens::Entity)
            .value(api_tokens::Column::LastUsed, time.0)
            .and_where(Expr::col(api_tokens::Column::Id).eq(id))
            .to_owned();
        self.committer().write_in_background(vec![update.into()]).await?;
        Ok(())
    }
}

impl TryFrom<api_tokens::Model> for Token {
    type Error = Fault;

    fn try_from(row: api_tokens::Model) -> Result<Self, Fault> {
        let unreadable = |column| Fault::Row { table: "api_tokens", column };
        let programs = row.programs.map(|programs| programs.split(' ').map(Uuid::try_parse).collect());
        Ok(Self {
            id: row.id,
            hash: row.hash.try_into().map_err(|_| unreadable("hash"))?,
            name: row.name,
            kind: ActorKind::from_code(row.kind).ok_or(unreadable("kind"))?,
            scopes: row.scopes.try_into().map_err(|_| unreadable("scopes"))?,
            programs: programs.transpose().map_err(|_| unreadable("programs"))?,
            created: Timestamp(row.created),
            expires: row.expires.map(Timestamp),
            last_used: row.last_used.map(Timestamp),
            revoked: row.revoked.map(Timestamp),
        })
    }
}
