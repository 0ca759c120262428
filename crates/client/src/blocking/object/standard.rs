//! The standard interfaces: their names, their methods, and their descriptions ("Standard
//! Interfaces").

/// A method of a standard interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standard {
    Ping,
    GetMachineId,
    Introspect,
    Get,
    GetAll,
    Set,
    GetManagedObjects,
}

impl Standard {
    pub(super) fn find(interface: &str, member: &str) -> Option<Self> {
        Self::by_member(member).filter(|standard| standard.interface() == interface)
    }

    /// The method of this name; the names are unique among the standard interfaces.
    pub(super) fn by_member(member: &str) -> Option<Self> {
        Some(match member {
            "Ping" => Self::Ping,
            "GetMachineId" => Self::GetMachineId,
            "Introspect" => Self::Introspect,
            "Get" => Self::Get,
            "GetAll" => Self::GetAll,
            "Set" => Self::Set,
            "GetManagedObjects" => Self::GetManagedObjects,
            _ => return None,
        })
    }

    pub(super) const fn interface(self) -> &'static str {
        match self {
            Self::Ping | Self::GetMachineId => PEER,
            Self::Introspect => INTROSPECTABLE,
            Self::Get | Self::GetAll | Self::Set => PROPERTIES,
            Self::GetManagedObjects => OBJECT_MANAGER,
        }
    }

    /// True if every object has this interface.
    pub(super) fn is_interface(name: &str) -> bool {
        [PEER, INTROSPECTABLE, PROPERTIES].contains(&name)
    }
}

const PEER: &str = "org.freedesktop.DBus.Peer";
const INTROSPECTABLE: &str = "org.freedesktop.DBus.Introspectable";
pub(super) const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
pub(super) const OBJECT_MANAGER: &str = "org.freedesktop.DBus.ObjectManager";

/// The introspection data of the interfaces that every object has.
pub(super) const STANDARD_XML: &str = r#"  <interface name="org.freedesktop.DBus.Introspectable">
    <method name="Introspect">
      <arg name="xml_data" type="s" direction="out"/>
    </method>
  </interface>
  <interface name="org.freedesktop.DBus.Peer">
    <method name="GetMachineId">
      <arg name="machine_uuid" type="s" direction="out"/>
    </method>
    <method name="Ping"/>
  </interface>
  <interface name="org.freedesktop.DBus.Properties">
    <method name="Get">
      <arg name="interface_name" type="s" direction="in"/>
      <arg name="property_name" type="s" direction="in"/>
      <arg name="value" type="v" direction="out"/>
    </method>
    <method name="GetAll">
      <arg name="interface_name" type="s" direction="in"/>
      <arg name="properties" type="a{sv}" direction="out"/>
    </method>
    <method name="Set">
      <arg name="interface_name" type="s" direction="in"/>
      <arg name="property_name" type="s" direction="in"/>
      <arg name="value" type="v" direction="in"/>
    </method>
    <signal name="PropertiesChanged">
      <arg name="interface_name" type="s"/>
      <arg name="changed_properties" type="a{sv}"/>
      <arg name="invalidated_properties" type="as"/>
    </signal>
  </interface>
"#;

/// The introspection data of `ObjectManager`.
pub(super) const MANAGER_XML: &str = r#"  <interface name="org.freedesktop.DBus.ObjectManager">
    <method name="GetManagedObjects">
      <arg name="objects" type="a{oa{sa{sv}}}" direction="out"/>
    </method>
    <signal name="InterfacesAdded">
      <arg name="object" type="o"/>
      <arg name="interfaces" type="a{sa{sv}}"/>
    </signal>
    <signal name="InterfacesRemoved">
      <arg name="object" type="o"/>
      <arg name="interfaces" type="as"/>
    </signal>
  </interface>
"#;
