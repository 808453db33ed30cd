//! Variables and what they come to.

use super::*;

fn read(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::from_env(&|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

fn collector(variables: &[(&str, &str)]) -> Collector {
    match read(variables).unwrap().destination {
        Destination::Collector(collector) => collector,
        other => panic!("{other:?}"),
    }
}

fn off(variables: &[(&str, &str)]) -> Off {
    match read(variables).unwrap().destination {
        Destination::Nowhere(off) => off,
        other => panic!("{other:?}"),
    }
}

fn wrong(variables: &[(&str, &str)], expect: &str) {
    let error = read(variables).unwrap_err().to_string();
    assert_eq!(error, expect);
    assert!(!error.contains("hunter2"));
}

const LANGFUSE: [(&str, &str); 3] = [
    ("LANGFUSE_PUBLIC_KEY", "pk-lf-1"),
    ("LANGFUSE_SECRET_KEY", "sk-lf-hunter2"),
    ("LANGFUSE_HOST", "https://lf.example/"),
];

/// PUN-47, PUN-35: a collector, Langfuse, standard error, or nothing.
#[test]
fn spans_can_be_written_to_standard_error() {
    let console = [("OTEL_TRACES_EXPORTER", "console"), LANGFUSE[0], LANGFUSE[1], LANGFUSE[2]];
    assert_eq!(read(&console).unwrap().destination, Destination::Console);
    assert!(matches!(read(&LANGFUSE).unwrap().destination, Destination::Collector(_)));
    wrong(
        &[("OTEL_TRACES_EXPORTER", "hunter2")],
        "`OTEL_TRACES_EXPORTER` asks for what is not supported: expected `otlp`, `console` or `none`",
    );
}

#[test]
fn nothing_is_sent_unless_something_says_where_to() {
    assert_eq!(off(&[]), Off::NotConfigured);
    assert_eq!(off(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), Off::NotConfigured);
    assert!(off(&[]).to_string().contains("OTEL_EXPORTER_OTLP_ENDPOINT"));
    let disabled = [("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense")];
    assert_eq!(off(&disabled), Off::Disabled { variable: "OTEL_SDK_DISABLED" });
    let none = [("OTEL_TRACES_EXPORTER", "none"), LANGFUSE[0], LANGFUSE[1], LANGFUSE[2]];
    assert_eq!(off(&none), Off::Disabled { variable: "OTEL_TRACES_EXPORTER" });
    let not = [("OTEL_SDK_DISABLED", "1"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a")];
    assert_eq!(collector(&not).url(), "http://a/v1/traces");
}

#[test]
fn addresses_are_put_together_as_opentelemetry_says() {
    let general = |url| collector(&[("OTEL_EXPORTER_OTLP_ENDPOINT", url)]).url().to_string();
    assert_eq!(general("http://a:4318"), "http://a:4318/v1/traces");
    assert_eq!(general("https://a/"), "https://a/v1/traces");
    assert_eq!(general("https://a/b/?c=d"), "https://a/b/v1/traces?c=d");
    let traces = |url| {
        let both = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://b")];
        collector(&both).url().to_string()
    };
    assert_eq!(traces("http://a:4318"), "http://a:4318/");
    assert_eq!(traces("http://a/x/"), "http://a/x/");
    assert_eq!(collector(&[("OTEL_TRACES_EXPORTER", "otlp")]).url(), "http://localhost:4318/v1/traces");
}

#[test]
fn headers_are_decoded_and_never_shown() {
    let headers = "Authorization=Basic aHVudGVyMg==, x-a=b%20c,,x-t=1";
    let collector = collector(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"),
        ("OTEL_EXPORTER_OTLP_HEADERS", headers),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-t=2"),
    ]);
    let get = |name: &str| collector.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(get("authorization"), "Basic aHVudGVyMg==");
    assert_eq!(get("x-a"), "b c");
    assert_eq!(get("x-t"), "2");
    assert_eq!(collector.secrets(), ["Basic aHVudGVyMg==", "aHVudGVyMg=="]);
    assert!(!format!("{collector:?} {:?}", collector.headers()).contains("aHVudGVyMg"));
}

#[test]
fn langfuse_is_derived() {
    let found = collector(&LANGFUSE);
    assert_eq!(found.url(), "https://lf.example/api/public/otel/v1/traces");
    // pk-lf-1:sk-lf-hunter2
    assert_eq!(found.headers()["authorization"], "Basic cGstbGYtMTpzay1sZi1odW50ZXIy");
    assert_eq!(found.headers()["x-langfuse-ingestion-version"], "4");
    assert_eq!(found.secrets(), ["sk-lf-hunter2"]);
    assert!(!format!("{found:?}").contains("hunter2"));

    let base = [LANGFUSE[0], LANGFUSE[1], LANGFUSE[2], ("LANGFUSE_BASE_URL", "http://b:3000")];
    assert_eq!(collector(&base).url(), "http://b:3000/api/public/otel/v1/traces");

    // A collector that is named goes before Langfuse, and is not shown its key.
    let other = [LANGFUSE[0], LANGFUSE[1], LANGFUSE[2], ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a")];
    assert_eq!(collector(&other).url(), "http://a/v1/traces");
    assert!(collector(&other).headers().is_empty());
}

#[test]
fn half_set_is_an_error() {
    let [public, secret, host] = LANGFUSE;
    wrong(&[public], "`LANGFUSE_PUBLIC_KEY` is set and `LANGFUSE_SECRET_KEY` is not");
    wrong(&[secret, host], "`LANGFUSE_SECRET_KEY` is set and `LANGFUSE_PUBLIC_KEY` is not");
    wrong(&[public, secret], "`LANGFUSE_SECRET_KEY` is set and `LANGFUSE_BASE_URL` is not");
    wrong(&[host], "`LANGFUSE_HOST` is set and `LANGFUSE_PUBLIC_KEY` is not");
    let headers = [("OTEL_EXPORTER_OTLP_HEADERS", "authorization=hunter2")];
    wrong(&headers, "`OTEL_EXPORTER_OTLP_HEADERS` is set and `OTEL_EXPORTER_OTLP_ENDPOINT` is not");
}

#[test]
fn malformed_is_an_error_without_the_value() {
    let endpoint = |url, why: &str| {
        wrong(
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", url)],
            &format!("`OTEL_EXPORTER_OTLP_ENDPOINT` is malformed: {why}"),
        );
    };
    endpoint("hunter2", "expected it to begin with `http://` or `https://`");
    endpoint("grpc://hunter2", "expected it to begin with `http://` or `https://`");
    endpoint("http://hunter2 b", "expected an address");
    endpoint(
        "http://u:hunter2@a",
        "expected no user or password in it; `OTEL_EXPORTER_OTLP_HEADERS` holds keys",
    );
    let with = |variable: &'static str, value: &'static str, expect: &str| {
        wrong(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), (variable, value)], expect);
    };
    let pairs = "is malformed: expected `name=value`, separated by commas";
    with("OTEL_EXPORTER_OTLP_HEADERS", "hunter2", &format!("`OTEL_EXPORTER_OTLP_HEADERS` {pairs}"));
    with("OTEL_RESOURCE_ATTRIBUTES", "a=b,=hunter2", &format!("`OTEL_RESOURCE_ATTRIBUTES` {pairs}"));
    with(
        "OTEL_EXPORTER_OTLP_HEADERS",
        "a=hunter2%0a",
        "`OTEL_EXPORTER_OTLP_HEADERS` is malformed: a value cannot be sent in a header",
    );
    with(
        "OTEL_EXPORTER_OTLP_HEADERS",
        "a b=hunter2",
        "`OTEL_EXPORTER_OTLP_HEADERS` is malformed: a name is not that of a header",
    );
    with(
        "OTEL_EXPORTER_OTLP_TIMEOUT",
        "hunter2",
        "`OTEL_EXPORTER_OTLP_TIMEOUT` is malformed: expected a whole number above 0",
    );
    with(
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "grpc",
        "`OTEL_EXPORTER_OTLP_PROTOCOL` asks for what is not supported: expected `http/protobuf`",
    );
    let colon = [("LANGFUSE_PUBLIC_KEY", "hunter2:"), LANGFUSE[1], LANGFUSE[2]];
    wrong(&colon, "`LANGFUSE_PUBLIC_KEY` is malformed: expected no `:` in it");
}

#[test]
fn numbers_and_attributes_are_read() {
    let settings = read(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
        ("OTEL_BSP_SCHEDULE_DELAY", "20"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "9"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "3"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=a%2Cb, service.name=x"),
        ("OTEL_SERVICE_NAME", "y"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ])
    .unwrap();
    assert_eq!((settings.timeout.as_millis(), settings.delay.as_millis()), (1500, 20));
    assert_eq!((settings.queue_spans, settings.batch_spans), (9, 3));
    assert!(settings.capture_content);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(settings.resource, [pair("deployment.environment.name", "a,b"), pair("service.name", "y")]);
    assert!(!read(&[]).unwrap().capture_content);
}
