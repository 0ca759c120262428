//! Calls a service through generated proxies for diligence-client.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::time::Duration;

use client::asynchronous::{self, LocalRuntime};
use client::{CallError, Connection};
use wire::body::{UnixFd, Value};
use wire::names::ObjectPath;
use wire::signature::Signature;

use super::everything::{
    AsyncExampleTypes1Proxy, ExampleTypes1Properties, ExampleTypes1Proxy, OtherTypes1Proxy,
};

/// Returns what the clients in other languages print.
pub(crate) fn run(address: &str) -> Result<String, Box<dyn Error>> {
    let bus = Connection::open(address)?;
    let types = ExampleTypes1Proxy::new(&bus);
    let mut printed = String::new();
    print_values(&types, &mut printed)?;
    print_descriptors(&types, &mut printed)?;
    print_properties(&types, &mut printed)?;
    print_signals(&types, &mut printed)?;
    OtherTypes1Proxy::new(&bus).nothing()?;
    let runtime = LocalRuntime::new()?;
    runtime.block_on(check_asynchronous(address, &runtime))?;
    Ok(printed)
}

fn print_values(
    types: &ExampleTypes1Proxy<'_>,
    printed: &mut String,
) -> Result<(), Box<dyn Error>> {
    let numbers = types.echo_numbers(7, true, -2, 3, -70000, 70000, -5, 5, 1.5)?;
    let (byte, _, short, ushort, int, uint, long, ulong, double) = numbers;
    writeln!(printed, "numbers {byte} True {short} {ushort} {int} {uint} {long} {ulong} {double}")?;
    let (path, signature) = (ObjectPath::new("/a/b")?, Signature::new("a{sv}")?);
    let (text, path, signature) = types.echo_texts("one", path, signature)?;
    writeln!(printed, "texts {text} {} {}", path.as_path(), signature.as_signature())?;
    let Value::String(variant) = types.echo_variant(&Value::from("inside"))? else {
        return Err("a text was sent".into());
    };
    writeln!(printed, "variant {variant}")?;
    let paths = [ObjectPath::new("/")?, ObjectPath::new("/a")?];
    let lists = types.echo_lists(
        &[0, 255],
        &["a", "b"],
        &[1, -2],
        &[true, false],
        &[vec![], vec![3]],
        &paths,
    )?;
    assert_eq!((lists.3, lists.4), (vec![true, false], vec![vec![], vec![3]]));
    let (bytes, texts, numbers) = (lists.0.len(), lists.1, lists.2);
    writeln!(printed, "lists {bytes} {} {} {} {}", texts[0], texts[1], numbers[0], numbers[1])?;
    let ((text, number),) = types.echo_struct(&("left", 4))?;
    writeln!(printed, "struct {text} {number}")?;
    let dict = HashMap::from([("a", Value::from(1_i32))]);
    let inner = HashMap::from([("c", Value::from(2_u8))]);
    let tree = HashMap::from([(ObjectPath::new("/a")?, HashMap::from([("b", inner)]))]);
    let structs = [("x", (true, Value::from("y")), b"z".to_vec())];
    let (dict, tree, structs) = types.echo_nested(&dict, &tree, &structs)?;
    let deep = &tree.values().next().ok_or("one entry was sent")?["b"]["c"];
    let (Value::Int32(number), Value::Byte(byte)) = (&dict["a"], deep) else {
        return Err(format!("{dict:?}, {deep:?}").into());
    };
    writeln!(printed, "nested {number} {byte} {}", structs[0].0)?;
    Ok(())
}

fn print_descriptors(
    types: &ExampleTypes1Proxy<'_>,
    printed: &mut String,
) -> Result<(), Box<dyn Error>> {
    let (mut reader, writer) = io::pipe()?;
    let descriptors = vec![OwnedFd::from(writer), reader.try_clone()?.into()];
    let reply = types.echo_descriptors(UnixFd(0), &[("read", UnixFd(1))], descriptors)?;
    let (one, more): (UnixFd, Vec<(&str, UnixFd)>) = reply.read()?;
    assert_eq!(more.len(), 1);
    let one = reply.descriptor(one).ok_or("the reply has it")?.try_clone()?;
    std::fs::File::from(one).write_all(b"through")?;
    let mut through = [0; 7];
    reader.read_exact(&mut through)?;
    writeln!(printed, "descriptors {}", String::from_utf8_lossy(&through))?;
    Ok(())
}

#[expect(deprecated, reason = "deprecated members can be called nevertheless")]
fn print_properties(
    types: &ExampleTypes1Proxy<'_>,
    printed: &mut String,
) -> Result<(), Box<dyn Error>> {
    types.nothing()?;
    match types.refuse() {
        Err(CallError::Remote { name, .. }) => writeln!(printed, "refused {name}")?,
        other => panic!("{other:?}"),
    }
    types.get_all_xyz("a", "b", "c", "d")?;
    writeln!(printed, "version {}", types.version()?)?;
    types.forget("forgotten")?;
    writeln!(printed, "version {}", types.version()?)?;
    types.set_secret("secret")?;
    writeln!(printed, "version {}", types.version()?)?;

    writeln!(printed, "level {}", types.level()?)?;
    let changes = types.property_changes()?;
    types.set_level_2(8)?;
    let change = changes.next(SHORTLY)?.ok_or("no change was announced")?;
    let ExampleTypes1Properties { level: Some(signaled), .. } = change.changed else {
        return Err(format!("{change:?}").into());
    };
    writeln!(printed, "level {} signaled {signaled}", types.level()?)?;
    types.set_level(9)?;
    writeln!(printed, "level {}", types.level()?)?;
    types.set_names(&["three"])?;
    writeln!(printed, "names {}", types.names()?[0])?;
    types.set_options(&HashMap::from([("loud", Value::from(true))]))?;
    assert_eq!(types.options()?["loud"], Value::Boolean(true));
    types.set_pair(&("right", 5))?;
    let (text, number) = types.pair()?;
    writeln!(printed, "pair {text} {number}")?;
    assert_eq!(types.properties()?.pair, Some((text, number)));
    Ok(())
}

fn print_signals(
    types: &ExampleTypes1Proxy<'_>,
    printed: &mut String,
) -> Result<(), Box<dyn Error>> {
    let changed = types.subscribe_changed()?;
    let (pairs, bare) = (types.subscribe_struct_changed()?, types.subscribe_bare()?);
    types.emit_changed()?;
    let (text, bytes, dict) = changed.next(SHORTLY)?.ok_or("no signal")?;
    let Value::String(why) = &dict["why"] else { return Err(format!("{dict:?}").into()) };
    writeln!(printed, "changed {text} {} {why}", bytes.len())?;
    let ((text, number),) = pairs.next(SHORTLY)?.ok_or("no signal")?;
    writeln!(printed, "struct changed {text} {number}")?;
    bare.next(SHORTLY)?.ok_or("no signal")?;
    writeln!(printed, "bare")?;
    Ok(())
}

async fn check_asynchronous(address: &str, runtime: &LocalRuntime) -> Result<(), Box<dyn Error>> {
    let bus = asynchronous::Connection::open(address, runtime).await?;
    let types = AsyncExampleTypes1Proxy::new(&bus);
    let bare = types.subscribe_bare().await?;
    assert_eq!(types.echo_struct(&("left", 4)).await?, (("left".into(), 4),));
    types.emit_changed().await?;
    bare.next().await?;
    Ok(())
}

const SHORTLY: Option<Duration> = Some(Duration::from_secs(20));
