use std::collections::BTreeMap;

use serde::Serialize;

use super::append;

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Wrapped(u32);

#[derive(Serialize)]
struct Pair(i32, char);

#[derive(Serialize)]
struct Named {
    small: u8,
    text: &'static str,
}

#[derive(Serialize)]
enum Variant {
    Unit,
    Wrapped(u64),
    Pair(u16, bool),
    Named { wide: u128, none: Option<u8> },
}

/// What `append` adds is what postcard makes of the value.
fn is_as_postcard<T: Serialize + ?Sized>(value: &T) {
    let mut bytes = b"before".to_vec();
    append(value, &mut bytes);
    let expected = postcard::to_stdvec(value).expect("plain data serialises");
    assert_eq!(bytes.strip_prefix(b"before"), Some(&expected[..]));
}

#[test]
fn numbers_of_every_length_are_as_postcard_writes_them() {
    for bits in 0..64 {
        let power = 1_u64 << bits;
        for number in [power - 1, power, power + 1, u64::MAX - power] {
            is_as_postcard(&number);
            is_as_postcard(&number.cast_signed());
            is_as_postcard(&number.cast_signed().wrapping_neg());
            is_as_postcard(&(u128::from(number) << 64 | u128::from(number)));
        }
    }
    is_as_postcard(&(u8::MAX, u16::MAX, u32::MAX, u128::MAX));
    is_as_postcard(&[
        (i8::MIN, i16::MIN, i32::MIN),
        (-1, -1, -1),
        (i8::MAX, i16::MAX, i32::MAX),
    ]);
    is_as_postcard(&(0.25_f32, -1e300_f64));
}

#[test]
fn values_of_every_shape_are_as_postcard_writes_them() {
    is_as_postcard(&(Unit, Wrapped(300), Pair(-5, 'é'), ()));
    is_as_postcard(&Named {
        small: 200,
        text: "",
    });
    is_as_postcard(&[Some("a text"), None]);
    is_as_postcard(&vec![
        Variant::Unit,
        Variant::Wrapped(1 << 40),
        Variant::Pair(128, true),
        Variant::Named {
            wide: 1 << 100,
            none: None,
        },
    ]);
    is_as_postcard(&BTreeMap::from([(1, "one"), (1000, "a thousand")]));
    // More than there is room for at first.
    is_as_postcard(&"x".repeat(5_000));
    is_as_postcard(&vec![(1_u64 << 40, "text"); 500]);
    is_as_postcard(&Vec::<u64>::new());
}
