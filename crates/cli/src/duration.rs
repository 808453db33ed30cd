//! Spans of time as they are written on the command line.

use chrono::TimeDelta;

/// A number and a unit: `30m`, `12h`, `90d`, `2w`.
///
/// # Errors
///
/// What was expected and found.
pub(crate) fn duration(given: &str) -> Result<TimeDelta, String> {
    let refused = || format!("expected a number and one of `m`, `h`, `d`, `w`, found `{given}`");
    let unit = given.chars().last().ok_or_else(refused)?;
    let minutes = match unit {
        'm' => 1,
        'h' => 60,
        'd' => 24 * 60,
        'w' => 7 * 24 * 60,
        _ => return Err(refused()),
    };
    let number: u32 = given[..given.len() - unit.len_utf8()].parse().map_err(|_| refused())?;
    TimeDelta::try_minutes(i64::from(number) * minutes).ok_or_else(refused)
}

/// So many milliseconds, as [`duration`] takes them if they are whole minutes.
pub(crate) fn span(millis: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("w", 7 * 24 * 3_600_000), ("d", 24 * 3_600_000), ("h", 3_600_000), ("m", 60_000)];
    let whole = UNITS.iter().find(|(_, unit)| millis > 0 && millis.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{millis} ms"), |(name, unit)| format!("{}{name}", millis / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_written_as_it_is_given() {
        for written in ["1m", "90m", "2h", "25h", "7h", "3d", "2w", "1w"] {
            let millis = duration(written).expect("it is one").num_milliseconds();
            assert_eq!(span(millis.cast_unsigned()), written);
        }
        assert_eq!([span(0), span(1_500), span(60_001)], ["0 ms", "1500 ms", "60001 ms"]);
    }

    fn check(given: &str, expect: Option<i64>) {
        assert_eq!(duration(given).ok().map(|found| found.num_minutes()), expect, "{given}");
    }

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        check("30m", Some(30));
        check("12h", Some(720));
        check("90d", Some(129_600));
        check("1w", Some(10_080));
        for wrong in ["", "d", "12", "1 d", "-1d", "1y", "1ß"] {
            check(wrong, None);
        }
    }
}
