//! Prints what is committed as `schema.sql`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lmlang_migrations::sea_orm::DbErr> {
    print!("{}", lmlang_migrations::schema_sql().await?);
    Ok(())
}
