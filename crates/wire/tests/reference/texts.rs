//! Comparison of names, object paths and signatures with libdbus.

use diligence_wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};
use diligence_wire::signature::Signature;
use testkit::random::Random;

use crate::judge::{Judge, JudgedText, ReferenceVerdict};
use crate::{ReferenceComparison, cases, deviations, verdict};

#[test]
fn names_are_validated_like_libdbus() {
    let mut judge = Judge::new();
    compare(&mut judge, JudgedText::BusName, &bus_name, |text| verdict(BusName::from_bytes(text)));
    compare(&mut judge, JudgedText::Interface, &dotted, |text| {
        verdict(InterfaceName::from_bytes(text))
    });
    compare(&mut judge, JudgedText::ErrorName, &dotted, |text| {
        verdict(ErrorName::from_bytes(text))
    });
    compare(&mut judge, JudgedText::Member, &member, |text| verdict(MemberName::from_bytes(text)));
    compare(&mut judge, JudgedText::ObjectPath, &path, |text| {
        verdict(ObjectPath::from_bytes(text))
    });
}

#[test]
fn signatures_are_validated_like_libdbus() {
    let mut judge = Judge::new();
    compare(&mut judge, JudgedText::Signature, &signature, |text| {
        verdict(Signature::from_bytes(text))
    });
    compare(&mut judge, JudgedText::SingleType, &signature, |text| {
        match Signature::from_bytes(text) {
            Ok(signature) => verdict(signature.single().ok_or("not one type")),
            Err(error) => verdict::<(), _>(Err(error)),
        }
    });
}

fn compare(
    judge: &mut Judge,
    kind: JudgedText,
    text: &dyn Fn(&mut Random) -> Vec<u8>,
    ours: impl Fn(&[u8]) -> ReferenceVerdict,
) {
    let comparison = ReferenceComparison {
        kind,
        count: cases(30),
        case: &|random: &mut Random| {
            let mut text = text(random);
            if !random.once_in(4) {
                garble(&mut text, random);
            }
            // libdbus takes texts that are terminated by a 0 byte.
            text.retain(|byte| *byte != 0);
            text
        },
        ours: &|text: &Vec<u8>| ours(text),
        deviation: &|text, ours, theirs| deviations::text_deviation(kind, text, ours, theirs),
    };
    comparison.run(judge);
}

fn bus_name(random: &mut Random) -> Vec<u8> {
    match random.below(3) {
        0 => format!(":{}.{}", random.below(100), random.below(100)).into_bytes(),
        1 => random.dotted().replace('_', random.pick(&["_", "-"])).into_bytes(),
        _ => lengthened(random.dotted().into_bytes(), random),
    }
}

fn dotted(random: &mut Random) -> Vec<u8> {
    lengthened(random.dotted().into_bytes(), random)
}

fn member(random: &mut Random) -> Vec<u8> {
    lengthened(random.element().into_bytes(), random)
}

fn path(random: &mut Random) -> Vec<u8> {
    match random.once_in(10) {
        true => b"/".to_vec(),
        false => lengthened(random.path().into_bytes(), random),
    }
}

/// A signature, usually short and wide, sometimes at or over the depth limit.
fn signature(random: &mut Random) -> Vec<u8> {
    let mut text = random.signature();
    if random.once_in(3) {
        let depth = random.pick(&[1, 2, 16, 31, 32, 33, 34]);
        for _ in 0..depth {
            text = match random.below(8) {
                0 => format!("({text})"),
                1 if text.len() < 200 => format!("a{{s{text}}}"),
                _ => format!("a{text}"),
            };
        }
        let open = random.pick(&[0, 0, 30, 31, 32, 33]);
        text = format!("{}{text}{}", "(".repeat(open), ")".repeat(open));
    }
    lengthened(text.into_bytes(), random)
}

/// Sometimes extends a text to about the maximum length of a name.
fn lengthened(mut text: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if random.once_in(8) && !text.is_empty() {
        let len = random.pick(&[250, 254, 255, 256, 257, 300]);
        while text.len() < len {
            text.push(text[text.len() / 2]);
        }
    }
    text
}

/// Changes a few random bytes.
fn garble(text: &mut Vec<u8>, random: &mut Random) {
    const ODD: &[u8] = b"..//::--__09azAZ@[`{}() aviysu^~\x7f\x80\xc3\xa9\xff\n";
    for _ in 0..random.pick(&[1, 1, 2, 3]) {
        let at = random.below(text.len() + 1);
        match random.below(4) {
            0 if at < text.len() => text[at] = random.pick(ODD),
            1 if at < text.len() => drop(text.remove(at)),
            2 if at < text.len() => text.insert(at, text[at]),
            _ => text.insert(at, random.pick(ODD)),
        }
    }
}
