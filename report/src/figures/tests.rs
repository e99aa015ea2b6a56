//! What the tests of figures share.

use statistics::Interval;

use super::bars::Bar;
use super::palette::Look;

/// Three bars: with an interval, without, and one to which the question does not apply.
pub(super) fn bars() -> Vec<Bar<'static>> {
    let bar = |place, name, value| Bar {
        name,
        look: Look::of(place),
        value,
        n: 600,
        interval: None,
    };
    let mut bars = vec![
        bar(0, "none", Some(0.923_33)),
        bar(4, "taint_only_v1", Some(0.164_17)),
        bar(6, "rollback_v2", None),
    ];
    bars[0].interval = Some(Interval {
        low: 0.9,
        high: 0.95,
        level: 0.95,
    });
    bars
}

/// Fails unless `svg` is XML of which every reader makes the same: one root, elements closed in
/// order, attributes in quotes, references that exist, with a title and a description.
#[track_caller]
pub(crate) fn assert_well_formed(svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    for told in ["title", "desc"] {
        let found = root
            .children()
            .find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", told)));
        let text = found.and_then(|element| element.text()).unwrap_or_default();
        assert!(!text.is_empty(), "no {told}: {svg}");
    }
    let named: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.attribute("id"))
        .collect();
    let references = document
        .descendants()
        .flat_map(|node| node.attributes())
        .filter_map(|attribute| attribute.value().strip_prefix("url(#")?.strip_suffix(')'));
    for reference in references {
        assert!(named.contains(&reference), "nothing is called {reference}");
    }
}
