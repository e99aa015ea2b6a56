//! A live instance: its memory, its functions, its fuel.

use wasmtime::{
    Error, InstancePre, Memory, Store, StoreLimits, StoreLimitsBuilder, Trap, TypedFunc,
    WasmParams, WasmResults,
};

use crate::codes::{CODES, Code, hook_word};
use crate::limits::{Limits, MOST_RULES, TABLE_ELEMENTS, TABLES};
use crate::message::{Message, word};
use plugins::reason::Hook;

/// An instance of a module, made and not yet told anything.
pub(crate) struct Guest {
    store: Store<StoreLimits>,
    limits: Limits,
    memory: Memory,
    functions: Functions,
    /// Fuel given since the last count, and all that was used before.
    given: u64,
    spent: u64,
}

/// What a module exports. The types were checked when it was loaded.
struct Functions {
    abi: TypedFunc<(), i32>,
    hooks: TypedFunc<(), i32>,
    rule: TypedFunc<i32, i64>,
    alloc: TypedFunc<i32, i32>,
    reset: TypedFunc<(i32, i32), ()>,
    append: Option<TypedFunc<(i32, i32), ()>>,
    decide: TypedFunc<(i32, i32, i32), i64>,
    payload: Option<TypedFunc<(), i64>>,
    evidence: Option<TypedFunc<(), i64>>,
    save: Option<TypedFunc<(), i64>>,
    restore: Option<TypedFunc<(i32, i32), i32>>,
    summary: Option<TypedFunc<(), i64>>,
}

/// Where something is in the memory of a module, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: u32,
    pub(crate) bytes: u32,
}

/// What a module answered to one question. Places are not checked yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// The verdict.
    pub(crate) code: Code,
    /// The rule by position; none is the neutral ruling.
    pub(crate) rule: Option<usize>,
    /// The denial by number.
    pub(crate) denial: usize,
    /// Whether it rests on a stand-in.
    pub(crate) assumed: bool,
    /// What more belongs to the verdict.
    pub(crate) payload: Place,
    /// What it rests on; as many bytes as none if it says nothing of that.
    pub(crate) evidence: Place,
}

impl Guest {
    /// Makes an instance. A start function runs, with the fuel of one question.
    ///
    /// # Errors
    /// What went wrong, in one sentence.
    pub(crate) fn start(pre: &InstancePre<StoreLimits>, limits: Limits) -> Result<Self, String> {
        let room = StoreLimitsBuilder::new()
            .memory_size(limits.memory_bytes as usize)
            .memories(1)
            .table_elements(TABLE_ELEMENTS)
            .tables(TABLES)
            .instances(1)
            .build();
        let mut store = Store::new(pre.module().engine(), room);
        store.limiter(|room| room);
        let say = |error: Error| describe(&error, limits.fuel);
        store.set_fuel(limits.fuel).map_err(say)?;
        let instance = pre.instantiate(&mut store).map_err(say)?;
        let memory = instance
            .get_memory(&mut store, "memory")
            .ok_or("there is no memory called `memory`")?;
        let mut find = Finder {
            store: &mut store,
            instance,
        };
        let functions = Functions {
            abi: find.needed("cb_abi")?,
            hooks: find.needed("cb_hooks")?,
            rule: find.needed("cb_rule")?,
            alloc: find.needed("cb_alloc")?,
            reset: find.needed("cb_reset")?,
            append: find.optional("cb_append"),
            decide: find.needed("cb_decide")?,
            payload: find.optional("cb_payload"),
            evidence: find.optional("cb_evidence"),
            save: find.optional("cb_save"),
            restore: find.optional("cb_restore"),
            summary: find.optional("cb_summary"),
        };
        Ok(Self {
            store,
            limits,
            memory,
            functions,
            given: limits.fuel,
            spent: 0,
        })
    }

    /// The version of the interface that the module speaks.
    pub(crate) fn abi(&mut self) -> Result<i32, String> {
        self.call(self.functions.abi.clone(), ())
    }

    /// The hooks that the module uses, as bits.
    pub(crate) fn hooks(&mut self) -> Result<u32, String> {
        let bits = self.call(self.functions.hooks.clone(), ())?;
        Ok(bits.cast_unsigned())
    }

    /// What the module says of itself.
    pub(crate) fn summary(&mut self) -> Result<Place, String> {
        match self.functions.summary.clone() {
            Some(summary) => self.place(summary),
            None => Ok(Place::default()),
        }
    }

    /// Reads the rules. They end at the first empty name.
    pub(crate) fn rules(&mut self) -> Result<Vec<String>, String> {
        let mut rules = Vec::new();
        loop {
            let number = word(rules.len());
            let name = self.rule(number)?;
            if name.bytes == 0 {
                return Ok(rules);
            }
            if number == MOST_RULES {
                return Err(format!("there are more than {MOST_RULES} rules"));
            }
            rules.push(self.text(name)?);
        }
    }

    /// Whether the rules are still `known`. Asked at loading only: an instance has no imports, so
    /// every one of them begins as the first did.
    pub(crate) fn check_rules(&mut self, known: &[String]) -> Result<(), String> {
        self.refill(self.limits.fuel)?;
        for (number, known) in (0..).zip(known) {
            let name = self.rule(number)?;
            if self.bytes(name)? != known.as_bytes() {
                return Err(format!("rule {number} is no longer called `{known}`"));
            }
        }
        match self.rule(word(known.len()))?.bytes {
            0 => Ok(()),
            _ => Err(format!(
                "there are more than the {} rules of before",
                known.len()
            )),
        }
    }

    fn rule(&mut self, number: u32) -> Result<Place, String> {
        let packed = self.call(self.functions.rule.clone(), number.cast_signed())?;
        Ok(unpack(packed))
    }

    /// Whether the module wants to read events.
    pub(crate) const fn reads_events(&self) -> bool {
        self.functions.append.is_some()
    }

    /// Whether the module keeps state of its own.
    pub(crate) const fn keeps_state(&self) -> bool {
        self.functions.save.is_some()
    }

    /// Tells the module of a rollout, before anything has happened.
    pub(crate) fn reset(&mut self, message: &Message) -> Result<(), String> {
        self.refill(self.limits.fuel)?;
        let parameters = self.deliver(message.bytes())?;
        self.call(self.functions.reset.clone(), parameters)
    }

    /// Tells the module of one event.
    pub(crate) fn append(&mut self, message: &Message) -> Result<(), String> {
        let Some(append) = self.functions.append.clone() else {
            return Ok(());
        };
        self.refill(self.limits.event_fuel)?;
        let parameters = self.deliver(message.bytes())?;
        self.call(append, parameters)
    }

    /// Asks one question.
    pub(crate) fn ask(&mut self, hook: Hook, message: &Message) -> Result<Answer, String> {
        self.refill(self.limits.fuel)?;
        let (at, bytes) = self.deliver(message.bytes())?;
        let parameters = (hook as i32, at, bytes);
        let packed = self.call(self.functions.decide.clone(), parameters)?;
        let mut answer = unpack_answer(packed.cast_unsigned(), hook)?;
        if answer.code.has_payload() {
            let payload = self.functions.payload.clone();
            let payload = payload.ok_or("a verdict that needs `cb_payload`, which is not there")?;
            answer.payload = self.place(payload)?;
        }
        if packed.cast_unsigned() & HAS_EVIDENCE != 0 {
            let evidence = self.functions.evidence.clone();
            let evidence = evidence.ok_or("evidence without `cb_evidence`, which is not there")?;
            answer.evidence = self.place(evidence)?;
        }
        Ok(answer)
    }

    /// The state of the module as it wants to have it back.
    pub(crate) fn save(&mut self) -> Result<Vec<u8>, String> {
        let Some(save) = self.functions.save.clone() else {
            return Ok(Vec::new());
        };
        self.refill(self.limits.fuel)?;
        let place = self.place(save)?;
        if place.bytes > self.limits.state_bytes {
            let most = self.limits.state_bytes;
            return Err(format!(
                "a state of {} bytes; {most} are allowed",
                place.bytes
            ));
        }
        self.bytes(place).map(<[u8]>::to_vec)
    }

    /// Gives the module its state back.
    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let Some(restore) = self.functions.restore.clone() else {
            return Ok(());
        };
        self.refill(self.limits.fuel)?;
        let parameters = self.deliver(state)?;
        match self.call(restore, parameters)? {
            1 => Ok(()),
            0 => Err("the saved state is refused".into()),
            other => Err(format!("`cb_restore` returns {other}; it must be 1 or 0")),
        }
    }

    /// All of the memory.
    pub(crate) fn memory(&self) -> &[u8] {
        self.memory.data(&self.store)
    }

    /// The bytes at a place.
    pub(crate) fn bytes(&self, place: Place) -> Result<&[u8], String> {
        slice(self.memory(), place)
    }

    /// The text at a place.
    pub(crate) fn text(&self, place: Place) -> Result<String, String> {
        let text = std::str::from_utf8(self.bytes(place)?);
        text.map(str::to_owned)
            .map_err(|_| "a text that is not UTF-8".into())
    }

    /// All fuel used so far.
    #[cfg(test)]
    pub(crate) fn spent(&self) -> u64 {
        self.spent + self.given - self.store.get_fuel().unwrap_or(0)
    }

    /// Fills up to `fuel`.
    fn refill(&mut self, fuel: u64) -> Result<(), String> {
        let say = |error: Error| error.to_string();
        let left = self.store.get_fuel().map_err(say)?;
        self.spent = self.spent.wrapping_add(self.given.saturating_sub(left));
        self.given = fuel;
        self.store.set_fuel(fuel).map_err(say)
    }

    /// Puts a message where the module wants it.
    fn deliver(&mut self, message: &[u8]) -> Result<(i32, i32), String> {
        let bytes = word(message.len());
        if bytes > self.limits.memory_bytes {
            let most = self.limits.memory_bytes;
            return Err(format!("a message of {bytes} bytes does not fit in {most}"));
        }
        let at = self.call(self.functions.alloc.clone(), bytes.cast_signed())?;
        let place = Place {
            at: at.cast_unsigned(),
            bytes,
        };
        if place.at == 0 || !place.at.is_multiple_of(8) {
            let at = place.at;
            return Err(format!(
                "`cb_alloc` returns {at}, which is no place at a multiple of 8"
            ));
        }
        let memory = self.memory.data_mut(&mut self.store);
        let begin = place.at as usize;
        let room = memory.get_mut(begin..begin.saturating_add(message.len()));
        room.ok_or_else(|| outside(place))?.copy_from_slice(message);
        Ok((at, bytes.cast_signed()))
    }

    fn place(&mut self, function: TypedFunc<(), i64>) -> Result<Place, String> {
        self.call(function, ()).map(unpack)
    }

    fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        function: TypedFunc<P, R>,
        parameters: P,
    ) -> Result<R, String> {
        let called = function.call(&mut self.store, parameters);
        called.map_err(|error| describe(&error, self.given))
    }
}

/// Finds what a module exports.
struct Finder<'a> {
    store: &'a mut Store<StoreLimits>,
    instance: wasmtime::Instance,
}

impl Finder<'_> {
    fn optional<P: WasmParams, R: WasmResults>(&mut self, name: &str) -> Option<TypedFunc<P, R>> {
        let found = self.instance.get_typed_func(&mut *self.store, name);
        found.ok()
    }

    fn needed<P: WasmParams, R: WasmResults>(
        &mut self,
        name: &str,
    ) -> Result<TypedFunc<P, R>, String> {
        let found = self.optional(name);
        found.ok_or_else(|| format!("there is no fitting `{name}`"))
    }
}

/// The bytes at a place.
pub(crate) fn slice(memory: &[u8], place: Place) -> Result<&[u8], String> {
    let begin = place.at as usize;
    let end = begin.saturating_add(place.bytes as usize);
    memory.get(begin..end).ok_or_else(|| outside(place))
}

fn outside(place: Place) -> String {
    let Place { at, bytes } = place;
    format!("{bytes} bytes at {at} lie outside the memory")
}

/// A place as a function returns it.
fn unpack(packed: i64) -> Place {
    let packed = packed.cast_unsigned();
    let half = |half: u64| u32::try_from(half & 0xFFFF_FFFF).unwrap_or(u32::MAX);
    Place {
        at: half(packed >> 32),
        bytes: half(packed),
    }
}

/// The ruling rests on a stand-in.
const ASSUMED: u64 = 1 << 32;
/// `cb_evidence` says what the ruling rests on.
const HAS_EVIDENCE: u64 = 1 << 33;
/// All bits that mean something.
const MEANINGFUL: u64 = 0xFFFF_FFFF | ASSUMED | HAS_EVIDENCE;

/// Verdict, rule and denial out of one number, as far as they can be checked without the rules.
fn unpack_answer(packed: u64, hook: Hook) -> Result<Answer, String> {
    let part =
        |shift: u32, mask: u64| usize::try_from(packed >> shift & mask).unwrap_or(usize::MAX);
    if packed & !MEANINGFUL != 0 {
        return Err(format!(
            "an answer of {packed:#x}, in which bits are set that mean nothing"
        ));
    }
    let number = part(0, 0xFF);
    let Some(&(code, name)) = CODES.get(number) else {
        return Err(format!("verdict {number} does not exist"));
    };
    if code != Code::Allow && !crate::codes::fits(hook).contains(&code) {
        return Err(format!("`{name}` is no verdict of `{}`", hook_word(hook)));
    }
    let denial = part(24, 0xFF);
    if denial >= crate::codes::DENIALS.len() {
        return Err(format!("denial {denial} does not exist"));
    }
    let rule = part(8, 0xFFFF).checked_sub(1);
    if rule.is_none() && packed != 0 {
        return Err(format!("`{name}` without a rule"));
    }
    Ok(Answer {
        code,
        rule,
        denial,
        assumed: packed & ASSUMED != 0,
        payload: Place::default(),
        evidence: Place::default(),
    })
}

/// What stopped a module, in one sentence.
fn describe(error: &Error, fuel: u64) -> String {
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => format!("all {fuel} units of fuel are used up"),
        Some(Trap::StackOverflow) => "the call stack is used up".into(),
        Some(trap) => trap.to_string(),
        None => error.root_cause().to_string(),
    }
}
