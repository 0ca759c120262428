//! Columns as other tools print them: one space between, and nothing behind the last.

use capture::text::columns::{Fit, cells, fit};

/// On which side of its column a text stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Rows as lines, each column as wide as what is in it.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]], sides: &[Side; N]) -> String {
    let widths: [usize; N] = widths(rows);
    let mut text = String::new();
    for row in rows {
        for column in 0..N {
            let side = if sides[column] == Side::Right { Fit::Number } else { Fit::Start };
            match column + 1 < N {
                true => text += &(fit(&row[column], widths[column], side) + " "),
                false => text += &row[column],
            }
        }
        text.push('\n');
    }
    text
}

/// How wide the columns are.
pub(crate) fn widths<const N: usize>(rows: &[[String; N]]) -> [usize; N] {
    let width = |column: usize| rows.iter().map(|row| cells(&row[column])).max().unwrap_or(0);
    std::array::from_fn(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_texts() {
        let rows = [["a", "1", "x"], ["bbb", "22", "yyy"]].map(|row| row.map(str::to_owned));
        let sides = [Side::Left, Side::Right, Side::Left];
        assert_eq!(aligned(&rows, &sides), "a    1 x\nbbb 22 yyy\n");
    }
}
