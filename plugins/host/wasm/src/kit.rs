//! What an author begins with: a policy that builds and passes `containment plugin check`.

/// A language for which there is a beginning. Any language that compiles to WebAssembly will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// C, with the header `containment.h`.
    C,
    /// `AssemblyScript`.
    AssemblyScript,
    /// Rust without `std`.
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::C, Self::AssemblyScript, Self::Rust];

    /// Its word on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::AssemblyScript => "assemblyscript",
            Self::Rust => "rust",
        }
    }

    /// The language with this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|language| language.word() == word)
    }
}

/// The files of the kit as they are shipped: language, name of the file and text. `NAME` stands
/// for the name of the policy in both.
pub const TEMPLATES: [(Language, &str, &str); 5] = [
    (Language::C, "NAME.c", include_str!("../kit/policy.c")),
    (
        Language::C,
        "containment.h",
        include_str!("../kit/containment.h"),
    ),
    (
        Language::AssemblyScript,
        "NAME.ts",
        include_str!("../kit/policy.ts"),
    ),
    (
        Language::Rust,
        "Cargo.toml",
        include_str!("../kit/Cargo.toml.txt"),
    ),
    (
        Language::Rust,
        "src/lib.rs",
        include_str!("../kit/policy.rs.txt"),
    ),
];

/// The files with which a policy called `name` begins: each its path below the folder of the
/// policy, and its text. A good name is one that `plugins::reason::is_rule_name` accepts: it is also
/// a file name and, in Rust, the name of a package.
#[must_use]
pub fn template(language: Language, name: &str) -> Vec<(String, String)> {
    let own = TEMPLATES.into_iter().filter(|(own, _, _)| *own == language);
    own.map(|(_, file, text)| {
        // The header speaks of a file of any name.
        let text = match file {
            "containment.h" => text.to_owned(),
            _ => text.replace("NAME", name),
        };
        (file.replace("NAME", name), text)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_beginning() {
        for language in Language::ALL {
            assert_eq!(Language::named(language.word()), Some(language));
            let files = template(language, "my_guard");
            assert!(!files.is_empty());
            for (file, text) in &files {
                let generic = file == "containment.h";
                assert!(generic || !text.contains("NAME"), "{file}");
                assert!(generic || text.contains("my_guard"), "{file}");
            }
        }
        assert_eq!(Language::named("cobol"), None);
        let names: Vec<_> = template(Language::C, "g")
            .into_iter()
            .map(|(file, _)| file)
            .collect();
        assert_eq!(names, ["g.c", "containment.h"]);
    }
}
