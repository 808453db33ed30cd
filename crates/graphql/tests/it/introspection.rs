//! What tools ask about the schema.

use serde_json::json;

use crate::world::World;

/// The query of the reference implementation with all that it can ask for, as GraphiQL and generators of code send it.
const QUERY: &str = "query IntrospectionQuery {
    __schema {
        description
        queryType { name kind } mutationType { name kind } subscriptionType { name kind }
        types { ...FullType }
        directives { name description isRepeatable locations args(includeDeprecated: true) { ...InputValue } }
    }
}
fragment FullType on __Type {
    kind name description specifiedByURL isOneOf
    fields(includeDeprecated: true) {
        name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason
    }
    inputFields(includeDeprecated: true) { ...InputValue }
    interfaces { ...TypeRef }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
    possibleTypes { ...TypeRef }
}
fragment InputValue on __InputValue {
    name description type { ...TypeRef } defaultValue isDeprecated deprecationReason
}
fragment TypeRef on __Type { kind name NESTED }";

#[tokio::test]
async fn tools_learn_the_whole_schema() {
    let world = World::empty().await;
    let nested = format!("{}{}", "ofType { kind name ".repeat(9), "}".repeat(9));
    let data = world.data(&QUERY.replace("NESTED", &nested), json!({})).await;
    let types = data["__schema"]["types"].as_array().expect("there are types");
    let program = types.iter().find(|one| one["name"] == "Program").expect("programs are among them");
    let fields = program["fields"].as_array().expect("it has fields");
    assert!(fields.iter().any(|field| field["name"] == "text" && field["args"][0]["type"].is_object()));
}
