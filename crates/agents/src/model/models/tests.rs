use std::fs;

use super::super::settings::ModelSettings;
use super::super::testing::{request, words};
use super::*;

/// Models of settings as they are written, in a folder with these files; `$` stands for the folder.
fn built(text: &str, variables: &[(&str, &str)], files: &[(&str, &str)]) -> Result<Models, SettingsError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let text = text.replace('$', folder.path().to_str().unwrap());
    let settings: BTreeMap<Role, ModelSettings> = toml::from_str(&text).unwrap();
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    build(&settings, &variable, words)
}

fn role(name: &str) -> Role {
    name.parse().unwrap()
}

/// How the models of roles are shown.
fn check(text: &str, variables: &[(&str, &str)], expect: &[&str]) {
    let models = built(text, variables, &[]).unwrap();
    let shown: Vec<_> = models
        .describe()
        .map(|found| {
            let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "-".to_owned());
            format!("{}: {} {} {}", found.role, found.provider, part(&found.model), part(&found.server))
        })
        .collect();
    assert_eq!(shown, expect);
}

fn check_wrong(text: &str, variables: &[(&str, &str)], files: &[(&str, &str)], expect: &str) {
    let error = built(text, variables, files).err().unwrap();
    let shown = format!("{error} {error:?}");
    assert!(error.to_string().contains(expect), "{error}");
    assert!(!shown.contains("planted"), "{shown}");
}

#[tokio::test]
async fn with_nothing_configured_it_is_said_what_would_be() {
    let models = built("", &[("OPENAI_API_KEY", " ")], &[]).unwrap();
    assert!(!models.is_configured(&role("planner")));
    assert_eq!(models.described(&role("planner")).provider, "rules");
    let error = models.complete(&request("x"), &mut |_| {}).await.unwrap_err();
    assert_eq!(error.code(), "MODEL_NONE");
    for name in ["`planner`", "llm.planner.model", "LMLANG_LLM__DEFAULT__MODEL", "`OPENAI_API_KEY`"] {
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(models.probe(&role("planner")).await.unwrap_err().code(), "MODEL_NONE");
}

#[test]
fn variables_that_users_have_are_honoured() {
    let openai = "default: openai gpt-4o-mini https://api.openai.com";
    check("", &[("OPENAI_API_KEY", "planted"), ("OLLAMA_HOST", "x")], &[openai]);
    let url = ("OPENAI_BASE_URL", "http://localhost:8000/v1");
    check("", &[url, ("OPENAI_MODEL", "m")], &["default: openai m http://localhost:8000"]);
    let router = ("OPENROUTER_API_KEY", "planted");
    check("", &[router], &["default: openrouter openrouter/auto https://openrouter.ai"]);
    check("", &[("OLLAMA_HOST", "gpu")], &["default: ollama llama3.2 http://gpu:11434"]);
    check("[default]\nmodel = \"ours\"", &[router], &["default: openrouter ours https://openrouter.ai"]);
    check("[default]\nkind = \"rules\"", &[router], &["default: rules - -"]);
    check("[default]\nkind = \"ollama\"", &[router], &["default: ollama llama3.2 http://127.0.0.1:11434"]);
}

#[test]
fn a_role_changes_what_it_says() {
    let text = r#"
        [default]
        base_url = "http://a/v1"
        model = "small"
        [reasoner]
        model = "large"
        [router]
        kind = "ollama"
        model = "quick"
    "#;
    let expect = [
        "default: openai small http://a",
        "reasoner: openai large http://a",
        "router: ollama quick http://127.0.0.1:11434",
    ];
    check(text, &[], &expect);
    let models = built(text, &[], &[]).unwrap();
    assert_eq!(models.described(&role("planner")).model.as_deref(), Some("small"));
}

#[test]
fn a_key_stays_with_its_server() {
    let default = ModelSettings {
        base_url: Some("http://a/v1".to_owned()),
        api_key_env: Some("A_KEY".to_owned()),
        timeout_ms: Some(5),
        mask: Some(true),
        ..ModelSettings::default()
    };
    let other = ModelSettings { base_url: Some("http://b/v1".to_owned()), ..ModelSettings::default() };
    let merged = other.over(&default);
    assert_eq!((merged.api_key_env, merged.timeout_ms, merged.mask), (None, Some(5), Some(true)));
    let file = ModelSettings { api_key_file: Some("f".into()), ..ModelSettings::default() };
    let merged = file.over(&default);
    assert_eq!((merged.api_key_env, merged.api_key_file), (None, Some("f".into())));
    // Nor does a variable's key go to an address that settings name.
    let settings = ModelSettings { model: Some("m".to_owned()), ..default };
    let settings = ModelSettings { api_key_env: None, ..settings };
    let resolved = resolve(&role("default"), settings, &|_| Some("planted".to_owned())).unwrap();
    let Provider::Server(server) = resolved.provider else { panic!("{resolved:?}") };
    assert!(server.key.is_none());
}

#[test]
fn secrets_are_hidden_from_the_models_of_which_that_is_said() {
    let text = "[default]\nkind = \"ollama\"\nmask = true\n[drafter]\nmask = false\n[router]\nmodel = \"m\"";
    let models = built(text, &[], &[]).unwrap();
    let masked = ["planner", "drafter", "router"].map(|name| models.is_masked(&role(name)));
    assert_eq!(masked, [true, false, true]);
    assert!(!Models::none().is_masked(&role("planner")));
}

#[test]
fn settings_that_cannot_work_are_named() {
    let server = "[planner]\nbase_url = \"http://a\"\nmodel = \"m\"\n";
    check_wrong("[planner]\nbase_url = \"http://a\"", &[], &[], "`llm.planner.model` is missing");
    check_wrong(
        "[default]\nmodel = \"m\"",
        &[],
        &[],
        "`llm.default`: a model is named, and nothing says where",
    );
    check_wrong(
        "[default]\nkind = \"openai\"",
        &[],
        &[],
        "`llm.default` asks a provider that wants a key: set `OPENAI_API_KEY`",
    );
    let both = format!("{server}api_key_env = \"A\"\napi_key_file = \"b\"");
    check_wrong(&both, &[], &[], "both `api_key_env` and `api_key_file`");
    check_wrong(&format!("{server}api_key_env = \"A\""), &[("A", "")], &[], "`A`, which is not set");
    check_wrong(&format!("{server}api_key_env = \"sk-planted\""), &[], &[], "is not the name of a variable");
    check_wrong(&format!("{server}api_key_file = \"$/none\""), &[], &[], "which cannot be read");
    let two = [("k", "planted 1\nplanted 2")];
    check_wrong(&format!("{server}api_key_file = \"$/k\""), &[], &two, "not one line with a key");
    check_wrong(&format!("{server}timeout_ms = 0"), &[], &[], "`llm.planner.timeout_ms` is 0");
    check_wrong(&format!("{server}prices.m = {{ input = -1.0, output = 1.0 }}"), &[], &[], "a price of `m`");
    check_wrong("[default]\nkind = \"script\"", &[], &[], "needs a `script`");
    check_wrong(&format!("{server}script = \"x\""), &[], &[], "`script` is only for");
    check_wrong("[default]\nscript = \"$/none\"", &[], &[], "`llm.default.script`: the script");
    check_wrong(
        "[default]\ncassette = { file = \"$/none\", mode = \"replay\" }",
        &[],
        &[],
        "`llm.default.cassette`",
    );
    check_wrong("[default]\nbase_url = \"http://u:planted@a\"\nmodel = \"m\"", &[], &[], "it holds a user");
}

#[test]
fn a_file_with_a_key_is_read() {
    let text = "[default]\nbase_url = \"http://a/v1\"\nmodel = \"m\"\napi_key_file = \"$/k\"";
    built(text, &[], &[("k", "planted\n")]).unwrap();
}

#[tokio::test(start_paused = true)]
async fn roles_share_a_script_and_layers_are_around_it() {
    let script = r#"
        [[reply]]
        role = "planner"
        text = "half"
        error = "cut"
        [[reply]]
        text = "one"
        [[reply]]
        text = "two"
        [[reply]]
        text = "three"
    "#;
    let text = "[default]\nscript = \"$/s.toml\"\n[router]\nscript = \"$/s.toml\"\nkind = \"script\"";
    let models = built(text, &[], &[("s.toml", script)]).unwrap();
    let reply = models.complete(&request("x"), &mut |_| {}).await.unwrap();
    assert_eq!((&*reply.text, reply.calls), ("one", 2));
    let routed = Request { role: role("router"), ..request("x") };
    assert_eq!(models.complete(&routed, &mut |_| {}).await.unwrap().text, "two");
    assert_eq!(models.unused().len(), 1);
    let probe = models.probe(&role("router")).await.unwrap();
    assert_eq!((&*probe.provider, probe.usage.input), ("script", 8));
    assert!(models.unused().is_empty());
}

#[tokio::test]
async fn what_one_records_another_replays_without_calling() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.jsonl").display().to_string();
    let script = [("s.toml", "[[reply]]\ntext = \"recorded\"")];
    let record =
        format!("[default]\nscript = \"$/s.toml\"\ncassette = {{ file = \"{path}\", mode = \"record\" }}");
    let models = built(&record, &[], &script).unwrap();
    models.complete(&request("x"), &mut |_| {}).await.unwrap();
    // A role with a server of its own does not call it either, and needs no key.
    let replay = format!(
        "[default]\ncassette = {{ file = \"{path}\", mode = \"replay\" }}\n[planner]\nkind = \"openai\"\nmodel = \"m\""
    );
    let models = built(&replay, &[], &[]).unwrap();
    let reply = models.complete(&request("x"), &mut |_| {}).await.unwrap();
    assert_eq!((&*reply.text, &*reply.provider), ("recorded", "cassette"));
    let miss = models.complete(&request("y"), &mut |_| {}).await.unwrap_err();
    assert_eq!(miss.code(), "MODEL_UNRECORDED");
}
