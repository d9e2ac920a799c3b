//! The look of every chart: colours, dashes, markers, hatching, sizes of text.
//!
//! Nothing is told apart by hue alone. Lines differ in lightness, dash and marker; areas that touch
//! differ in lightness and hatching; so a chart survives a grey printer and any colour vision.

use std::fmt::Write;

/// A colour on white paper, and what it turns into on a dark page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tone {
    /// On white.
    pub(crate) light: (u8, u8, u8),
    /// On [`PAPER`]'s dark colour.
    pub(crate) dark: (u8, u8, u8),
}

const fn tone(light: u32, dark: u32) -> Tone {
    Tone { light: rgb(light), dark: rgb(dark) }
}

const fn rgb(hex: u32) -> (u8, u8, u8) {
    ((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// Behind everything.
pub(crate) const PAPER: Tone = tone(0xFF_FFFF, 0x15_1A21);
/// Titles and names.
pub(crate) const INK: Tone = tone(0x1C_2530, 0xE4_E9EE);
/// Tick labels and axis titles.
pub(crate) const MUTED: Tone = tone(0x55_606C, 0xA3_AEB9);
/// Axis lines.
pub(crate) const AXIS: Tone = tone(0x89_939D, 0x6F_7A85);
/// Grid lines.
pub(crate) const GRID: Tone = tone(0xE4_E8EC, 0x2A_323B);
/// The better half of a forest plot.
pub(crate) const BETTER: Tone = tone(0xEE_F3F1, 0x1D_2926);

/// How the line, point or name of one variant looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariantLook {
    /// Colour of line and marker.
    pub(crate) tone: Tone,
    /// Lengths of strokes and gaps, pixels; empty for a solid line.
    pub(crate) dash: &'static [f64],
    /// Shape of its points.
    pub(crate) marker: Marker,
}

/// Shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    /// A disc.
    Circle,
    /// An upright square.
    Square,
    /// A triangle on its base.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle on its point.
    Wedge,
    /// A diagonal cross.
    Cross,
    /// An upright cross.
    Plus,
    /// A circle with a point in it.
    Ring,
}

/// The looks of variants in order; the first one, which the others are measured against, is the
/// darkest and the only solid line.
pub(crate) const VARIANTS: [VariantLook; 8] = [
    look(tone(0x1F_2A37, 0xF2_F5F8), &[], Marker::Circle),
    look(tone(0xC8_500A, 0xE8_803F), &[9.0, 4.0], Marker::Square),
    look(tone(0x3E_A2DA, 0x4F_A9F0), &[2.5, 3.0], Marker::Triangle),
    look(tone(0x6D_1F66, 0xB8_6FC0), &[11.0, 3.5, 2.5, 3.5], Marker::Diamond),
    look(tone(0xD9_A00F, 0xF0_D060), &[5.0, 3.0], Marker::Wedge),
    look(tone(0x00_6A50, 0x2F_A07A), &[14.0, 4.0], Marker::Cross),
    look(tone(0xC9_9AB0, 0xDD_B2CB), &[8.0, 3.0, 2.0, 3.0, 2.0, 3.0], Marker::Plus),
    look(tone(0x6E_7985, 0x8F_99A3), &[4.0, 5.0], Marker::Ring),
];

const fn look(tone: Tone, dash: &'static [f64], marker: Marker) -> VariantLook {
    VariantLook { tone, dash, marker }
}

/// The look of the variant at `index`. Beyond eight the colours come round again, with the dash and
/// marker of another.
pub(crate) fn variant(index: usize) -> VariantLook {
    let count = VARIANTS.len();
    let shifted = (index + index / count) % count;
    VariantLook {
        tone: VARIANTS[index % count].tone,
        dash: VARIANTS[shifted].dash,
        marker: VARIANTS[shifted].marker,
    }
}

/// Lines drawn over an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hatch {
    /// None.
    Plain,
    /// Rising to the right.
    Rising,
    /// Falling to the right.
    Falling,
    /// Both.
    Crossed,
}

/// How an area looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AreaLook {
    /// Its colour.
    pub(crate) tone: Tone,
    /// What is drawn over it.
    pub(crate) hatch: Hatch,
}

const fn area(tone: Tone, hatch: Hatch) -> AreaLook {
    AreaLook { tone, hatch }
}

/// A command runs.
pub(crate) const BUSY: AreaLook = area(tone(0x0F_4C81, 0x6F_B4EE), Hatch::Plain);
/// Held by a conversation, no command running.
pub(crate) const IDLE: AreaLook = area(tone(0xA5_CBE8, 0x2C_5C87), Hatch::Plain);
/// Ready and bound to nobody.
pub(crate) const WARM: AreaLook = area(tone(0xC4_6F1C, 0xDD_9550), Hatch::Plain);
/// On its way up.
pub(crate) const STARTING: AreaLook = area(tone(0xF6_DFA6, 0x70_5C2C), Hatch::Rising);
/// Bound and never used.
pub(crate) const NEVER_USED: AreaLook = area(tone(0x7C_4A86, 0xC2_9ACB), Hatch::Falling);
/// Deleting.
pub(crate) const DESTROYING: AreaLook = area(tone(0xA2_A9B0, 0x98_A1AA), Hatch::Plain);
/// Orphaned, in limbo, failed or dead.
pub(crate) const LOST: AreaLook = area(tone(0x2B_2B33, 0xF0_D9D9), Hatch::Crossed);

/// Font family of every text. Unquoted names: they stand in an attribute.
pub(crate) const FONT: &str = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif";
/// Size of a chart's title, pixels.
pub(crate) const TITLE_SIZE: f64 = 17.0;
/// Size of names and axis titles, pixels.
pub(crate) const TEXT_SIZE: f64 = 13.0;
/// Size of tick labels and remarks, pixels.
pub(crate) const SMALL_SIZE: f64 = 12.0;
/// Width of every chart, pixels.
pub(crate) const WIDTH: f64 = 920.0;

/// `#RRGGBB`, as the drawing library writes it.
fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

fn all_tones() -> Vec<Tone> {
    let mut tones = vec![PAPER, INK, MUTED, AXIS, GRID, BETTER];
    tones.extend(VARIANTS.iter().map(|look| look.tone));
    tones.extend(
        [BUSY, IDLE, WARM, STARTING, NEVER_USED, DESTROYING, LOST].iter().map(|look| look.tone),
    );
    tones
}

/// Style rules that turn the light colours of every `svg.chart` into the dark ones.
pub(crate) fn dark_rules() -> String {
    let mut rules = String::new();
    for tone in all_tones() {
        let (light, dark) = (hex(tone.light), hex(tone.dark));
        // Writing to a string cannot fail.
        let _ = writeln!(
            rules,
            "svg.chart [fill=\"{light}\"]{{fill:{dark}}} svg.chart [stroke=\"{light}\"]{{stroke:{dark}}}"
        );
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear((r, g, b): (u8, u8, u8)) -> [f64; 3] {
        [r, g, b].map(|channel| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn luminance(colour: (u8, u8, u8)) -> f64 {
        let [r, g, b] = linear(colour);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// CIE lightness, 0 to 100.
    fn lightness(colour: (u8, u8, u8)) -> f64 {
        116.0 * luminance(colour).cbrt() - 16.0
    }

    /// Contrast ratio of WCAG 2, 1 to 21.
    fn contrast(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    /// Distance in CIE Lab of two colours as somebody without red or green cones sees them, by the
    /// projection in linear light of Vienot, Brettel and Mollon (1999).
    fn distance_as_seen(a: (u8, u8, u8), b: (u8, u8, u8), blind: [[f64; 3]; 3]) -> f64 {
        let lab = |colour| {
            let c = linear(colour);
            let [r, g, b] =
                blind.map(|row| (row[0] * c[0] + row[1] * c[1] + row[2] * c[2]).clamp(0.0, 1.0));
            let x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505;
            let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
            let z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089;
            let f = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
            [116.0 * f(y) - 16.0, 500.0 * (f(x) - f(y)), 200.0 * (f(y) - f(z))]
        };
        let (a, b) = (lab(a), lab(b));
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    const PROTANOPE: [[f64; 3]; 3] =
        [[0.112_38, 0.887_62, 0.0], [0.112_38, 0.887_62, 0.0], [0.004_01, -0.004_01, 1.0]];
    const DEUTERANOPE: [[f64; 3]; 3] =
        [[0.292_75, 0.707_25, 0.0], [0.292_75, 0.707_25, 0.0], [-0.022_34, 0.022_34, 1.0]];

    #[test]
    fn one_light_colour_has_one_dark_colour() {
        let tones = all_tones();
        for (i, a) in tones.iter().enumerate() {
            for b in &tones[..i] {
                assert!(a.light != b.light, "{} is used twice", hex(a.light));
            }
        }
    }

    #[test]
    fn text_is_readable_on_both_papers() {
        for text in [INK, MUTED] {
            assert!(contrast(text.light, PAPER.light) >= 4.5);
            assert!(contrast(text.dark, PAPER.dark) >= 4.5);
        }
    }

    #[test]
    fn lines_stand_out_from_both_papers() {
        for look in VARIANTS {
            assert!(contrast(look.tone.light, PAPER.light) >= 2.2, "{}", hex(look.tone.light));
            assert!(contrast(look.tone.dark, PAPER.dark) >= 3.0, "{}", hex(look.tone.dark));
        }
    }

    #[test]
    fn variants_differ_without_red_or_green_cones() {
        for (i, a) in VARIANTS.iter().enumerate() {
            for b in &VARIANTS[..i] {
                for blind in [PROTANOPE, DEUTERANOPE] {
                    let light = distance_as_seen(a.tone.light, b.tone.light, blind);
                    let dark = distance_as_seen(a.tone.dark, b.tone.dark, blind);
                    let names = (hex(a.tone.light), hex(b.tone.light));
                    assert!(light >= 12.0, "{names:?} are {light} apart on white");
                    assert!(dark >= 12.0, "{names:?} are {dark} apart on dark");
                }
            }
        }
    }

    #[test]
    fn the_first_four_variants_differ_in_grey() {
        let colours: Vec<_> = VARIANTS[..4].iter().map(|look| look.tone.light).collect();
        for (i, &a) in colours.iter().enumerate() {
            for &b in &colours[..i] {
                let apart = (lightness(a) - lightness(b)).abs();
                assert!(apart >= 8.0, "{} and {}: {apart}", hex(a), hex(b));
            }
        }
    }

    #[test]
    fn areas_that_touch_differ_in_grey() {
        for stack in [
            vec![BUSY, IDLE, WARM, STARTING, NEVER_USED, LOST],
            vec![BUSY, IDLE, WARM, STARTING, DESTROYING, LOST],
        ] {
            for pair in stack.windows(2) {
                for (a, b) in [
                    (pair[0].tone.light, pair[1].tone.light),
                    (pair[0].tone.dark, pair[1].tone.dark),
                ] {
                    let apart = (lightness(a) - lightness(b)).abs();
                    assert!(apart >= 17.0, "{} and {}: {apart}", hex(a), hex(b));
                }
            }
        }
    }

    #[test]
    fn no_two_of_sixteen_variants_look_the_same() {
        for i in 0..16 {
            for j in 0..i {
                let (a, b) = (variant(i), variant(j));
                assert!(a.tone != b.tone || a.marker != b.marker, "{i} and {j}");
            }
        }
    }
}
