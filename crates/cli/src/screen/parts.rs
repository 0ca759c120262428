//! What pages have in common: how things look, and the keys at their foot.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// What stands out.
pub(crate) fn strong() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// What stands back.
pub(crate) fn pale() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

/// Keys, headings, and what must not be overlooked.
pub(crate) fn reversed() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}

/// Keys, each with what it does.
pub(crate) fn keys(keys: &[(&'static str, &'static str)]) -> Line<'static> {
    keys.iter()
        .flat_map(|(key, does)| {
            let key = Span::styled(format!(" {key} "), reversed());
            [Span::raw(" "), key, Span::raw(format!(" {does}"))]
        })
        .collect()
}
