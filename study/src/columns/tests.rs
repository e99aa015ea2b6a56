use proptest::prelude::*;

use super::*;
use crate::ratio::Ratio;

fn texts<Q: Quantity>(quantity: &Q) -> Vec<String> {
    let mut cells: Vec<Cell> = Vec::new();
    quantity.write(&mut cells);
    assert_eq!(cells.len(), Q::PARTS.len());
    cells.iter().map(ToString::to_string).collect()
}

fn survives<Q: Quantity + PartialEq>(quantity: &Q) -> bool {
    Q::read(&texts(quantity)).as_ref() == Some(quantity)
}

proptest! {
    #[test]
    fn every_ratio_survives(numerator: u32, denominator: u32) {
        prop_assert!(survives(&Some(Ratio::clipped(numerator, denominator))));
    }

    #[test]
    fn every_number_and_hash_survives(number: u64, hash: u128, small: u32) {
        prop_assert!(survives(&number) && survives(&Some(number)));
        prop_assert!(survives(&small) && survives(&Some(small)));
        prop_assert!(survives(&Hash(hash)) && survives(&Some(Hash(hash))));
    }

    /// Also of many things, whose texts are not made ahead.
    #[test]
    fn a_line_says_what_the_cells_say(
        numerator in 0..100_u32,
        denominator in 0..100_u32,
        number: u64,
        hash: u128,
    ) {
        let ratio = Some(Ratio::clipped(numerator, denominator));
        let mut bytes = Vec::new();
        let mut line = CsvLine::new(&mut bytes);
        ratio.write(&mut line);
        number.write(&mut line);
        Hash(hash).write(&mut line);
        line.finish();
        let cells = [texts(&ratio), texts(&number), texts(&Hash(hash))].concat();
        prop_assert_eq!(String::from_utf8(bytes).unwrap(), cells.join(",") + "\n");
        prop_assert_eq!(texts(&Hash(hash)), [Hash(hash).to_string()]);
    }

    #[test]
    fn a_quotient_survives_json(numerator: u32, denominator in 1_u32..) {
        let quotient = Ratio::clipped(numerator, denominator).quotient();
        let json = serde_json::to_string(&Cell::Decimal(quotient)).unwrap();
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(read.as_f64().map(f64::to_bits), Some(quotient.to_bits()));
    }
}

/// Lost its last bit in JSON once.
#[test]
fn seven_ninths_survive_json() {
    for (numerator, denominator) in [(7, 9), (7, 11), (8, 11), (9, 11), (5, 13), (10, 13)] {
        let quotient = Ratio::clipped(numerator, denominator).quotient();
        let json = serde_json::to_string(&Cell::Decimal(quotient)).unwrap();
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            read.as_f64().map(f64::to_bits),
            Some(quotient.to_bits()),
            "{json}"
        );
    }
}

#[test]
fn null_is_empty() {
    assert_eq!(texts(&None::<Ratio>), ["", "", ""]);
    assert_eq!(texts(&None::<bool>), [""]);
    assert!(survives(&None::<Ratio>) && survives(&None::<bool>) && survives(&None::<Word>));
}

#[test]
fn what_is_no_value_is_refused() {
    let read = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        Option::<Ratio>::read(&texts)
    };
    assert_eq!(read(&["0.5", "1", "2"]), Some(Ratio::of(1, 2)));
    assert_eq!(read(&["0.25", "1", "2"]), None);
    assert_eq!(read(&["", "1", "2"]), None);
    assert_eq!(read(&["0.5", "", ""]), None);
    assert_eq!(read(&["0", "0", "0"]), None);
    assert_eq!(read(&["NaN", "0", "0"]), None);
    assert_eq!(bool::read(&["2".to_owned()]), None);
    assert_eq!(bool::read(&[String::new()]), None);
    assert_eq!(u32::read(&["-1".to_owned()]), None);
    assert_eq!(u32::read(&["4294967296".to_owned()]), None);
    let upper = "ABCDEFABCDEFABCDEFABCDEFABCDEFAB".to_owned();
    assert_eq!(Hash::read(&[upper]), None);
    assert_eq!(
        Hash::read(&["+bcdefabcdefabcdefabcdefabcdefab".to_owned()]),
        None
    );
}

#[test]
fn stages_include_themselves_and_have_words() {
    let all = [
        Stages::All,
        Stages::Memory,
        Stages::Active,
        Stages::Clean,
        Stages::Utility,
        Stages::Search,
    ];
    for stages in all {
        for stage in STAGES {
            let named = stages.words().contains(stage.name());
            let expected = named || stages == Stages::All;
            assert_eq!(stages.include(stage), expected, "{stages:?} {stage:?}");
        }
    }
}
