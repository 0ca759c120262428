//! Addresses of buses of other machines, containers and users.
//!
//! A bus authenticates the user of the connecting process. So a bridge is started on the other
//! machine, or as the other user, and it relays the messages.

use std::fs;
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};

use sys::filesystem::{find_in_root, path_of_descriptor};
use sys::privileges::effective_user;
use sys::users::UserAccount;
use wire::address::{Address, Transport, UnixTransport};

/// The address of the system bus of another machine, through ssh(1): `[USER@]HOST[:PORT]`.
pub(super) fn of_host(host: &str) -> Result<String, String> {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') => (name, Some(port)),
        _ => (host, None),
    };
    if name.is_empty() || name.starts_with('-') {
        return Err(format!("{host:?} is not a valid host name"));
    }
    let port = port.map(|port| match port.parse::<u16>() {
        Ok(_) => Ok(["-p", port]),
        Err(_) => Err(format!("{port:?} is not a port number")),
    });
    let port = port.transpose()?.unwrap_or_default();
    let port = port.into_iter().filter(|word| !word.is_empty());
    let words = ["ssh", "-xT"].into_iter().chain(port).chain(["--", name, BRIDGE]);
    Ok(program(words))
}

/// The address of the system bus of a container registered with systemd-machined, or with `.host`,
/// of this machine.
pub(super) fn of_machine(name: &str) -> Result<String, String> {
    of_machine_in(Path::new(MACHINES), name)
}

fn of_machine_in(machines: &Path, name: &str) -> Result<String, String> {
    if name == THIS_MACHINE {
        return Ok(socket(SYSTEM_BUS));
    }
    let known = (!name.contains('/')).then(|| fs::read_to_string(machines.join(name)).ok());
    let known = known.flatten().ok_or_else(|| format!("there is no machine {name:?}"))?;
    let leader = known.lines().find_map(|line| line.strip_prefix("LEADER="));
    let leader = leader.and_then(|pid| pid.parse::<u32>().ok());
    let leader = leader.ok_or_else(|| format!("machine {name:?} has no process"))?;
    let root = PathBuf::from(format!("/proc/{leader}/root"));
    // The container controls its own symbolic links, so they must not lead to the bus of this
    // machine.
    let found = find_in_root(&root, Path::new(SYSTEM_BUS))
        .map_err(|error| format!("cannot find the system bus of machine {name:?}: {error}"))?;
    let address = socket(&path_of_descriptor(&found).display().to_string());
    // The descriptor stays open until this program ends, because a connection can be made at any
    // time.
    let _ = found.into_raw_fd();
    Ok(address)
}

/// The address of the session bus of another user, given by number or name.
pub(super) fn of_user(user: &str) -> Result<String, String> {
    let uid = match user.parse::<u32>() {
        Ok(uid) => uid,
        Err(_) => {
            let found = UserAccount::by_name(user).map_err(|error| error.to_string())?;
            found.ok_or_else(|| format!("there is no user {user:?}"))?.uid()
        }
    };
    let bus = socket(&format!("/run/user/{uid}/bus"));
    if uid == effective_user() {
        return Ok(bus);
    }
    // A session bus checks the user but not the group, so both get the same number.
    let (user, group) = (format!("--reuid={uid}"), format!("--regid={uid}"));
    let path = format!("--bus-path={bus}");
    Ok(program(["setpriv", &user, &group, "--clear-groups", "--", BRIDGE, &path]))
}

/// The address of the socket at this path.
fn socket(path: &str) -> String {
    address(Transport::Unix(UnixTransport::Path(path.into())))
}

/// The address that starts this program and connects to its standard input and output.
fn program<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let argv: Vec<Vec<u8>> = words.into_iter().map(Into::into).collect();
    let path = argv.first().cloned().unwrap_or_default();
    address(Transport::Unixexec { path, argv })
}

fn address(transport: Transport) -> String {
    Address { transport, guid: None, ignored: Vec::new() }.to_string()
}

/// The program that relays messages between its standard input and output and the bus.
const BRIDGE: &str = "systemd-stdio-bridge";

const SYSTEM_BUS: &str = "/run/dbus/system_bus_socket";
const MACHINES: &str = "/run/systemd/machines";
const THIS_MACHINE: &str = ".host";

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::process::{Command, Stdio};

    #[test]
    fn addresses_of_other_machines_run_ssh() {
        let ssh = |words: &str| Ok(format!("unixexec:path=ssh,argv1=-xT,{words}"));
        for (host, expected) in [
            ("example.org", ssh("argv2=--,argv3=example.org,argv4=systemd-stdio-bridge")),
            (
                "me@example.org:2222",
                ssh(
                    "argv2=-p,argv3=2222,argv4=--,argv5=me%40example.org,argv6=systemd-stdio-bridge",
                ),
            ),
            ("-oProxyCommand=x", Err("\"-oProxyCommand=x\" is not a valid host name".into())),
            ("example.org:x", Err("\"x\" is not a port number".into())),
            ("", Err("\"\" is not a valid host name".into())),
        ] {
            assert_eq!(of_host(host), expected, "{host}");
        }
    }

    #[test]
    fn containers_are_found_by_their_leader_process() {
        let machines =
            std::env::temp_dir().join(format!("diligence-machines-{}", std::process::id()));
        fs::create_dir_all(&machines).expect("the temporary folder is writable");
        fs::write(machines.join("web"), "NAME=web\nLEADER=4194304\n")
            .expect("the folder is writable");
        let of = |name: &str| of_machine_in(&machines, name);
        let error = of("web").expect_err("no process has this number");
        assert!(error.starts_with("cannot find the system bus of machine \"web\": "), "{error}");
        assert_eq!(of(".host"), Ok("unix:path=/run/dbus/system_bus_socket".into()));
        assert_eq!(of("mail"), Err("there is no machine \"mail\"".into()));
        assert_eq!(of("../web"), Err("there is no machine \"../web\"".into()));
        fs::remove_dir_all(&machines).expect("the folder is writable");
    }

    /// The environment variable that turns a copy of this test program into a process in a
    /// container. Its value is the root directory of the container.
    const ROOT: &str = "DILIGENCE_CONTAINER_ROOT";

    /// Not a test of its own: the code that runs in the copy.
    #[test]
    #[ignore = "a process of another test"]
    fn the_process_in_a_container() {
        let root = std::env::var_os(ROOT).expect("the other test sets it");
        std::os::unix::fs::chroot(root).expect("the process may change its root directory");
        std::env::set_current_dir("/").expect("there is a root directory");
        println!("\nready");
        let _ = std::io::stdin().read(&mut [0]);
    }

    /// A command that runs a program with the right to change its root directory. A user other than
    /// root needs a user namespace for this.
    fn in_container(program: &Path) -> Command {
        if effective_user() == 0 {
            return Command::new(program);
        }
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--"]).arg(program);
        command
    }

    /// The socket of the container's bus is a link with an absolute path, which the container made.
    #[test]
    fn links_in_containers_do_not_lead_to_the_bus_of_this_machine() {
        let folder =
            std::env::temp_dir().join(format!("diligence-container-{}", std::process::id()));
        let root = folder.join("root");
        fs::create_dir_all(root.join("run/dbus")).expect("the temporary folder is writable");
        fs::create_dir_all(root.join(folder.strip_prefix("/").expect("it is absolute")))
            .expect("the folder is writable");
        // The same path is a socket of this machine outside the root directory and of the container
        // inside.
        let path = folder.join("socket");
        let inside = root.join(path.strip_prefix("/").expect("it is absolute"));
        let [outer, inner] =
            [&path, &inside].map(|path| UnixListener::bind(path).expect("a fresh path"));
        symlink(&path, root.join("run/dbus/system_bus_socket")).expect("the folder is writable");
        let mut process = in_container(&std::env::current_exe().expect("this program has a file"))
            .args(["--ignored", "--exact", "--nocapture"])
            .arg("bus_choice::elsewhere::tests::the_process_in_a_container")
            .env(ROOT, &root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be executed; users other than root need unshare(1)");
        let mut output = BufReader::new(process.stdout.take().expect("standard output is piped"));
        let mut lines = output.by_ref().lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "ready"));
        let leader = format!("LEADER={}\n", process.id());
        fs::write(folder.join("web"), leader).expect("the folder is writable");

        let address = of_machine_in(&folder, "web").expect("it has a bus");
        let descriptor = address.strip_prefix("unix:path=").expect("the path of a socket");
        let _connected = UnixStream::connect(descriptor).expect("there is a listener");
        for listener in [&outer, &inner] {
            listener.set_nonblocking(true).expect("it is ours");
        }
        assert!(inner.accept().is_ok(), "the container's socket");
        assert!(outer.accept().is_err(), "the socket of this machine");
        drop(process.stdin.take());
        // The process fails if its output is not read.
        output.read_to_string(&mut String::new()).expect("it prints text");
        assert!(process.wait().expect("it was started").success());
        fs::remove_dir_all(&folder).expect("the folder is writable");
    }

    #[test]
    fn addresses_of_other_users_run_a_bridge_as_that_user() {
        let own = effective_user();
        assert_eq!(of_user(&own.to_string()), Ok(format!("unix:path=/run/user/{own}/bus")));
        let other = of_user(&(own + 1).to_string()).expect("it is a number");
        assert!(other.starts_with("unixexec:path=setpriv,"), "{other}");
        assert_eq!(of_user("root"), of_user("0"));
        assert!(of_user("no-such-user").is_err());
    }
}
