use super::*;
use crate::auditor::ClosureAuditor;
use crate::parameters::ParameterKind;

fn info(name: &'static str, version: u32) -> PluginInfo {
    let text = |name| ParameterSpec {
        name,
        doc: "Some text.",
        kind: ParameterKind::Text(""),
    };
    PluginInfo {
        name: name.into(),
        summary: "A plugin.".into(),
        version,
        parameters: vec![text("a"), text("b")],
    }
}

fn shelf(infos: &[PluginInfo]) -> Shelf<()> {
    let mut shelf = Shelf::new("policy");
    for info in infos {
        shelf.add(info.clone(), ()).unwrap();
    }
    shelf
}

fn hash(shelf: &Shelf<()>, name: &str, given: &[(&str, &str)]) -> u128 {
    let given = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    shelf.resolve(name, &given).unwrap().1
}

#[test]
fn a_duplicate_name_is_refused_and_changes_nothing() {
    let mut shelf = shelf(&[info("none", 1)]);
    let error = shelf.add(info("none", 2), ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a policy called `none` is already registered"
    );
    assert_eq!(shelf.find("none").unwrap().0.version, 1);
}

#[test]
fn one_name_may_stand_on_two_shelves() {
    let mut registry = Registry::new();
    let auditor: Factory<Box<dyn Auditor>> = Arc::new(|_| Ok(Box::new(ClosureAuditor)));
    let attacker: Factory<Box<dyn Attacker>> = Arc::new(|_| Ok(Box::new(crate::attacker::Fixed)));
    registry.auditors.add(info("plain", 1), auditor).unwrap();
    registry.attackers.add(info("plain", 1), attacker).unwrap();
}

#[test]
fn plugins_are_listed_by_name() {
    let shelf = shelf(&[info("b", 1), info("a", 1), info("c", 1)]);
    let names: Vec<_> = shelf.infos().map(|info| &*info.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn an_unknown_name_is_told_with_those_there_are() {
    let error = shelf(&[info("b", 1), info("a", 1)]).find("c").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no policy is called `c`; there are: a, b"
    );
}

#[test]
fn the_hash_depends_on_name_version_and_parameters() {
    let first = shelf(&[info("x", 1), info("y", 1)]);
    let second = shelf(&[info("x", 2)]);
    let plain = hash(&first, "x", &[]);
    assert_eq!(
        hash(&first, "x", &[("a", "")]),
        plain,
        "a default given is a default"
    );
    assert_ne!(hash(&first, "y", &[]), plain);
    assert_ne!(hash(&second, "x", &[]), plain);
    assert_ne!(hash(&first, "x", &[("a", "1")]), plain);
    assert_ne!(
        hash(&first, "x", &[("a", "1")]),
        hash(&first, "x", &[("b", "1")])
    );
}

/// Two settings whose plain texts, line by line, are the same.
#[test]
fn no_text_of_a_parameter_passes_for_another_parameter() {
    let shelf = shelf(&[info("x", 1)]);
    assert_ne!(
        hash(&shelf, "x", &[("a", "1\nb=2"), ("b", "3")]),
        hash(&shelf, "x", &[("a", "1"), ("b", "2\nb=3")])
    );
}

#[test]
fn a_wrong_parameter_makes_no_plugin() {
    let given = BTreeMap::from([("c".to_owned(), "1".to_owned())]);
    let error = shelf(&[info("x", 1)]).resolve("x", &given).unwrap_err();
    assert_eq!(error.to_string(), "`x` has no parameter `c`; it has: a, b");
}
