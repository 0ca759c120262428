//! Calls a service through generated proxies: client ADDRESS

#![deny(warnings)]
// The compiler must warn of deprecated methods. This calls them nevertheless.
#![allow(deprecated)]

#[allow(dead_code, non_camel_case_types)]
mod hostile;
mod proxies;

use std::collections::HashMap;
use std::error::Error;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::{env, fs, io};

use futures_util::StreamExt as _;
use proxies::example_types1::ExampleTypes1Proxy;
use proxies::other_types1::OtherTypes1Proxy;
use zbus::{ObjectPath, Variant, connection, signature};

fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("usage: client ADDRESS")?;
    zbus::block_on(run(&address))
}

async fn run(address: &str) -> Result<(), Box<dyn Error>> {
    let bus = connection::Builder::address(address).build().await?;
    let types = ExampleTypes1Proxy::new(&bus).await?;
    let numbers = types.echo_numbers(7, true, -2, 3, -70000, 70000, -5, 5, 1.5).await?;
    let (byte, _, short, ushort, int, uint, long, ulong, double) = numbers;
    println!("numbers {byte} True {short} {ushort} {int} {uint} {long} {ulong} {double}");
    let path = ObjectPath::try_from("/a/b")?;
    let (text, path, signature) = types.echo_texts("one", &path, &signature!("a{sv}")).await?;
    println!("texts {text} {path} {signature}");
    let variant = types.echo_variant(&Variant::from("inside")).await?;
    println!("variant {}", String::try_from(variant)?);
    let paths = [ObjectPath::try_from("/")?, ObjectPath::try_from("/a")?];
    let lists = types
        .echo_lists(&[0, 255], &["a", "b"], &[1, -2], &[true, false], &[vec![], vec![3]], &paths)
        .await?;
    assert_eq!((lists.3, lists.4), (vec![true, false], vec![vec![], vec![3]]));
    println!("lists {} {} {} {} {}", lists.0.len(), lists.1[0], lists.1[1], lists.2[0], lists.2[1]);
    let ((text, number),) = types.echo_struct(&("left", 4)).await?;
    println!("struct {text} {number}");
    let dict = HashMap::from([("a", Variant::from(1_i32))]);
    let inner = HashMap::from([("c", Variant::from(2_u8))]);
    let tree = HashMap::from([(ObjectPath::try_from("/a")?, HashMap::from([("b", inner)]))]);
    let structs = [("x", (true, Variant::from("y")), b"z".to_vec())];
    let (dict, tree, structs) = types.echo_nested(&dict, &tree, &structs).await?;
    let (number, deep) = (i32::try_from(dict["a"].clone())?, &tree.values().next().ok_or("")?["b"]);
    println!("nested {number} {} {}", u8::try_from(deep["c"].clone())?, structs[0].0);

    let (mut reader, writer) = io::pipe()?;
    let copy = reader.try_clone()?;
    let (one, more) =
        types.echo_descriptors(writer.as_fd().into(), &[("read", copy.as_fd().into())]).await?;
    assert_eq!(more.len(), 1);
    fs::File::from(OwnedFd::from(one)).write_all(b"through")?;
    let mut through = [0; 7];
    reader.read_exact(&mut through)?;
    println!("descriptors {}", String::from_utf8_lossy(&through));

    types.nothing().await?;
    match types.refuse().await {
        Err(zbus::Error::MethodError(name, ..)) => println!("refused {name}"),
        other => panic!("{other:?}"),
    }
    types.get_all_xyz("a", "b", "c", "d").await?;
    println!("version {}", types.version().await?);
    // zbus caches properties that are declared constant.
    types.forget("forgotten").await?;
    let again = ExampleTypes1Proxy::new(&bus).await?;
    println!("version {}", again.version().await?);
    types.set_secret("secret").await?;
    let again = ExampleTypes1Proxy::new(&bus).await?;
    println!("version {}", again.version().await?);

    println!("level {}", types.level().await?);
    let mut changes = types.receive_level_changed().await;
    types.set_level_2(8).await?;
    let signaled = loop {
        let change = changes.next().await.ok_or("it ended")?.get().await?;
        if change == 8 {
            break change;
        }
    };
    println!("level {} signaled {signaled}", types.level().await?);
    types.set_level(9).await?;
    let again = ExampleTypes1Proxy::new(&bus).await?;
    println!("level {}", again.level().await?);
    types.set_names(&["three"]).await?;
    let again = ExampleTypes1Proxy::new(&bus).await?;
    println!("names {}", again.names().await?[0]);
    types.set_options(&HashMap::from([("loud", Variant::from(true))])).await?;
    assert!(bool::try_from(types.options().await?["loud"].clone())?);
    types.set_pair(&("right", 5)).await?;
    let again = ExampleTypes1Proxy::new(&bus).await?;
    let (text, number) = again.pair().await?;
    println!("pair {text} {number}");

    let mut changed = types.receive_changed().await?;
    let mut pairs = types.receive_struct_changed().await?;
    let mut bare = types.receive_bare().await?;
    types.emit_changed().await?;
    let signal = changed.next().await.ok_or("it ended")?;
    let arguments = signal.args()?;
    let why: &str = (&arguments.dict["why"]).try_into()?;
    println!("changed {} {} {why}", arguments.text, arguments.bytes.len());
    let signal = pairs.next().await.ok_or("it ended")?;
    let ((text, number),) = signal.args()?.pair;
    println!("struct changed {text} {number}");
    bare.next().await.ok_or("it ended")?;
    println!("bare");

    OtherTypes1Proxy::new(&bus).await?.nothing().await?;
    Ok(())
}
