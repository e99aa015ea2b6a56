//! What stands in the files of a result, line by line, and in its worlds: no secret, no address that
//! somebody could own, nothing hidden, encoded or operational.

use std::collections::BTreeSet;

use study::columns::Hash;
use study::folder::{MAX_ROWS_BYTES, ROWS};
use worlds::diagnostic::Code;

use super::check::{Check, Trouble};
use super::found::Found;
use super::marks::{self, Kind, Needles};
use super::scenes::Worlds;
use crate::cli::files::{self, MAX_RESULT_BYTES};

/// What would mend a file that says what it must not.
const REMOVE: &str = "remove it from the file, or write the file again; nobody else should get it";

/// The three checks, and what they look for.
struct Looking<'o> {
    secrets: Check,
    addresses: Check,
    markers: Check,
    needles: Needles,
    known: BTreeSet<Hash>,
    lines: usize,
    /// Files that are byte for byte the program's own. Only secrets are looked for in them: a figure is
    /// markup and names the address of its format, and a page names digests.
    own: &'o BTreeSet<String>,
}

/// The checks of secrets, addresses and forbidden markers. Files of `own` were compared with what the
/// program makes, and are the same.
pub(super) fn checks(found: &Found, worlds: &Worlds, own: &BTreeSet<String>) -> [Check; 3] {
    let canaries = worlds.canaries();
    let private = worlds.private();
    let mut looking = Looking {
        secrets: Check::new("secrets"),
        addresses: Check::new("local addresses"),
        markers: Check::new("forbidden markers"),
        needles: Needles::secrets(&canaries, &private),
        known: known(found),
        lines: 0,
        own,
    };
    for file in &found.files {
        let limit = if file.name == ROWS {
            MAX_ROWS_BYTES
        } else {
            MAX_RESULT_BYTES
        };
        match files::text(&file.path, limit) {
            Ok(text) => looking.file(&file.name, &text),
            Err(problem) => {
                let help = "put only files of the result into the folder";
                let trouble = Trouble::of(&file.name, problem.to_string(), help);
                looking.markers.add(trouble);
            }
        }
    }
    looking.worlds(worlds);
    let files = format!("{} files, {} lines", found.files.len(), looking.lines);
    let counted = worlds.counted();
    let tokens = format!(
        "{} canaries, {} private values",
        canaries.len(),
        private.len()
    );
    let searched = match own.len() {
        0 => files.clone(),
        own => format!("{files}, but for {own} of the program's own"),
    };
    let missing = match worlds.scenes.len() {
        count if count == worlds.named => "",
        _ => "; what the others declare is not known",
    };
    [
        looking
            .secrets
            .looked_at(format!("{files}; {counted}: {tokens}{missing}")),
        looking
            .addresses
            .looked_at(format!("{searched}; {counted}")),
        looking.markers.looked_at(format!("{searched}; {counted}")),
    ]
}

/// The hashes that the result is known by.
fn known(found: &Found) -> BTreeSet<Hash> {
    let Some(manifest) = &found.manifest else {
        return BTreeSet::new();
    };
    let frozen = &manifest.frozen;
    let policies = frozen.policies.iter().chain(&frozen.shadow);
    let of_policies = policies.flat_map(|policy| [Some(policy.hash), policy.content_hash]);
    let models = frozen.models.iter().map(|model| Some(model.hash));
    let digests = [
        Some(manifest.digest),
        manifest.circumstances.rows_digest,
        manifest.circumstances.scenarios_digest,
        Some(frozen.rollout_ids),
        Some(frozen.scenario_set()),
    ];
    let scenarios = frozen.scenarios.iter().map(|scenario| scenario.hash);
    let digests = digests.into_iter().flatten();
    digests
        .chain(of_policies.chain(models).flatten())
        .chain(scenarios)
        .collect()
}

impl Looking<'_> {
    fn file(&mut self, name: &str, text: &str) {
        let kind = match name.rsplit('.').next() {
            _ if name == ROWS => Kind::Rows,
            Some("json" | "jsonl") => Kind::Json,
            _ => Kind::Text,
        };
        for (line, text) in (1..).zip(text.split('\n')) {
            self.lines += usize::from(!text.is_empty());
            self.line(name, line, text, kind);
            if kind == Kind::Json
                && let Some(text) = marks::unescaped(text)
            {
                self.line(name, line, &text, kind);
            }
        }
    }

    fn line(&mut self, name: &str, line: usize, text: &str, kind: Kind) {
        if let Some(what) = self.needles.first_in(text) {
            // Its text is not told: it would be in one place more.
            let trouble = Trouble::of(name, format!("{what} stands here"), REMOVE);
            self.secrets.add(trouble.line(line));
        }
        if self.own.contains(name) {
            return;
        }
        for mark in marks::marks(text, kind, &self.known) {
            if mark.code == Code::ForeignAddress {
                let help = "end every address in `.local` or `.example`, which nobody can own";
                let trouble = Trouble::of(name, mark.what, help);
                self.addresses.add(trouble.line(line));
            } else {
                let trouble = Trouble::of(name, mark.what, REMOVE);
                self.markers.add(trouble.line(line));
            }
        }
    }

    /// The worlds hold synthetic secrets only, each declared. Addresses and markers they have none, or
    /// they could not have been read; here it is counted that they could.
    fn worlds(&mut self, worlds: &Worlds) {
        let keys = Needles::keys();
        for (scene, value) in worlds.values() {
            let name = &*scene.scenario.identity;
            if let Some(what) = keys.first_in(value) {
                let help = "write a canary in its place, and run the study again";
                let trouble = Trouble::of(name, format!("{what} stands in the world"), help);
                self.secrets.add(trouble);
            }
            let declared = &scene.scenario.briefing.canaries;
            for token in marks::canaries(value) {
                let is_declared = declared.iter().any(|canary| *canary.token == *token);
                self.secrets.require(is_declared, || {
                    let message =
                        format!("`{token}` stands in the world, which does not declare it");
                    let help = "name it under `canaries` with those who may read it";
                    Trouble::of(name, message, help)
                });
            }
        }
    }
}
