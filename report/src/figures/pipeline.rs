//! Figure 7: from world files to what is printed, with the counts and digests of a manifest. Equal
//! digests mean equal rows, and everything to the right is made from the rows alone.

use study::columns::Hash;
use study::manifest::Manifest;

use super::layered::{Kind, Layered, counted};
use crate::analysis::Analysis;
use crate::evidence::Scope;

/// The columns of the schematic.
const INPUTS: u32 = 0;
const FROZEN: u32 = 1;
const ROWS: u32 = 2;
const MADE: u32 = 3;

/// What is made from rows, with what it answers.
const OUTPUTS: [(&str, &str); 5] = [
    ("tables", "containment tables"),
    ("claims", "what each number may be claimed for"),
    ("figures", "containment figures"),
    ("scorecard", "beside the published numbers"),
    ("replay", "runs rows again and compares"),
];

/// The pipeline of a study.
pub(super) fn figure(analysis: &Analysis<'_>) -> String {
    let families = analysis.evidence.most_clusters(Scope::All).families;
    draw(analysis.evidence.manifest, families)
}

fn draw(manifest: &Manifest, families: u64) -> String {
    let frozen = &manifest.frozen;
    let circumstances = &manifest.circumstances;
    let mut schematic = Layered {
        title: format!("Figure 7. Artifact pipeline: {}", frozen.name),
        headings: vec!["Inputs", "Frozen", "Simulated", "Made from the rows"],
        note: "Numbers and digests are those of the manifest. Paths, clocks and the number of workers \
               enter none of them. The case studies are rollouts of shipped worlds and need no rows; \
               adapters to other benchmarks are not simulated yet."
            .to_owned(),
        ..Layered::default()
    };
    let inputs = [
        (
            format!("{families} families"),
            counted(circumstances.world_files.len(), "world file", "world files"),
        ),
        (
            counted(frozen.scenarios.len(), "scenario", "scenarios"),
            "with their scripts".to_owned(),
        ),
        (
            counted(frozen.policies.len(), "defence", "defences"),
            "by version and parameters".to_owned(),
        ),
        (
            format!(
                "{}, 1 parser",
                counted(frozen.models.len(), "model", "models")
            ),
            format!("parser {}", short(frozen.parser.hash)),
        ),
        (
            counted(frozen.seeds.len(), "seed", "seeds"),
            format!("study seed {}", frozen.study_seed),
        ),
    ];
    let inputs = inputs.map(|(name, says)| schematic.add(INPUTS, name, &[says], Kind::Plain));
    let says = [
        format!("digest {}", short(manifest.digest)),
        format!("rollout ids {}", short(frozen.rollout_ids)),
    ];
    let frozen_box = schematic.add(FROZEN, "manifest.json", &says, Kind::Authority);
    let says = |count: String, digest: Option<Hash>| {
        let digest = digest.map(|digest| format!("digest {}", short(digest)));
        [Some(count), digest]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    let rows = says(
        format!("{} rollouts", frozen.rollouts),
        circumstances.rows_digest,
    );
    let rows = schematic.add(ROWS, "rows.csv", &rows, Kind::Trusted);
    let lines = says(
        format!("{} lines", frozen.scenarios.len()),
        circumstances.scenarios_digest,
    );
    let lines = schematic.add(ROWS, "scenarios.jsonl", &lines, Kind::Trusted);
    for input in inputs {
        schematic.arrow(input, frozen_box, Kind::Plain);
    }
    schematic.arrow(frozen_box, rows, Kind::Plain);
    schematic.arrow(frozen_box, lines, Kind::Plain);
    for (name, says) in OUTPUTS {
        let made = schematic.add(MADE, name, &[says.to_owned()], Kind::Plain);
        schematic.arrow(rows, made, Kind::Plain);
    }
    schematic.draw()
}

/// The beginning of a digest, which is enough to recognise it.
fn short(hash: Hash) -> String {
    hash.to_string().chars().take(12).collect()
}
