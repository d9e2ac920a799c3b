//! Numbers in sentences.

/// Three significant digits, without an exponent; whole numbers stay whole.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let exponent = value.abs().log10().floor() as i32;
    let decimals = (2 - exponent).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn three_digits() {
        for (value, text) in
            [(0.0, "0"), (12.3456, "12.3"), (0.012_34, "0.0123"), (1_234.0, "1234"), (2.0, "2")]
        {
            assert_eq!(short(value), text);
        }
    }
}
