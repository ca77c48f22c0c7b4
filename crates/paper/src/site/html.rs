//! HTML of the site: text that is escaped, and a page with its style.

/// One accent colour; shapes and colours of the charts differ, and the colours are those of Okabe and Ito, which colour-blind readers tell apart.
const STYLE: &str = include_str!("style.css");

/// HTML that grows.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Adds HTML of our own.
    pub(super) fn raw(&mut self, html: &str) -> &mut Self {
        self.0.push_str(html);
        self
    }

    /// Adds text, for an element or an attribute in quotes.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        self
    }

    /// Adds an element that holds text, and a line break.
    pub(super) fn element(&mut self, name: &str, text: &str) -> &mut Self {
        self.raw(&format!("<{name}>")).text(text).raw(&format!("</{name}>\n"))
    }
}

/// A whole page.
pub(super) fn page(title: &str, body: &Html) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>").text(title);
    html.raw(" - Solinas</title>\n<style>\n").raw(STYLE).raw("</style>\n</head>\n<body>\n<main>\n").raw(&body.0);
    html.raw("</main>\n</body>\n</html>\n");
    html.0
}
