//! Every world that is shipped loads without a complaint.

#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the shipped files themselves, so that none can be forgotten"
)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::check;
use crate::flow::exposure;
use crate::spec::{AfterSending, Scenario};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The names in a folder of `worlds/` that end in `.ron`, in order.
fn files(name: &str) -> Vec<String> {
    let mut files: Vec<String> = fs::read_dir(folder(name))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|file| Path::new(file).extension().is_some_and(|it| it == "ron"))
        .collect();
    files.sort();
    files
}

fn load(folder_name: &str, file: &str) -> Scenario {
    let text = fs::read_to_string(folder(folder_name).join(file)).unwrap();
    let checked = check(&text, file, file.trim_end_matches(".ron"));
    assert!(
        checked.report.is_empty(),
        "{:?}",
        miette::Report::new(checked.report)
    );
    checked.scenario.unwrap()
}

fn worlds() -> Vec<Scenario> {
    let mut worlds = Vec::new();
    for name in ["demos", "topologies"] {
        for file in files(name) {
            if !file.ends_with(".script.ron") {
                worlds.push(load(name, &file));
            }
        }
    }
    worlds
}

#[test]
fn every_shipped_world_loads_without_diagnostics() {
    let worlds = worlds();
    assert!(worlds.len() >= 19, "{} worlds", worlds.len());
    for (index, world) in worlds.iter().enumerate() {
        let same = worlds[..index]
            .iter()
            .find(|other| other.content_hash == world.content_hash);
        assert!(same.is_none(), "{} says nothing new", world.identity);
    }
}

#[test]
fn every_shipped_world_has_a_script_beside_it() {
    for name in ["demos", "topologies"] {
        let files = files(name);
        for file in &files {
            let stem = file.trim_end_matches(".ron");
            let twin = match stem.strip_suffix(".script") {
                Some(world) => format!("{world}.ron"),
                None => format!("{stem}.script.ron"),
            };
            assert!(files.contains(&twin), "{name}/{file} lacks {twin}");
        }
    }
}

#[test]
fn the_studies_of_demos_and_controls_name_every_demo() {
    let study = |name| fs::read_to_string(folder("studies").join(name)).unwrap();
    let study = study("demos.ron") + &study("controls.ron");
    for file in files("demos") {
        let is_named = study.contains(&format!("\"../demos/{file}\""));
        assert_eq!(is_named, !file.ends_with(".script.ron"), "{file}");
    }
}

#[test]
fn the_topologies_are_what_their_names_say() {
    let ring = load("topologies", "ring_of_five.ron");
    assert_eq!((ring.briefing.agents.len(), ring.channels.len()), (5, 5));
    let hub = load("topologies", "hub_and_eight_workers.ron");
    assert_eq!((hub.briefing.agents.len(), hub.channels.len()), (9, 8));
    assert!(hub.channels.iter().all(|channel| channel.from.0 == 0));
    let tree = load("topologies", "two_level_tree.ron");
    assert_eq!((tree.briefing.agents.len(), tree.channels.len()), (7, 6));
    assert_eq!(tree.channels[0].after, AfterSending::Continue);
    let episodes = load("topologies", "several_episodes.ron");
    assert_eq!(episodes.episodes.len(), 3);
}

#[test]
fn untrusted_content_can_reach_what_each_world_is_about() {
    for world in worlds() {
        let exposure = exposure(&world);
        let is_clean = world.briefing.untrusted.is_empty();
        assert_eq!(exposure.agents.is_empty(), is_clean, "{}", world.identity);
        assert_eq!(
            exposure.sinks.is_empty() && exposure.stores.is_empty(),
            is_clean,
            "{}",
            world.identity
        );
    }
    let tree = load("topologies", "two_level_tree.ron");
    // Every leaf can read any document, and everything comes back to the root.
    assert_eq!(exposure(&tree).agents.len(), 7);
    let hub = load("topologies", "hub_and_eight_workers.ron");
    assert_eq!(exposure(&hub).agents.len(), 9);
    let archivist = load("demos", "case8_parser_validity.ron");
    assert_eq!(exposure(&archivist).sinks.len(), 3);
}
