//! A natural logarithm for drawing numbers: fast, and the same bits on every platform.
//!
//! Half of all draws of a queueing model are exponential, and nearly their whole cost is the
//! logarithm. This one needs no division and no branch: the leading seven bits of the mantissa
//! choose a centre from a table, and a short series covers what is left. It uses additions and
//! multiplications only, which IEEE 754 defines to the last bit.

const LN_2: f64 = std::f64::consts::LN_2;
const INDEX_BITS: u32 = 7;
const CENTRES: usize = 1 << INDEX_BITS;
const MANTISSA_BITS: u32 = 52;
const MANTISSA_MASK: u64 = (1 << MANTISSA_BITS) - 1;

/// For each centre its reciprocal and its logarithm, worked out by the compiler.
static TABLE: [(f64, f64); CENTRES] = table();

const fn table() -> [(f64, f64); CENTRES] {
    let mut table = [(0.0, 0.0); CENTRES];
    let mut index = 0;
    while index < CENTRES {
        let centre = 1.0 + (index as f64 + 0.5) / CENTRES as f64;
        table[index] = (1.0 / centre, series(centre));
        index += 1;
    }
    table
}

/// The logarithm of a number from 1 to 2 by ln x = 2 artanh((x - 1) / (x + 1)).
const fn series(x: f64) -> f64 {
    let ratio = (x - 1.0) / (x + 1.0);
    // The ratio is below 1/3, so 20 terms reach far beyond the last bit. The smallest come first.
    let mut sum = 0.0;
    let mut term = 20;
    while term > 0 {
        term -= 1;
        sum = sum * ratio * ratio + 1.0 / (2 * term + 1) as f64;
    }
    2.0 * ratio * sum
}

/// The natural logarithm of a normal number above 0, to within 1e-15 or, where that is more, 4e-16
/// of the result. It does not know zero, infinity, NaN or subnormal numbers.
#[inline]
pub(super) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> MANTISSA_BITS) as i32 - 1023;
    let mantissa = f64::from_bits(bits & MANTISSA_MASK | 1023 << MANTISSA_BITS);
    let index = (bits >> (MANTISSA_BITS - INDEX_BITS)) as usize % CENTRES;
    let (reciprocal, logarithm) = TABLE[index];
    // At most 1/256 in size, so the first term left out of the series is below 2e-18.
    let r = mantissa * reciprocal - 1.0;
    let r2 = r * r;
    let tail = r2 * ((0.5 - r * (1.0 / 3.0)) + r2 * ((0.25 - r * 0.2) + r2 * (1.0 / 6.0)));
    (f64::from(exponent) * LN_2 + logarithm) + (r - tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn it_agrees_with_the_reference() {
        let mut stream = Stream::new(1, 0, Purpose::Oracle, 0);
        let tiny = (0..53).map(|bit| 1.0 / (1u64 << bit) as f64);
        let near_one = (0..1000).map(|n| 1.0 - f64::from(n) * f64::EPSILON / 2.0);
        let anywhere = (0..200_000).map(|n| (1.0 - stream.uniform()) * f64::from(n % 7 + 1));
        for x in tiny.chain(near_one).chain(anywhere) {
            let (found, expected) = (ln(x), libm::log(x));
            let off = (found - expected).abs();
            assert!(off <= f64::max(1e-15, 4e-16 * expected.abs()), "ln({x}) = {found}, {off} off");
        }
    }

    #[test]
    fn known_answers_to_the_last_bit() {
        // Whatever computes these differently would change results from one platform to the next.
        let known: [(f64, u64); 4] = [
            (0.5, 0xbfe6_2e42_fefa_39ef),
            (0.1, 0xc002_6bb1_bbb5_5515),
            (0.999, 0xbf50_6467_0d97_9b44),
            (1e-15, 0xc041_44f6_9ff9_ffc5),
        ];
        for (x, bits) in known {
            assert_eq!(ln(x).to_bits(), bits, "ln({x}) = {:#x}", ln(x).to_bits());
        }
    }
}
