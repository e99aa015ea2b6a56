//! The worlds and studies inside the program, so that it works from anywhere.

/// A world inside the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShippedWorld {
    /// Its folder under `worlds/`.
    pub(crate) folder: &'static str,
    /// Its file name without ending: its identity.
    pub(crate) name: &'static str,
    /// Its text.
    pub(crate) world: &'static str,
    /// The text of its script; none if it is a family, which has its script in itself.
    pub(crate) script: Option<&'static str>,
}

/// A study inside the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShippedStudy {
    /// Its file name without ending.
    pub(crate) name: &'static str,
    /// Its text.
    pub(crate) text: &'static str,
}

macro_rules! worlds {
    (
        families: [$($family:literal),* $(,)?],
        $($folder:literal: [$($name:literal),* $(,)?]),* $(,)?
    ) => {
        /// Every world and every family inside the program, by folder and name.
        pub(crate) const WORLDS: &[ShippedWorld] = &[$($(
            ShippedWorld {
                folder: $folder,
                name: $name,
                world: include_str!(concat!("../../worlds/", $folder, "/", $name, ".ron")),
                script: Some(include_str!(concat!(
                    "../../worlds/", $folder, "/", $name, ".script.ron"
                ))),
            },
        )*)* $(
            ShippedWorld {
                folder: "families",
                name: $family,
                world: include_str!(concat!("../../worlds/families/", $family, ".ron")),
                script: None,
            },
        )*];
    };
}

macro_rules! studies {
    ($($name:literal),* $(,)?) => {
        /// Every study inside the program; the first runs when none is named.
        pub(crate) const STUDIES: &[ShippedStudy] = &[$(
            ShippedStudy {
                name: $name,
                text: include_str!(concat!("../../worlds/studies/", $name, ".ron")),
            },
        )*];
    };
}

studies![
    "full_main",
    "full_logged",
    "controls",
    "demos",
    "second_model",
    "smoke",
    "stress"
];

worlds! {
    families: [
        "active_field",
        "active_from_goal",
        "active_outbound",
        "active_two_actions",
        "active_write",
        "clean",
        "memory_ignored",
        "memory_used",
        "memory_wiped",
        "second_model",
        "security_calendar_crm",
        "security_documents",
        "security_email",
        "stress_forward",
        "stress_share",
    ],
    "demos": [
        "case1_control_leak",
        "case1_violation_commits",
        "case2_partner_meeting",
        "case4_followup_note",
        "case5_contact_memory",
        "case5_control_late_persistence",
        "case6_control_rollback",
        "case7_claimed_approval",
        "case8_control_loose_arguments",
        "case8_parser_validity",
    ],
    "topologies": [
        "by_reference",
        "clean_status_note",
        "email_reply",
        "four_channels",
        "hub_and_eight_workers",
        "memory_tools",
        "peer_chain",
        "ring_of_five",
        "several_episodes",
        "supervisor_worker",
        "two_level_tree",
    ],
}

/// The world called `name`.
pub(crate) fn world(name: &str) -> Option<&'static ShippedWorld> {
    WORLDS.iter().find(|world| world.name == name)
}

/// The names of the shipped families.
pub(crate) fn families() -> impl Iterator<Item = &'static str> {
    let families = WORLDS.iter().filter(|world| world.folder == "families");
    families.map(|world| world.name)
}

/// The study called `name`.
pub(crate) fn study(name: &str) -> Option<&'static ShippedStudy> {
    STUDIES.iter().find(|study| study.name == name)
}

impl ShippedStudy {
    /// The path under which it is shipped.
    pub(crate) fn path(&self) -> String {
        format!("worlds/studies/{}.ron", self.name)
    }
}

impl ShippedWorld {
    /// The path with this ending under which it, or its script, is shipped.
    pub(crate) fn path(&self, ending: &str) -> String {
        format!("worlds/{}/{}.{ending}", self.folder, self.name)
    }

    /// What the first lines of the file say of it, up to the end of the first sentence.
    pub(crate) fn summary(&self) -> String {
        let comment = self.world.lines().map_while(|line| line.strip_prefix("//"));
        let text: Vec<&str> = comment.flat_map(str::split_whitespace).collect();
        let text = text.join(" ");
        let end = text.find(". ").map_or(text.len(), |end| end + 1);
        text[..end].trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_world_of_the_folders_is_inside() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("worlds");
        let mut found = Vec::new();
        for folder in ["demos", "topologies", "families"] {
            for entry in std::fs::read_dir(root.join(folder)).expect("the shipped worlds") {
                let name = entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("a name");
                if let Some(name) = name
                    .strip_suffix(".ron")
                    .filter(|n| !n.ends_with(".script"))
                {
                    found.push((folder.to_owned(), name.to_owned()));
                }
            }
        }
        found.sort();
        let listed = WORLDS
            .iter()
            .map(|world| (world.folder.to_owned(), world.name.to_owned()));
        let mut listed: Vec<_> = listed.collect();
        listed.sort();
        assert_eq!(listed, found);
    }

    #[test]
    fn every_study_of_the_folder_is_inside_and_its_worlds_are() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("worlds/studies");
        assert_eq!(
            std::fs::read_dir(folder).expect("the studies").count(),
            STUDIES.len()
        );
        for shipped in STUDIES {
            let study = study::plan::file::load(shipped.text, shipped.name).expect("a study");
            assert_eq!(study.name, shipped.name);
            for path in &study.worlds {
                let name = path
                    .rsplit('/')
                    .next()
                    .and_then(|name| name.strip_suffix(".ron"));
                assert!(name.and_then(world).is_some(), "{path}");
            }
        }
    }

    #[test]
    fn every_world_says_what_it_is() {
        for world in WORLDS {
            let summary = world.summary();
            assert!(
                (10..120).contains(&summary.len()),
                "{}: {summary}",
                world.name
            );
        }
    }
}
