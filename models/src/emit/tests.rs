use super::*;

/// A call, a hand-off and an answer in this form.
fn written(form: Form) -> [String; 3] {
    let mut texts = [const { String::new() }; 3];
    let [call, handed, answer] = &mut texts;
    let mut writer = ActionWriter::call(call, form, "send");
    writer.text("to", ["it's ", "\"x\"\n"]);
    writer.integer("count", -3);
    writer.finish_discarded();
    let mut writer = ActionWriter::delegate(handed, form, "worker");
    writer.list("a b", [["x"], ["y"]]);
    writer.finish();
    final_answer(answer, form, ["do", "ne"]);
    texts
}

#[track_caller]
fn check(keys: Keys, syntax: Syntax, expected: [&str; 3]) {
    let form = Form {
        wrapping: Wrapping::Bare,
        keys,
        syntax,
    };
    assert_eq!(written(form), expected, "{form:?}");
}

#[test]
fn every_key_is_written_in_every_syntax() {
    check(
        Keys::Canonical,
        Syntax::Strict,
        [
            r#"{"action":"tool","tool":"send","arguments":{"to":"it's \"x\"\n","count":-3},"keep_result":false}"#,
            r#"{"action":"delegate","to":"worker","content":{"a b":["x","y"]}}"#,
            r#"{"action":"final","text":"done"}"#,
        ],
    );
    check(
        Keys::Aliased,
        Syntax::SingleQuotes,
        [
            r#"{'name':'send','parameters':{'to':'it\'s "x"\n','count':-3},'keep_result':false}"#,
            "{'type':'delegate','agent':'worker','message':{'a b':['x','y']}}",
            "{'type':'final_answer','answer':'done'}",
        ],
    );
    check(
        Keys::Canonical,
        Syntax::UnquotedKeys,
        [
            r#"{action:"tool",tool:"send",arguments:{to:"it's \"x\"\n",count:-3},keep_result:false}"#,
            r#"{action:"delegate",to:"worker",content:{"a b":["x","y"]}}"#,
            r#"{action:"final",text:"done"}"#,
        ],
    );
    check(
        Keys::ActionTypeAsTool,
        Syntax::TrailingComma,
        [
            r#"{"action":"send","arguments":{"to":"it's \"x\"\n","count":-3},"keep_result":false,}"#,
            r#"{"action":"delegate","to":"worker","content":{"a b":["x","y"]},}"#,
            r#"{"action":"final","text":"done",}"#,
        ],
    );
    check(
        Keys::ToolBench,
        Syntax::UnquotedKeys,
        [
            "Action: send\nAction Input: {to:\"it's \\\"x\\\"\\n\",count:-3,keep_result:false}",
            "Action: delegate\nAction Input: {to:\"worker\",content:{\"a b\":[\"x\",\"y\"]}}",
            "Action: Finish\nAction Input: {final_answer:\"done\"}",
        ],
    );
}

#[test]
fn a_text_is_cut_off_in_the_name_and_nothing_follows() {
    let cut = Syntax::CutInToolName;
    check(
        Keys::Canonical,
        cut,
        [
            r#"{"action":"tool","tool":"se"#,
            r#"{"action":"delegate","to":"wor"#,
            r#"{"action":"fi"#,
        ],
    );
    check(
        Keys::ToolBench,
        cut,
        [
            "Action: se",
            "Action: delegate\nAction Input: {\"to\":\"wor",
            "Action: Fin",
        ],
    );
}

#[test]
fn what_stood_in_the_text_before_stays() {
    let mut text = "before ".to_owned();
    let form = Form {
        wrapping: Wrapping::Fenced,
        keys: Keys::Canonical,
        syntax: Syntax::CutInToolName,
    };
    final_answer(&mut text, form, ["x"]);
    assert_eq!(text, "before ```json\n{\"action\":\"fi");
}
