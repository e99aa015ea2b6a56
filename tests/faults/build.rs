//! Copies `engine/src` and puts every fault of `faults.txt` beside the text that it mistakes, each
//! behind its switch. The engine itself stays as it is.

#[path = "src/table.rs"]
pub mod table;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use table::Fault;

const ENGINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../engine/src");
const TABLE: &str = "faults.txt";

fn main() {
    println!("cargo::rerun-if-changed={ENGINE}");
    println!("cargo::rerun-if-changed={TABLE}");
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo names the folder to write to in no other way"
    )]
    let out = std::env::var_os("OUT_DIR").expect("cargo runs this");
    let faults = table::read(&fs::read_to_string(TABLE).expect("the table of faults"));
    let mut sources = Vec::new();
    collect(Path::new(ENGINE), &mut sources);
    let mut misfits = Vec::new();
    for fault in &faults {
        let file = Path::new(ENGINE).join(&fault.file);
        if !sources.contains(&file) {
            misfits.push(format!("`{}`: there is no {}", fault.name, file.display()));
        }
    }
    for path in sources {
        let file = path.strip_prefix(ENGINE).expect("found in there");
        let source = fs::read_to_string(&path).expect("a source file");
        let here = faults.iter().filter(|fault| Path::new(&fault.file) == file);
        let mut patched = patch(&source, here, &mut misfits);
        if file == Path::new("lib.rs") {
            // It becomes a part of this crate's root, which describes itself.
            patched = without_description(&patched);
        }
        let target = Path::new(&out).join("engine").join(file);
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder to write to");
        fs::write(target, patched).expect("a file to write to");
    }
    assert!(
        misfits.is_empty(),
        "faults that no longer fit the engine; mend them in tests/faults/{TABLE}\n\n{}\n",
        misfits.join("\n\n")
    );
}

fn collect(folder: &Path, sources: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources of the engine") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            collect(&path, sources);
        } else {
            sources.push(path);
        }
    }
}

fn without_description(root: &str) -> String {
    let lines = root.lines().filter(|line| !line.starts_with("//!"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// `source` with `faults` in it.
fn patch<'a>(
    source: &str,
    faults: impl Iterator<Item = &'a Fault>,
    misfits: &mut Vec<String>,
) -> String {
    // The faults of one place, by place.
    let mut places: Vec<(Range<usize>, Vec<&Fault>)> = Vec::new();
    for fault in faults {
        let range = match place(source, fault) {
            Ok(range) => range,
            Err(misfit) => {
                misfits.push(misfit);
                continue;
            }
        };
        match places.iter_mut().find(|(other, _)| *other == range) {
            Some((_, there)) => there.push(fault),
            None => places.push((range, vec![fault])),
        }
    }
    places.sort_by_key(|(range, _)| range.start);
    let mut out = String::new();
    let mut done = 0;
    for (range, faults) in places {
        if range.start < done {
            misfits.push(format!("`{}` overlaps the one before", faults[0].name));
            continue;
        }
        out.push_str(&source[done..range.start]);
        let switched = switched(&faults, &source[range.clone()]);
        let goes_on = source[range.end..]
            .trim_start()
            .starts_with(['&', '|', '=']);
        if out.trim_end().ends_with(['{', '}', ';']) && goes_on {
            // Without brackets the expression would end here.
            out.extend(["(", &switched, ")"]);
        } else {
            out.push_str(&switched);
        }
        done = range.end;
    }
    out.push_str(&source[done..]);
    out
}

/// Where the text stands that `fault` mistakes.
fn place(source: &str, fault: &Fault) -> Result<Range<usize>, String> {
    let Fault {
        name, file, find, ..
    } = fault;
    let (before, rest) = find.split_once('«').unwrap_or(("", find));
    let (mistaken, after) = rest.split_once('»').unwrap_or((rest, ""));
    let wanted = [before, mistaken, after].concat();
    let found: Vec<usize> = source.match_indices(&wanted).map(|(at, _)| at).collect();
    let [start] = found[..] else {
        let count = found.len();
        return Err(format!(
            "`{name}`: engine/src/{file} has {count} places with\n{wanted}"
        ));
    };
    let start = start + before.len();
    Ok(start..start + mistaken.len())
}

/// `original`, unless one of `faults` is switched on.
fn switched(faults: &[&Fault], original: &str) -> String {
    if let [
        Fault {
            number, instead, ..
        },
    ] = faults
        && instead.is_empty()
    {
        return format!("if !crate::fault::is({number}) {{ {original} }}");
    }
    let branches = faults.iter().map(
        |Fault {
             number, instead, ..
         }| { format!("if crate::fault::is({number}) {{ {instead} }} else ") },
    );
    format!("{}{{ {original} }}", branches.collect::<String>())
}
