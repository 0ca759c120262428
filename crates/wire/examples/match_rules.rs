//! Parses a match rule, and shows which keys it has.
//!
//! ```sh
//! cargo run -p diligence-wire --example match_rules -- "type='signal',member='Ended'"
//! ```

use std::env;
use std::error::Error;

use diligence_wire::match_rule::MatchRule;

fn main() -> Result<(), Box<dyn Error>> {
    let text = env::args().nth(1).unwrap_or_else(|| "type='signal',member='Ended'".to_owned());
    let rule: MatchRule = text.parse()?;
    println!("in canonical form: {rule}");
    println!(
        "sender: {:?}, interface: {:?}, member: {:?}",
        rule.sender(),
        rule.interface(),
        rule.member()
    );
    Ok(())
}
