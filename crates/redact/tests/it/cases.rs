//! Cases as text: what is hidden, and what stays.

use std::borrow::Cow;

use lmlang_redact::Policy;

#[test]
fn what_hides() {
    let policy = Policy::default();
    let mut wrong = Vec::new();
    let mut seen = 0;
    let lines: Vec<&str> = include_str!("../cases/hides.txt").lines().collect();
    for pair in lines.windows(2) {
        let Some(expect) = pair[1].strip_prefix("=> ") else { continue };
        seen += 1;
        let text = pair[0].replace('↵', "\n");
        let found = policy.text(&text);
        if found != expect.replace('↵', "\n") {
            wrong.push(format!("{}\n=> {found}\nbut expected\n=> {expect}\n", pair[0]));
        }
    }
    assert!(seen > 50, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_keeps() {
    let policy = Policy::default();
    let mut wrong = Vec::new();
    for line in include_str!("../cases/keeps.txt").lines().filter(|line| !line.starts_with('#')) {
        match policy.text(line) {
            Cow::Borrowed(same) => assert_eq!(same, line),
            Cow::Owned(found) => wrong.push(format!("{line}\n=> {found}\n")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_of_fields() {
    let policy = Policy::default();
    let secret = "password Passwd PASSWORD user_password passwordHash PassWord secret clientSecret client-secret \
        CLIENT_SECRET client.secret secrets secret_id api_key apiKey api-key APIKEY APIKey x-api-key openaiApiKey \
        api_key_2 apiKeys authorization Authorization proxy-authorization cookie set-cookie Set-Cookie setCookie \
        private_key privateKey access_key aws_secret_access_key accessKey credential credentials db_credentials token \
        Token access_token accessToken authtoken auth_tokens refreshToken id_token csrfToken token2 bearer_token \
        token_value session_token LMLANG_TOKEN signing_key db_pass pwd db_pwd passphrase jwt auth";
    for name in secret.split_whitespace() {
        assert!(policy.hides_field(name), "{name}");
    }
    let open = "max_tokens maxTokens input_tokens inputTokens output_tokens token_count tokenCount tokens totalTokens \
        tokens_used token_limit tokenLimit token_budget token_type tokenizer tokenize tokenized prompt_tokens \
        completion_tokens_details cache_read_input_tokens cost_per_token next_page_token pageToken eos_token token_ids \
        max_token num_tokens password_length passwordlength has_password password_changed_at api_key_env apiKeyFile \
        secret_name secretary cookie_name cookie_count authorization_url author authority authenticated key \
        public_key primary_key keyboard passed pass bypass compass session_id user_id access_key_id tokens_in name \
        credentials_file isSecret gen_ai.usage.input_tokens gen_ai.request.max_tokens";
    for name in open.split_whitespace() {
        assert!(!policy.hides_field(name), "{name}");
    }
    for name in ["", "_", "-", "1", "☃"] {
        assert!(!policy.hides_field(name), "{name}");
    }
}
