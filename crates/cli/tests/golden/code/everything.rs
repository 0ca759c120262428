// What /org/example/Object of org.example.Service has, as it says itself.
// Made by `diligence introspect --code`; a beginning, yours to change.
// For zbus 6.

/// `org.example.Types1`
pub mod example_types1 {
    use std::collections::HashMap;

    /// org.example.Types1:
    /// @short_description: Values of every type
    ///
    /// Gives back what it gets.
    #[zbus::proxy(
        interface = "org.example.Types1",
        default_service = "org.example.Service",
        default_path = "/org/example/Object"
    )]
    pub trait ExampleTypes1 {
        /// Gives back numbers. "Quoted", with a \ and an end of comments: */
        fn echo_numbers(
            &self,
            byte: u8,
            truth: bool,
            short: i16,
            unsigned_short: u16,
            int: i32,
            unsigned: u32,
            long: i64,
            u_long: u64,
            double: f64,
        ) -> zbus::Result<(u8, bool, i16, u16, i32, u32, i64, u64, f64)>;

        fn echo_texts(
            &self,
            text: &str,
            path: &zbus::ObjectPath<'_>,
            types: &zbus::Signature,
        ) -> zbus::Result<(String, zbus::OwnedObjectPath, zbus::Signature)>;

        fn echo_variant(&self, value: &zbus::Variant<'_>) -> zbus::Result<zbus::OwnedVariant>;

        fn echo_lists(
            &self,
            arg0: &[u8],
            arg1: &[&str],
            arg2: &[i32],
            arg3: &[bool],
            arg4: &[Vec<i32>],
            arg5: &[zbus::ObjectPath<'_>],
        ) -> zbus::Result<(
            Vec<u8>,
            Vec<String>,
            Vec<i32>,
            Vec<bool>,
            Vec<Vec<i32>>,
            Vec<zbus::OwnedObjectPath>,
        )>;

        fn echo_struct(&self, pair: &(&str, i32)) -> zbus::Result<((String, i32),)>;

        fn echo_nested(
            &self,
            dict: &HashMap<&str, zbus::Variant<'_>>,
            tree: &HashMap<zbus::ObjectPath<'_>, HashMap<&str, HashMap<&str, zbus::Variant<'_>>>>,
            structs: &[(&str, (bool, zbus::Variant<'_>), Vec<u8>)],
        ) -> zbus::Result<(
            HashMap<String, zbus::OwnedVariant>,
            HashMap<zbus::OwnedObjectPath, HashMap<String, HashMap<String, zbus::OwnedVariant>>>,
            Vec<(String, (bool, zbus::OwnedVariant), Vec<u8>)>,
        )>;

        fn echo_descriptors(
            &self,
            one: zbus::Fd<'_>,
            more: &[(&str, zbus::Fd<'_>)],
        ) -> zbus::Result<(zbus::OwnedFd, Vec<(String, zbus::OwnedFd)>)>;

        fn nothing(&self) -> zbus::Result<()>;

        fn refuse(&self) -> zbus::Result<()>;

        fn emit_changed(&self) -> zbus::Result<()>;

        #[zbus(no_reply)]
        fn forget(&self, what: &str) -> zbus::Result<()>;

        #[deprecated]
        #[zbus(name = "GetAllXYZ")]
        fn get_all_xyz(
            &self,
            from: &str,
            type_: &str,
            class: &str,
            self_: &str,
        ) -> zbus::Result<()>;

        #[zbus(name = "import")]
        fn import(&self) -> zbus::Result<()>;

        fn match_(&self) -> zbus::Result<()>;

        fn new_(&self) -> zbus::Result<()>;

        fn set_level(&self, level: u32) -> zbus::Result<()>;

        /// How loud it is.
        #[zbus(property)]
        fn level(&self) -> zbus::Result<u32>;

        /// How loud it is.
        #[zbus(property, name = "Level")]
        fn set_level_2(&self, value: u32) -> zbus::Result<()>;

        #[zbus(property(emits_changed_signal = "invalidates"))]
        fn names(&self) -> zbus::Result<Vec<String>>;

        #[zbus(property)]
        fn set_names(&self, value: &[&str]) -> zbus::Result<()>;

        #[zbus(property(emits_changed_signal = "false"))]
        fn options(&self) -> zbus::Result<HashMap<String, zbus::OwnedVariant>>;

        #[zbus(property)]
        fn set_options(&self, value: &HashMap<&str, zbus::Variant<'_>>) -> zbus::Result<()>;

        #[zbus(property)]
        fn pair(&self) -> zbus::Result<(String, i32)>;

        #[zbus(property)]
        fn set_pair(&self, value: &(&str, i32)) -> zbus::Result<()>;

        #[deprecated]
        #[zbus(property(emits_changed_signal = "const"))]
        fn version(&self) -> zbus::Result<String>;

        #[zbus(property)]
        fn set_secret(&self, value: &str) -> zbus::Result<()>;

        #[zbus(signal)]
        fn changed(
            &self,
            text: &str,
            bytes: Vec<u8>,
            dict: HashMap<&str, zbus::Variant<'_>>,
        ) -> zbus::Result<()>;

        #[zbus(signal)]
        fn struct_changed(&self, pair: ((&str, i32),)) -> zbus::Result<()>;

        #[zbus(signal)]
        fn bare(&self) -> zbus::Result<()>;

        // Left out: method EchoByNumber: no map of Rust has such keys
    }
}

/// `org.example.other.Types1`
pub mod other_types1 {
    /// org.example.other.Types1
    #[zbus::proxy(
        interface = "org.example.other.Types1",
        default_service = "org.example.Service",
        default_path = "/org/example/Object"
    )]
    pub trait OtherTypes1 {
        fn nothing(&self) -> zbus::Result<()>;

        #[zbus(signal)]
        fn changed(&self) -> zbus::Result<()>;
    }
}
