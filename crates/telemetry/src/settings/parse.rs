//! Variables of the environment, and the forms that OpenTelemetry gives them.

use percent_encoding::percent_decode_str;

use super::SettingsError;

/// The environment.
pub(super) struct Variables<'a>(pub(super) &'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    /// A variable that is set to something.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let value = (self.0)(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The first of several variables that is set.
    pub(super) fn first(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }

    /// Whether a variable says yes; whatever else it says is no.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// The number above 0 that the first of several variables says.
    pub(super) fn first_number(&self, names: &[&'static str]) -> Result<Option<u64>, SettingsError> {
        let Some((variable, value)) = self.first(names) else { return Ok(None) };
        match value.parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            Ok(_) | Err(_) => {
                Err(SettingsError::Malformed { variable, why: "expected a whole number above 0" })
            }
        }
    }

    /// What a variable says as `name=value,name=value`, with values percent-encoded.
    pub(super) fn pairs(&self, variable: &'static str) -> Result<Vec<(String, String)>, SettingsError> {
        let malformed = |why| SettingsError::Malformed { variable, why };
        let mut out: Vec<(String, String)> = Vec::new();
        for pair in self.get(variable).unwrap_or_default().split(',').map(str::trim) {
            if pair.is_empty() {
                continue;
            }
            let expected = "expected `name=value`, separated by commas";
            let (name, value) = pair.split_once('=').ok_or_else(|| malformed(expected))?;
            let decode = |text: &str| {
                let text = percent_decode_str(text.trim()).decode_utf8();
                text.map(String::from)
                    .map_err(|_| malformed("a value is not UTF-8 when it is percent-decoded"))
            };
            let (name, value) = (decode(name)?, decode(value)?);
            if name.is_empty() {
                return Err(malformed(expected));
            }
            out.retain(|(known, _)| *known != name);
            out.push((name, value));
        }
        Ok(out)
    }
}
