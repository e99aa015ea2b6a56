//! Reading and checking a module.

use std::ops::Range;
use std::sync::Arc;

use plugins::loaded::{Faults, LoadedPolicy, Mistake, OWN_RULES};
use plugins::policy::Policy;
use plugins::reason::{Hooks, is_rule_name};
use wasmtime::{
    Config, Engine, ExternType, FuncType, InstancePre, Linker, MemoryType, Module, OperatorCost,
    StoreLimits,
};

use crate::codes::ABI;
use crate::faults::FaultLog;
use crate::guest::{Guest, Place};
use crate::limits::{Limits, STACK_BYTES, SUMMARY_BYTES};
use crate::policy::WasmPolicy;

/// A module that was read and checked: what all instances share.
pub(crate) struct Loaded {
    pub(crate) pre: InstancePre<StoreLimits>,
    pub(crate) limits: Limits,
    pub(crate) hooks: Hooks,
    pub(crate) rules: Vec<String>,
    pub(crate) keeps_state: bool,
    pub(crate) faults: Arc<FaultLog>,
}

/// What a module exports besides its memory: name, type, and whether it must.
const EXPORTS: [(&str, &str, bool); 12] = [
    ("cb_abi", "() -> i32", true),
    ("cb_hooks", "() -> i32", true),
    ("cb_rule", "(i32) -> i64", true),
    ("cb_alloc", "(i32) -> i32", true),
    ("cb_reset", "(i32, i32) -> ()", true),
    ("cb_append", "(i32, i32) -> ()", false),
    ("cb_decide", "(i32, i32, i32) -> i64", true),
    ("cb_payload", "() -> i64", false),
    ("cb_evidence", "() -> i64", false),
    ("cb_save", "() -> i64", false),
    ("cb_restore", "(i32, i32) -> i32", false),
    ("cb_summary", "() -> i64", false),
];

/// Reads a policy from the bytes of a WebAssembly module, or from its text.
///
/// # Errors
/// All that is wrong with it, as far as that can be told at once.
pub fn load(bytes: &[u8], limits: Limits) -> Result<LoadedPolicy, Vec<Mistake>> {
    let one = |mistake: Mistake| vec![mistake];
    let (loaded, summary) = check(bytes, limits).map_err(|mistakes| match mistakes {
        Wrong::One(mistake) => one(mistake),
        Wrong::Many(mistakes) => mistakes,
    })?;
    let faults: Arc<dyn Faults> = Arc::clone(&loaded.faults) as _;
    let loaded = Arc::new(loaded);
    Ok(LoadedPolicy {
        kind: "wasm",
        version: ABI,
        summary,
        content: plugins::loaded::content_hash([bytes, &limits.bytes()[..]]),
        make: Arc::new(move || Box::new(WasmPolicy::new(&loaded)) as Box<dyn Policy>),
        faults: Some(faults),
    })
}

/// A module that is known to be good.
#[cfg(test)]
pub(crate) fn checked(bytes: &[u8], limits: Limits) -> Loaded {
    let checked = check(bytes, limits).ok();
    checked.expect("the module is good").0
}

/// One mistake that hides all others, or all there are.
enum Wrong {
    One(Mistake),
    Many(Vec<Mistake>),
}

impl From<Mistake> for Wrong {
    fn from(mistake: Mistake) -> Self {
        Self::One(mistake)
    }
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self::One(Mistake::new(message))
    }
}

fn check(bytes: &[u8], limits: Limits) -> Result<(Loaded, String), Wrong> {
    let module = compile(bytes, limits)?;
    let mistakes = wrong_types(&module, limits);
    if !mistakes.is_empty() {
        return Err(Wrong::Many(mistakes));
    }
    let linker = Linker::new(module.engine());
    let pre = linker
        .instantiate_pre(&module)
        .map_err(|error| Mistake::new(error.to_string()))?;
    let mut guest =
        Guest::start(&pre, limits).map_err(|error| format!("no instance can be made: {error}"))?;
    let abi = asked("cb_abi", guest.abi())?;
    if abi.cast_unsigned() != ABI {
        let message = format!("the module speaks version {abi} of the interface");
        return Err(Mistake::new(message)
            .help(format!("this program speaks version {ABI}"))
            .into());
    }
    let hooks = hooks(asked("cb_hooks", guest.hooks())?)?;
    let rules = asked("cb_rule", guest.rules())?;
    let mistakes = wrong_rules(&rules);
    if !mistakes.is_empty() {
        return Err(Wrong::Many(mistakes));
    }
    asked("cb_rule", guest.check_rules(&rules))?;
    let summary = asked("cb_summary", summary(&mut guest))?;
    let loaded = Loaded {
        keeps_state: guest.keeps_state(),
        pre,
        limits,
        hooks,
        rules,
        faults: Arc::default(),
    };
    Ok((loaded, summary))
}

/// What a function answered, or which function failed and why.
fn asked<T>(function: &str, answer: Result<T, String>) -> Result<T, Wrong> {
    answer.map_err(|error| Wrong::from(format!("`{function}` fails: {error}")))
}

fn summary(guest: &mut Guest) -> Result<String, String> {
    let place = guest.summary()?;
    if place == Place::default() {
        return Ok(String::new());
    }
    if place.bytes > SUMMARY_BYTES {
        return Err(format!("it is longer than {SUMMARY_BYTES} bytes"));
    }
    guest.text(place)
}

fn hooks(bits: u32) -> Result<Hooks, Mistake> {
    let hooks = u16::try_from(bits).ok().and_then(Hooks::from_bits);
    let hooks = hooks.ok_or_else(|| {
        Mistake::new(format!(
            "`cb_hooks` returns {bits:#x}, in which bits mean nothing"
        ))
        .help("there are nine hooks: `session` is bit 0, `recovery` is bit 8")
    })?;
    if hooks.is_empty() {
        return Err(
            Mistake::new("`cb_hooks` returns 0: the policy would never be asked")
                .help("`proposal` is bit 4, so 16 asks the policy about each call"),
        );
    }
    Ok(hooks)
}

fn wrong_rules(rules: &[String]) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for (position, rule) in rules.iter().enumerate() {
        let mistake = if !is_rule_name(rule) {
            Mistake::new(format!("rule {position} is called {rule:?}"))
                .help("1 to 64 lower-case letters, digits and `_`")
        } else if OWN_RULES.contains(&&**rule) {
            Mistake::new(format!(
                "rule {position} is called `{rule}`, which means something else"
            ))
            .help("give the rule a name of its own")
        } else if rules[..position].contains(rule) {
            Mistake::new(format!("two rules are called `{rule}`"))
                .help("rulings would not show which of them decided")
        } else {
            continue;
        };
        mistakes.push(mistake);
    }
    mistakes
}

/// An engine in which the same calls give the same answers with the same fuel, whatever the machine
/// does meanwhile.
fn engine() -> Result<Engine, Mistake> {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .operator_cost(costs())
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .max_wasm_stack(STACK_BYTES)
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false);
    Engine::new(&config).map_err(|error| Mistake::new(error.to_string()))
}

/// One unit of fuel for an instruction, and more for one that calls into the host however little it
/// has to do: a unit of fuel is to take about the same time everywhere.
fn costs() -> OperatorCost {
    let mut costs = OperatorCost::default();
    for cost in [
        &mut costs.MemoryGrow,
        &mut costs.MemoryFill,
        &mut costs.MemoryCopy,
        &mut costs.MemoryInit,
        &mut costs.TableGrow,
        &mut costs.TableFill,
        &mut costs.TableCopy,
        &mut costs.TableInit,
    ] {
        *cost = HOST_CALL;
    }
    costs
}

/// The least fuel of an instruction that calls into the host.
const HOST_CALL: u8 = 50;

fn compile(bytes: &[u8], limits: Limits) -> Result<Module, Mistake> {
    if bytes.len() > limits.module_bytes as usize {
        let most = limits.module_bytes;
        return Err(Mistake::new(format!(
            "the module has more than {most} bytes"
        )));
    }
    let is_text = bytes.trim_ascii_start().starts_with(b"(module");
    if !is_text && !bytes.starts_with(b"\0asm") {
        return Err(Mistake::new("this is no WebAssembly module")
            .help("a binary module begins with the bytes `\\0asm`, a text module with `(module`"));
    }
    let binary = wat::parse_bytes(bytes).map_err(|error| invalid(&error.to_string(), bytes))?;
    crate::shape::check(&binary)?;
    Module::new(&engine()?, &binary).map_err(|error| invalid(&format!("{error:#}"), bytes))
}

/// The module is not valid; where, if the error points at a place in its text.
fn invalid(error: &str, bytes: &[u8]) -> Mistake {
    let mistake = Mistake::new(format!("the module is not valid: {}", first_lines(error)));
    match place_of(error, bytes) {
        Some(place) => mistake.at(place),
        None => mistake,
    }
}

/// An error in one line: what stands before a picture of the text.
fn first_lines(error: &str) -> String {
    let lines = error.lines().map(str::trim);
    let said: Vec<_> = lines
        .take_while(|line| !line.starts_with("-->"))
        .filter(|line| !line.is_empty())
        .collect();
    said.join(" ")
}

/// The byte in the text that an error points at: `--> <anon>:LINE:COLUMN`.
fn place_of(error: &str, text: &[u8]) -> Option<Range<usize>> {
    let (_, place) = error.split_once("-->")?;
    let mut parts = place.lines().next()?.trim().rsplit(':');
    let column: usize = parts.next()?.parse().ok()?;
    let line: usize = parts.next()?.parse().ok()?;
    let before = text.split_inclusive(|&byte| byte == b'\n');
    let begin: usize = before.take(line.checked_sub(1)?).map(<[u8]>::len).sum();
    let at = begin.checked_add(column)?.checked_sub(1)?;
    (at < text.len()).then(|| at..at + 1)
}

/// Everything that the module wants and gets not, and everything that it lacks.
fn wrong_types(module: &Module, limits: Limits) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for import in module.imports() {
        let (from, name) = (import.module(), import.name());
        mistakes.push(
            Mistake::new(format!("the module imports `{from}.{name}`"))
                .help("a policy has no imports: no clock, no randomness, no input or output"),
        );
    }
    match module.get_export("memory") {
        Some(ExternType::Memory(memory)) => mistakes.extend(wrong_memory(&memory, limits)),
        _ => mistakes.push(Mistake::new("the module exports no memory called `memory`")),
    }
    for (name, wanted, needed) in EXPORTS {
        match module.get_export(name) {
            None if needed => mistakes.push(
                Mistake::new(format!("the module exports no function `{name}`"))
                    .help(format!("its type is `{wanted}`")),
            ),
            None => {}
            Some(ExternType::Func(found)) if type_text(&found) == wanted => {}
            Some(ExternType::Func(found)) => mistakes.push(
                Mistake::new(format!("`{name}` has the type `{}`", type_text(&found)))
                    .help(format!("its type is `{wanted}`")),
            ),
            Some(_) => mistakes.push(Mistake::new(format!("`{name}` is no function"))),
        }
    }
    let has = |name: &str| module.get_export(name).is_some();
    if has("cb_save") != has("cb_restore") {
        mistakes.push(
            Mistake::new("the module exports only one of `cb_save` and `cb_restore`")
                .help("own state is saved and restored, or there is none"),
        );
    }
    mistakes
}

fn wrong_memory(memory: &MemoryType, limits: Limits) -> Option<Mistake> {
    if memory.is_64() || memory.is_shared() {
        return Some(Mistake::new("the memory is shared or has 64-bit addresses"));
    }
    let bytes = memory.minimum().saturating_mul(memory.page_size());
    let most = u64::from(limits.memory_bytes);
    (bytes > most).then(|| {
        Mistake::new(format!(
            "the memory begins with {bytes} bytes; {most} are allowed"
        ))
    })
}

/// A function type as it stands in the book.
fn type_text(function: &FuncType) -> String {
    let parameters: Vec<_> = function.params().map(|value| value.to_string()).collect();
    let results: Vec<_> = function.results().map(|value| value.to_string()).collect();
    let parameters = parameters.join(", ");
    match results.as_slice() {
        [result] => format!("({parameters}) -> {result}"),
        results => format!("({parameters}) -> ({})", results.join(", ")),
    }
}
