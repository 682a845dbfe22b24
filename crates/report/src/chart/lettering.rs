//! Text of charts. Renderers with fonts get a style. The PNG renderer without fonts gets outlines, because it compiles
//! in half the time.

use std::fmt::Write as _;

use ttf_parser::{Face, FaceParsingError, OutlineBuilder};

use super::px;

/// A font and size.
struct Lettering {
    /// Inter 4 (SIL Open Font License, see `assets/inter/LICENSE`), so that pictures look the same on every machine.
    font: &'static [u8],
    size_px: f64,
}

const TEXT: Lettering =
    Lettering { font: include_bytes!("../../assets/inter/Inter-Regular.ttf"), size_px: 11.0 };
const TITLE: Lettering =
    Lettering { font: include_bytes!("../../assets/inter/Inter-SemiBold.ttf"), size_px: 17.0 };
/// Class of `text` elements that are titles.
const TITLE_CLASS: &str = "title";

/// Text could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum LetteringError {
    #[error(transparent)]
    Svg(#[from] roxmltree::Error),
    #[error(transparent)]
    Font(#[from] FaceParsingError),
}

/// The style of a file's text elements.
pub(super) fn style() -> String {
    let others = r#""Helvetica Neue", Arial, sans-serif"#;
    let (text, title) = (TEXT.size_px, TITLE.size_px);
    format!(
        "text {{ font-family: Inter, {others}; font-size: {text}px; }}\n\
         text.{TITLE_CLASS} {{ font-family: \"Inter SemiBold\", Inter, {others}; font-size: {title}px; font-weight: 600; }}\n"
    )
}

/// The SVG of a chart, with its text elements replaced by paths. The paths have the class `text` in addition to the
/// element's own.
pub(super) fn outlined(svg: &str) -> Result<String, LetteringError> {
    let (text, title) = (TEXT.face()?, TITLE.face()?);
    let document = roxmltree::Document::parse(svg)?;
    let mut drawn = String::with_capacity(svg.len() * 8);
    let mut copied = 0;
    for element in document.descendants().filter(|node| node.has_tag_name("text")) {
        let class = element.attribute("class").unwrap_or_default();
        let (lettering, face) = if class == TITLE_CLASS { (&TITLE, &title) } else { (&TEXT, &text) };
        let number = |name| element.attribute(name).and_then(|text| text.parse().ok()).unwrap_or(0.0);
        let mut pen = Pen::new(face, lettering.size_px);
        pen.write(
            &element
                .descendants()
                .filter_map(|node| node.is_text().then(|| node.text()).flatten())
                .collect::<String>(),
        );
        let left = match element.attribute("text-anchor") {
            Some("middle") => number("x") - pen.x / 2.0,
            Some("end") => number("x") - pen.x,
            _ => number("x"),
        };
        let range = element.range();
        drawn.push_str(&svg[copied..range.start]);
        let place = format!("translate({} {})", px(left), px(number("y")));
        // Writing to a string does not fail.
        let _ = write!(drawn, r#"<path class="text {class}" transform="{place}" d="{}"/>"#, pen.path);
        copied = range.end;
    }
    drawn.push_str(&svg[copied..]);
    Ok(drawn)
}

impl Lettering {
    fn face(&self) -> Result<Face<'static>, FaceParsingError> {
        Face::parse(self.font, 0)
    }
}

/// Writes letters one after the other, as the `d` of a path that starts at the baseline's start.
struct Pen<'a> {
    face: &'a Face<'static>,
    /// Pixels per unit of the font.
    scale: f64,
    x: f64,
    path: String,
}

impl<'a> Pen<'a> {
    fn new(face: &'a Face<'static>, size_px: f64) -> Self {
        Self { face, scale: size_px / f64::from(face.units_per_em()), x: 0.0, path: String::new() }
    }

    /// Letters that the font lacks are drawn as the font's box.
    fn write(&mut self, text: &str) {
        for letter in text.chars() {
            let face = self.face;
            let glyph = face.glyph_index(letter).unwrap_or_default();
            face.outline_glyph(glyph, self);
            self.x += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * self.scale;
        }
    }

    /// Appends a command with its points. The font's y axis points up.
    fn command(&mut self, name: char, points: &[(f32, f32)]) {
        self.path.push(name);
        for (x, y) in points {
            let (x, y) = (self.x + f64::from(*x) * self.scale, -f64::from(*y) * self.scale);
            let _ = write!(self.path, "{x:.2} {y:.2} ");
        }
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.command('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.command('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.command('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.command('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(svg: &str) -> (String, String) {
        let drawn = outlined(svg).expect("it is SVG");
        let document = roxmltree::Document::parse(&drawn).expect("it still is");
        let path = document.descendants().find(|node| node.has_tag_name("path")).expect("a path");
        let of = |name| path.attribute(name).unwrap_or_default().to_owned();
        (of("transform"), of("d"))
    }

    #[test]
    fn text_becomes_a_path_at_its_place_and_the_rest_stays() {
        let svg =
            r#"<svg><rect x="1"/><text class="name" x="7" y="9">a &lt; b</text><g><circle r="2"/></g></svg>"#;
        let drawn = outlined(svg).expect("it is SVG");
        assert!(
            drawn.starts_with(r#"<svg><rect x="1"/><path class="text name" transform="translate(7 9)" d="M"#),
            "{drawn}"
        );
        assert!(drawn.ends_with(r#"Z"/><g><circle r="2"/></g></svg>"#), "{drawn}");
    }

    /// Where a text of two letters begins.
    fn left(class: &str, anchor: &str) -> f64 {
        let text = format!(r#"<text class="{class}" x="100" y="0" text-anchor="{anchor}">mm</text>"#);
        let (place, _) = path_of(&format!("<svg>{text}</svg>"));
        let x = place.trim_start_matches("translate(").split(' ').next();
        x.and_then(|x| x.parse().ok()).expect("a place")
    }

    #[test]
    fn an_anchor_moves_the_text_by_its_width() {
        let at = |anchor| left("name", anchor);
        assert!((at("start") - 100.0).abs() < 1e-9);
        // Places are rounded to a tenth.
        assert!((100.0 - at("end") - 2.0 * (100.0 - at("middle"))).abs() <= 0.2);
        assert!(at("end") < 85.0, "two letters m of 11 pixels are wider than 15");
    }

    #[test]
    fn a_title_is_larger() {
        let width = |class| 100.0 - left(class, "end");
        assert!(width(TITLE_CLASS) > 1.4 * width("name"), "{} {}", width(TITLE_CLASS), width("name"));
    }

    const LETTERS: &str = "azAZ09 .,:;%×·–−…±µ²($)/-_@+=?!";

    #[test]
    fn every_letter_that_charts_write_is_in_both_fonts() {
        for lettering in [TEXT, TITLE] {
            let face = lettering.face().expect("a font");
            let missing: String =
                LETTERS.chars().filter(|letter| face.glyph_index(*letter).is_none()).collect();
            assert_eq!(missing, "");
        }
    }
}
