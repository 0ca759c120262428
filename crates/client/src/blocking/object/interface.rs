//! Interfaces to serve: their methods, properties and signals, defined once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::rc::Rc;

use wire::body::{Decode, DecodeArgs, Encode, EncodeArgs, Variant};
use wire::introspection::{self, Annotation, Argument, EmitsChange, PropertyAccess, Signal};
use wire::message::WriteError;
use wire::names::{InterfaceName, MemberName};
use wire::signature::{Signature, SignatureError};

use super::answer::answer;
use super::error::MethodError;
use super::members::{ArgTypes, MethodHandler, PropertyHandler};
use crate::blocking::request::IncomingCall;
use crate::name::{IntoName, InvalidName};

/// An interface of objects whose state is an `S`. One definition serves any number of objects.
///
/// ```
/// use diligence_client::{ServedInterface, MethodError};
///
/// struct Counter {
///     count: u32,
/// }
///
/// let counter = ServedInterface::<Counter>::builder("org.example.Counter")
///     .method("Add", &["amount"], &["sum"], |counter, _request, (amount,): (u32,)| {
///         let sum = counter.count.checked_add(amount);
///         counter.count = sum.ok_or_else(|| MethodError::failed("the sum is too large"))?;
///         Ok((counter.count,))
///     })
///     .property("Count", |counter| counter.count)
///     .signal::<(u32,)>("Overflowed", &["count"])
///     .build()?;
/// # Ok::<(), diligence_client::InterfaceError>(())
/// ```
pub struct ServedInterface<S> {
    pub(super) definition: Rc<InterfaceDefinition<S>>,
}

impl<S> Clone for ServedInterface<S> {
    fn clone(&self) -> Self {
        Self { definition: self.definition.clone() }
    }
}

/// What an interface has, each kind by name.
pub(super) struct InterfaceDefinition<S> {
    pub(super) name: Box<str>,
    pub(super) methods: BTreeMap<Box<str>, MethodHandler<S>>,
    pub(super) properties: BTreeMap<Box<str>, PropertyHandler<S>>,
    pub(super) signals: BTreeMap<Box<str>, Signal>,
    pub(super) annotations: Vec<Annotation>,
}

impl<S: 'static> ServedInterface<S> {
    /// Begins a definition. What is wrong with it is told at its end.
    pub fn builder(name: &str) -> InterfaceBuilder<S> {
        let checked = IntoName::<InterfaceName<'_>>::into_name(name);
        InterfaceBuilder {
            error: checked.err().map(InterfaceError::Name),
            definition: InterfaceDefinition {
                name: name.into(),
                methods: BTreeMap::new(),
                properties: BTreeMap::new(),
                signals: BTreeMap::new(),
                annotations: Vec::new(),
            },
            latest: Latest::Interface,
        }
    }

    /// The name of the interface.
    pub fn name(&self) -> InterfaceName<'_> {
        self.definition.name()
    }
}

impl<S> InterfaceDefinition<S> {
    pub(super) fn name(&self) -> InterfaceName<'_> {
        InterfaceName::new(&self.name).expect("checked when the interface was built")
    }

    /// The description for Introspect.
    pub(super) fn describe(&self) -> introspection::Interface {
        introspection::Interface {
            methods: self.methods.values().map(|method| method.description.clone()).collect(),
            signals: self.signals.values().cloned().collect(),
            properties: self.properties.values().map(|one| one.description.clone()).collect(),
            annotations: self.annotations.clone(),
            ..introspection::Interface::named(&self.name)
        }
    }
}

impl<S> fmt::Debug for ServedInterface<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interface").field("name", &self.definition.name).finish_non_exhaustive()
    }
}

/// An interface that is being defined.
pub struct InterfaceBuilder<S> {
    definition: InterfaceDefinition<S>,
    /// What annotations are for.
    latest: Latest,
    /// The first thing that is wrong.
    error: Option<InterfaceError>,
}

/// What was added last.
#[derive(Clone)]
enum Latest {
    Interface,
    Method(Box<str>),
    Property(Box<str>),
    Signal(Box<str>),
}

impl<S: 'static> InterfaceBuilder<S> {
    /// Adds a method: the names of its arguments and results, and what it does. Their types are
    /// those of the function, tuples of Rust types.
    #[must_use]
    pub fn method<In, Out>(
        self,
        name: &str,
        arguments: &[&str],
        results: &[&str],
        run: impl Fn(&mut S, &IncomingCall, In) -> Result<Out, MethodError> + 'static,
    ) -> Self
    where
        In: for<'a> DecodeArgs<'a> + ArgTypes,
        Out: EncodeArgs + ArgTypes,
    {
        let run = move |state: &mut S, request: IncomingCall| {
            let done = request.read::<In>().map_err(MethodError::from);
            answer(&request, done.and_then(|arguments| run(state, &request, arguments)));
        };
        self.add(name, |name| {
            let (inputs, outputs) = (named::<In>(name, arguments)?, named::<Out>(name, results)?);
            Ok(ServedMember::Method(MethodHandler::new(name, inputs, outputs, Box::new(run))))
        })
    }

    /// Adds a method that takes the call as it is and answers it itself, at once or later: to read
    /// without copying, to pass descriptors, or to wait for something. Arguments and results are
    /// given as pairs of name and type: `[("path", "o"), ("options", "a{sv}")]`.
    #[must_use]
    pub fn raw_method(
        self,
        name: &str,
        arguments: &[(&str, &str)],
        results: &[(&str, &str)],
        run: impl Fn(&mut S, IncomingCall) + 'static,
    ) -> Self {
        self.add(name, |name| {
            let (inputs, outputs) = (spelled(name, arguments)?, spelled(name, results)?);
            Ok(ServedMember::Method(MethodHandler::new(name, inputs, outputs, Box::new(run))))
        })
    }

    /// Adds a property that can be read.
    #[must_use]
    pub fn property<T: Encode>(self, name: &str, get: impl Fn(&S) -> T + 'static) -> Self {
        self.add(name, |name| {
            Ok(ServedMember::Property(PropertyHandler::new::<T>(name)?.readable(get)))
        })
    }

    /// Adds a property that can be read and written. That it was written is told by
    /// `PropertiesChanged`, as [`emits_change`](Self::emits_change) has it.
    #[must_use]
    pub fn writable_property<T: Encode + for<'a> Decode<'a>>(
        self,
        name: &str,
        get: impl Fn(&S) -> T + 'static,
        set: impl Fn(&mut S, T) -> Result<(), MethodError> + 'static,
    ) -> Self {
        self.add(name, |name| {
            Ok(ServedMember::Property(PropertyHandler::new::<T>(name)?.readable(get).writable(set)))
        })
    }

    /// Adds a property that can be written and not read. Its changes are not told.
    #[must_use]
    pub fn write_only_property<T: for<'a> Decode<'a>>(
        self,
        name: &str,
        set: impl Fn(&mut S, T) -> Result<(), MethodError> + 'static,
    ) -> Self {
        self.add(name, |name| {
            // There is no value that a signal could have.
            let mut property = PropertyHandler::new::<T>(name)?.writable(set);
            property.description.emits_change = EmitsChange::No;
            Ok(ServedMember::Property(property))
        })
    }

    /// Adds a signal: the types of its arguments, a tuple, and their names.
    #[must_use]
    pub fn signal<Args: ArgTypes>(self, name: &str, arguments: &[&str]) -> Self {
        self.add(name, |name| {
            let arguments = named::<Args>(name, arguments)?;
            Ok(ServedMember::Signal(Signal {
                name: name.to_owned(),
                arguments,
                ..Signal::default()
            }))
        })
    }

    /// Says how a change of the property that was added last is told.
    #[must_use]
    pub fn emits_change(mut self, emits: EmitsChange) -> Self {
        let property = match &self.latest {
            Latest::Property(name) => self.definition.properties.get_mut(name),
            _ => None,
        };
        match property {
            Some(property) => property.description.emits_change = emits,
            None => self.fail(InterfaceError::NoProperty),
        }
        self
    }

    /// Adds an annotation to what was added last, or to the interface before anything was.
    #[must_use]
    pub fn annotate(mut self, name: &str, value: &str) -> Self {
        let definition = &mut self.definition;
        let annotations = match &self.latest {
            Latest::Interface => Some(&mut definition.annotations),
            Latest::Method(name) => {
                definition.methods.get_mut(name).map(|method| &mut method.description.annotations)
            }
            Latest::Property(name) => {
                definition.properties.get_mut(name).map(|one| &mut one.description.annotations)
            }
            Latest::Signal(name) => definition.signals.get_mut(name).map(|s| &mut s.annotations),
        };
        let annotation = Annotation { name: name.into(), value: value.into() };
        annotations.into_iter().for_each(|annotations| annotations.push(annotation.clone()));
        self
    }

    /// Ends the definition.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with the definition, such as a malformed name or two members
    /// of one name. It does not depend on the state of the program, so a test can check it.
    pub fn build(self) -> Result<ServedInterface<S>, InterfaceError> {
        match self.error {
            None => Ok(ServedInterface { definition: Rc::new(self.definition) }),
            Some(error) => Err(error),
        }
    }

    fn add(
        mut self,
        name: &str,
        member: impl FnOnce(&str) -> Result<ServedMember<S>, InterfaceError>,
    ) -> Self {
        if let Err(error) = self.try_add(name, member) {
            self.fail(error);
        }
        self
    }

    fn try_add(
        &mut self,
        name: &str,
        member: impl FnOnce(&str) -> Result<ServedMember<S>, InterfaceError>,
    ) -> Result<(), InterfaceError> {
        IntoName::<MemberName<'_>>::into_name(name)?;
        let text: Box<str> = name.into();
        let definition = &mut self.definition;
        match member(name)? {
            ServedMember::Method(method) => {
                self.latest = Latest::Method(text.clone());
                insert(&mut definition.methods, text, method)
            }
            ServedMember::Property(property) => {
                self.latest = Latest::Property(text.clone());
                insert(&mut definition.properties, text, property)
            }
            ServedMember::Signal(signal) => {
                self.latest = Latest::Signal(text.clone());
                insert(&mut definition.signals, text, signal)
            }
        }
    }

    fn fail(&mut self, error: InterfaceError) {
        self.error.get_or_insert(error);
    }
}

enum ServedMember<S> {
    Method(MethodHandler<S>),
    Property(PropertyHandler<S>),
    Signal(Signal),
}

impl<S> PropertyHandler<S> {
    fn new<T: wire::body::Typed>(name: &str) -> Result<Self, InterfaceError> {
        let kind = wire::body::signature_of::<T>()
            .map_err(|error| InterfaceError::Types { member: name.into(), error })?;
        let (name, types) = (name.to_owned(), kind.to_string());
        let description = introspection::Property { name, types, ..<_>::default() };
        Ok(Self { description, get: None, set: None })
    }

    fn readable<T: Encode>(mut self, get: impl Fn(&S) -> T + 'static) -> Self {
        self.get = Some(Box::new(move |state, writer| Variant(get(state)).encode(writer)));
        self
    }

    fn writable<T: for<'a> Decode<'a>>(
        mut self,
        set: impl Fn(&mut S, T) -> Result<(), MethodError> + 'static,
    ) -> Self {
        self.set = Some(Box::new(move |state, request| {
            // The arguments of Properties.Set: interface, property, value.
            let (_, _, Variant(value)) = request.read::<(&str, &str, Variant<T>)>()?;
            set(state, value)
        }));
        self.description.access = match &self.get {
            Some(_) => PropertyAccess::ReadWrite,
            None => PropertyAccess::Write,
        };
        self
    }
}

/// Why an interface cannot be served as it was defined.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterfaceError {
    /// The name of the interface or of a member is malformed.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The interface has two methods, properties or signals of this name.
    #[error("there are two members {member:?}")]
    Duplicate {
        /// The name.
        member: Box<str>,
    },
    /// A member has more or fewer names of arguments or results than types.
    #[error("{member:?} has {types} types and {names} names for them")]
    ArgNames {
        /// The member.
        member: Box<str>,
        /// How many types there are.
        types: usize,
        /// How many names there are.
        names: usize,
    },
    /// The types of a member make no signature.
    #[error("the types of {member:?}: {error}")]
    Types {
        /// The member.
        member: Box<str>,
        /// Why not.
        error: WriteError,
    },
    /// A type of a member is not a type.
    #[error("the types of {member:?}: {error}")]
    Signature {
        /// The member.
        member: Box<str>,
        /// Why not.
        error: SignatureError,
    },
    /// [`emits_change`](InterfaceBuilder::emits_change) does not follow a property.
    #[error("`emits_change` does not follow a property")]
    NoProperty,
}

fn insert<T>(
    members: &mut BTreeMap<Box<str>, T>,
    name: Box<str>,
    member: T,
) -> Result<(), InterfaceError> {
    match members.entry(name) {
        Entry::Vacant(place) => {
            place.insert(member);
            Ok(())
        }
        Entry::Occupied(place) => Err(InterfaceError::Duplicate { member: place.key().clone() }),
    }
}

fn named<T: ArgTypes>(member: &str, names: &[&str]) -> Result<Vec<Argument>, InterfaceError> {
    let types =
        T::signatures().map_err(|error| InterfaceError::Types { member: member.into(), error })?;
    if types.len() != names.len() {
        let (types, names) = (types.len(), names.len());
        return Err(InterfaceError::ArgNames { member: member.into(), types, names });
    }
    Ok(names.iter().zip(types).map(|(name, types)| argument(name, &types.to_string())).collect())
}

fn spelled(member: &str, arguments: &[(&str, &str)]) -> Result<Vec<Argument>, InterfaceError> {
    let spelled = |&(name, types): &(&str, &str)| match Signature::new(types) {
        Ok(_) => Ok(argument(name, types)),
        Err(error) => Err(InterfaceError::Signature { member: member.into(), error }),
    };
    arguments.iter().map(spelled).collect()
}

/// An argument of this type; the name may be empty.
fn argument(name: &str, types: &str) -> Argument {
    let name = (!name.is_empty()).then(|| name.to_owned());
    Argument { name, types: types.to_owned(), annotations: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::introspection::XmlWriter;

    fn check(
        define: impl FnOnce(InterfaceBuilder<()>) -> InterfaceBuilder<()>,
        expected: Result<(), &str>,
    ) {
        let built = define(ServedInterface::builder("org.example.A")).build();
        let found = built.map(drop).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn what_is_wrong_with_a_definition_is_told_at_its_end() {
        check(|a| a.property("Size", |()| 1_u32).method("Size", &[], &[], nothing), Ok(()));
        check(
            |a| a.property("Size", |()| 1_u32).property("Size", |()| 2_u32),
            Err("there are two members \"Size\""),
        );
        check(
            |a| a.method("Run", &["x"], &[], nothing).property("a b", |()| 1_u32),
            Err("\"Run\" has 0 types and 1 names for them"),
        );
        check(
            |a| a.signal::<(u8,)>("Signal", &[]),
            Err("\"Signal\" has 1 types and 0 names for them"),
        );
        check(
            |a| a.property("a b", |()| 1_u32),
            Err(
                "\"a b\" is not a valid member name: a byte is not allowed in such a name (at byte 1)",
            ),
        );
        check(
            |a| a.raw_method("Run", &[("x", "z")], &[], |(), _| {}),
            Err("the types of \"Run\": a byte is not a type code (at byte 0)"),
        );
        check(
            |a| a.emits_change(EmitsChange::No),
            Err("`emits_change` does not follow a property"),
        );
        let error = ServedInterface::<()>::builder("A").build().map(drop).unwrap_err();
        assert!(matches!(error, InterfaceError::Name(_)), "{error}");
    }

    #[test]
    fn a_complete_interface_is_described() {
        let interface = ServedInterface::<()>::builder("org.example.A")
            .annotate("org.example.Note", "a < \"b\" & c")
            .method("Run", &["x", ""], &["y"], |(), _, (x, _): (u8, i64)| Ok((vec![x],)))
            .annotate("org.freedesktop.DBus.Deprecated", "true")
            .method("Nothing", &[], &[], |(), _, ()| Ok(()))
            .signal::<(String,)>("Said", &["what"])
            .property("Size", |()| 7_u64)
            .emits_change(EmitsChange::Const)
            .write_only_property("Word", |(), _: String| Err(MethodError::failed("never")))
            .build()
            .expect("a valid interface");
        let mut xml = XmlWriter::new();
        xml.interface(&interface.definition.describe());
        let expected = r#"  <interface name="org.example.A">
    <method name="Nothing"/>
    <method name="Run">
      <arg name="x" type="y" direction="in"/>
      <arg type="x" direction="in"/>
      <arg name="y" type="ay" direction="out"/>
      <annotation name="org.freedesktop.DBus.Deprecated" value="true"/>
    </method>
    <signal name="Said">
      <arg name="what" type="s"/>
    </signal>
    <property name="Size" type="t" access="read">
      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
    </property>
    <property name="Word" type="s" access="write">
      <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="false"/>
    </property>
    <annotation name="org.example.Note" value="a &lt; &quot;b&quot; &amp; c"/>
  </interface>
"#;
        let xml = xml.finish();
        let (_, body) = xml.split_once("<node>\n").expect("an object");
        assert_eq!(body.strip_suffix("</node>\n"), Some(expected));
    }

    fn nothing(_: &mut (), _: &IncomingCall, (): ()) -> Result<(), MethodError> {
        Ok(())
    }
}
