//! Values of every type in the syntax of every tool.

/// A value in the syntax of several tools.
#[derive(Clone, Copy, Debug)]
pub struct ValueForm {
    /// The signature of the value.
    pub types: &'static str,
    /// The arguments of busctl after the signature.
    pub busctl: &'static [&'static str],
    /// The syntax of gdbus, which knows the type.
    pub gvariant: &'static str,
    /// The syntax of dbus-send or, if dbus-send cannot express it, the syntax of gdbus after the type.
    pub dbus_send: &'static str,
    /// The value as JSON.
    pub json: &'static str,
}

impl ValueForm {
    /// True if dbus-send can express the value.
    pub fn is_known_to_dbus_send(&self) -> bool {
        !self.dbus_send.starts_with(&format!("{}:", self.types))
    }

    /// True if busctl can print the value as JSON, whose keys are strings.
    pub fn has_json_of_busctl(&self) -> bool {
        let keys =
            self.types.match_indices('{').filter_map(|(at, _)| self.types.as_bytes().get(at + 1));
        keys.into_iter().all(|key| matches!(key, b's' | b'o' | b'g'))
    }
}

const fn form(
    types: &'static str,
    busctl: &'static [&'static str],
    gvariant: &'static str,
    dbus_send: &'static str,
    json: &'static str,
) -> ValueForm {
    ValueForm { types, busctl, gvariant, dbus_send, json }
}

/// All types, nested containers, and empty containers.
pub const FORMS: &[ValueForm] = &[
    form("y", &["7"], "0x07", "byte:7", "7"),
    form("b", &["true"], "true", "boolean:true", "true"),
    form("n", &["-7"], "-7", "int16:-7", "-7"),
    form("q", &["7"], "7", "uint16:7", "7"),
    form("i", &["-7"], "-7", "int32:-7", "-7"),
    form("u", &["7"], "uint32 7", "uint32:7", "7"),
    form("x", &["-7"], "-7", "int64:-7", "\"-7\""),
    form("t", &["7"], "7", "uint64:7", "\"7\""),
    form("d", &["1.5"], "1.5", "double:1.5", "1.5"),
    form("s", &["one two"], "'one two'", "string:one two", "\"one two\""),
    form("s", &["one, \"two\""], "one, \"two\"", "string:one, \"two\"", r#""one, \"two\"""#),
    form("s", &[""], "''", "string:", "\"\""),
    form("o", &["/a/b"], "/a/b", "objpath:/a/b", "\"/a/b\""),
    form("g", &["a{sv}"], "a{sv}", "g:'a{sv}'", "\"a{sv}\""),
    form("g", &[""], "''", "g:''", "\"\""),
    form("v", &["u", "7"], "<uint32 7>", "variant:uint32:7", r#"{"type":"u","data":7}"#),
    form("v", &["as", "0"], "<@as []>", "v:<@as []>", r#"{"type":"as","data":[]}"#),
    form(
        "v",
        &["v", "(sv)", "a", "y", "1"],
        "<<('a', <byte 1>)>>",
        "v:<<('a', <byte 1>)>>",
        r#"{"type":"v","data":{"type":"(sv)","data":["a",{"type":"y","data":1}]}}"#,
    ),
    form("as", &["2", "a", "b"], "['a', 'b']", "array:string:a,b", r#"["a","b"]"#),
    form("as", &["0"], "[]", "as:[]", "[]"),
    form("as", &["1", ""], "['']", "as:['']", r#"[""]"#),
    form(
        "ab",
        &["2", "true", "false"],
        "[true, false]",
        "array:boolean:true,false",
        "[true,false]",
    ),
    form("ay", &["3", "1", "2", "255"], "[1, 2, 255]", "array:byte:1,2,255", "[1,2,255]"),
    form("ay", &["2", "1", "2"], "[byte 1, 2]", "array:byte:1,2", "[1,2]"),
    form("ay", &["0"], "[]", "ay:[]", "[]"),
    form("an", &["1", "-7"], "[-7]", "array:int16:-7", "[-7]"),
    form("ax", &["1", "-7"], "[-7]", "array:int64:-7", "[\"-7\"]"),
    form("ad", &["2", "0.5", "-1"], "[0.5, -1.0]", "array:double:0.5,-1", "[0.5,-1]"),
    form("ao", &["1", "/a"], "[objectpath '/a']", "array:objpath:/a", r#"["/a"]"#),
    form("ag", &["1", "u"], "[signature 'u']", "ag:['u']", r#"["u"]"#),
    form(
        "av",
        &["2", "s", "x", "av", "0"],
        "[<'x'>, <@av []>]",
        "av:[<'x'>, <@av []>]",
        r#"[{"type":"s","data":"x"},{"type":"av","data":[]}]"#,
    ),
    form("aai", &["2", "0", "1", "3"], "[[], [3]]", "aai:[[], [3]]", "[[],[3]]"),
    form("aai", &["0"], "[]", "aai:[]", "[]"),
    form("aay", &["2", "1", "1", "0"], "[[byte 1], []]", "aay:[[1], []]", "[[1],[]]"),
    form("a{si}", &["1", "a", "1"], "{'a': 1}", "dict:string:int32:a,1", r#"{"a":1}"#),
    form("a{us}", &["1", "7", "a"], "{7: 'a'}", "dict:uint32:string:7,a", r#"[[7,"a"]]"#),
    form("a{sv}", &["0"], "{}", "a{sv}:{}", "{}"),
    form(
        "a{sv}",
        &["2", "a", "s", "x", "b", "aas", "1", "0"],
        "{'a': <'x'>, 'b': <[@as []]>}",
        "a{sv}:{'a': <'x'>, 'b': <[@as []]>}",
        r#"{"a":{"type":"s","data":"x"},"b":{"type":"aas","data":[[]]}}"#,
    ),
    form(
        "a{sa{sv}}",
        &["1", "a", "1", "b", "y", "7"],
        "{'a': {'b': <byte 7>}}",
        "a{sa{sv}}:{'a': {'b': <byte 7>}}",
        r#"{"a":{"b":{"type":"y","data":7}}}"#,
    ),
    form(
        "a{oa{sa{sv}}}",
        &["2", "/", "0", "/a", "1", "i", "0"],
        "{'/': {}, '/a': {'i': {}}}",
        "a{oa{sa{sv}}}:{'/': {}, '/a': {'i': {}}}",
        r#"{"/":{},"/a":{"i":{}}}"#,
    ),
    form("a{sas}", &["1", "a", "0"], "{'a': []}", "a{sas}:{'a': []}", r#"{"a":[]}"#),
    form("(si)", &["a", "1"], "('a', 1)", "(si):('a', 1)", r#"["a",1]"#),
    form("(s)", &["a"], "('a',)", "(s):('a',)", r#"["a"]"#),
    form(
        "((ii)a(s)v)",
        &["1", "2", "0", "(y)", "3"],
        "((1, 2), [], <(byte 3,)>)",
        "((ii)a(s)v):((1, 2), [], <(byte 3,)>)",
        r#"[[1,2],[],{"type":"(y)","data":[3]}]"#,
    ),
    form("a(si)", &["0"], "[]", "a(si):[]", "[]"),
    form(
        "a(s(bv))",
        &["1", "a", "true", "s", "x"],
        "[('a', (true, <'x'>))]",
        "a(s(bv)):[('a', (true, <'x'>))]",
        r#"[["a",[true,{"type":"s","data":"x"}]]]"#,
    ),
];
