//! Definitions of served interfaces: methods, properties and signals.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::Arc;

use wire::body::{Decode, DecodeArgs, Encode, EncodeArgs, Typed, Variant};
use wire::introspection::{self, Annotation, Argument, EmitsChange, Signal};
use wire::message::WriteError;
use wire::names::{InterfaceName, MemberName};
use wire::signature::{Signature, SignatureError};

use super::error::MethodError;
use super::members::{
    ArgTypes, MethodHandler, PropertyFunctions, PropertyGetter, PropertyHandler, PropertySetter,
};
use super::served::MethodIndex;
use crate::blocking::request::IncomingCall;
use crate::name::{IntoName, InvalidName};

/// An interface of objects with the state `S`. One definition serves any number of objects.
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
    pub(super) definition: Arc<InterfaceDefinition<S>>,
}

impl<S> Clone for ServedInterface<S> {
    fn clone(&self) -> Self {
        Self { definition: self.definition.clone() }
    }
}

/// The members of an interface; each kind is sorted by name.
pub(super) struct InterfaceDefinition<S> {
    pub(super) name: Box<str>,
    pub(super) methods: BTreeMap<Box<str>, MethodIndex>,
    /// The methods in the order in which they were added.
    pub(super) handlers: Vec<MethodHandler<S>>,
    pub(super) properties: BTreeMap<Box<str>, PropertyHandler<S>>,
    pub(super) signals: BTreeMap<Box<str>, Signal>,
    pub(super) annotations: Vec<Annotation>,
}

impl<S: Send + 'static> ServedInterface<S> {
    /// Starts a definition. [`build`](InterfaceBuilder::build) reports errors in it.
    pub fn builder(name: &str) -> InterfaceBuilder<S> {
        let checked = IntoName::<InterfaceName<'_>>::into_name(name);
        InterfaceBuilder {
            error: checked.err().map(InterfaceError::Name),
            definition: InterfaceDefinition {
                name: name.into(),
                methods: BTreeMap::new(),
                handlers: Vec::new(),
                properties: BTreeMap::new(),
                signals: BTreeMap::new(),
                annotations: Vec::new(),
            },
            annotation_target: AnnotationTarget::Interface,
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

    /// The description of the interface for introspection.
    pub(super) fn describe(&self) -> introspection::Interface {
        let description = |method: &MethodIndex| self.handlers[method.0].description.clone();
        introspection::Interface {
            methods: self.methods.values().map(description).collect(),
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
    /// The item that the next annotation is added to.
    annotation_target: AnnotationTarget,
    /// The first error in the definition.
    error: Option<InterfaceError>,
}

/// The interface, or the member that was added last.
#[derive(Clone)]
enum AnnotationTarget {
    Interface,
    Method,
    Property(Box<str>),
    Signal(Box<str>),
}

impl<S: Send + 'static> InterfaceBuilder<S> {
    /// Adds a method: the names of its arguments and results, and the function that runs it. The
    /// function's argument and result are tuples, which determine the types.
    #[must_use]
    pub fn method<In, Out>(
        self,
        name: &str,
        arguments: &[&str],
        results: &[&str],
        run: impl Fn(&mut S, &IncomingCall, In) -> Result<Out, MethodError> + Send + Sync + 'static,
    ) -> Self
    where
        In: for<'a> DecodeArgs<'a> + ArgTypes,
        Out: EncodeArgs + ArgTypes,
    {
        self.typed_raw_method::<In, Out>(name, arguments, results, move |state, request| {
            let done = request.read::<In>().map_err(MethodError::from);
            request.answer(done.and_then(|arguments| run(state, &request, arguments)));
        })
    }

    /// Adds a method that receives the whole call and replies to it itself, at once or later: to
    /// decode without copying, to pass descriptors, or to wait for something. Arguments and results
    /// are pairs of name and type: `[("path", "o"), ("options", "a{sv}")]`.
    #[must_use]
    pub fn raw_method(
        self,
        name: &str,
        arguments: &[(&str, &str)],
        results: &[(&str, &str)],
        run: impl Fn(&mut S, IncomingCall) + Send + Sync + 'static,
    ) -> Self {
        self.add(name, |name| {
            let (inputs, outputs) =
                (parse_arguments(name, arguments)?, parse_arguments(name, results)?);
            Ok(ServedMember::Method(MethodHandler::new(name, inputs, outputs, Box::new(run))))
        })
    }

    /// Adds a method that receives the whole call and replies to it itself, like
    /// [`raw_method`](Self::raw_method), with Rust types: two tuples, for arguments and results.
    #[must_use]
    pub fn typed_raw_method<In: ArgTypes, Out: ArgTypes>(
        self,
        name: &str,
        arguments: &[&str],
        results: &[&str],
        run: impl Fn(&mut S, IncomingCall) + Send + Sync + 'static,
    ) -> Self {
        self.add(name, |name| {
            let (inputs, outputs) =
                (arguments_of::<In>(name, arguments)?, arguments_of::<Out>(name, results)?);
            Ok(ServedMember::Method(MethodHandler::new(name, inputs, outputs, Box::new(run))))
        })
    }

    /// Adds a read-only property.
    #[must_use]
    pub fn property<T: Encode>(
        self,
        name: &str,
        get: impl Fn(&S) -> T + Send + Sync + 'static,
    ) -> Self {
        self.raw_property::<T>(name, PropertyFunctions::Read(getter(get)))
    }

    /// Adds a property that can be read and written. A write is announced with `PropertiesChanged`,
    /// as set with [`emits_change`](Self::emits_change).
    #[must_use]
    pub fn writable_property<T: Encode + for<'a> Decode<'a>>(
        self,
        name: &str,
        get: impl Fn(&S) -> T + Send + Sync + 'static,
        set: impl Fn(&mut S, T) -> Result<(), MethodError> + Send + Sync + 'static,
    ) -> Self {
        self.raw_property::<T>(name, PropertyFunctions::ReadWrite(getter(get), setter(set)))
    }

    /// Adds a property that can be written but not read. Its changes are not announced.
    #[must_use]
    pub fn write_only_property<T: for<'a> Decode<'a>>(
        self,
        name: &str,
        set: impl Fn(&mut S, T) -> Result<(), MethodError> + Send + Sync + 'static,
    ) -> Self {
        self.raw_property::<T>(name, PropertyFunctions::Write(setter(set)))
    }

    /// Adds a property of the type `T` whose functions encode and decode its value, for values that
    /// borrow from the state or from the call, and for setters that need the call.
    #[must_use]
    pub fn raw_property<T: Typed>(self, name: &str, functions: PropertyFunctions<S>) -> Self {
        self.add(name, |name| {
            Ok(ServedMember::Property(PropertyHandler::new::<T>(name, functions)?))
        })
    }

    /// Adds a signal: the types of its arguments, a tuple, and their names.
    #[must_use]
    pub fn signal<Args: ArgTypes>(self, name: &str, arguments: &[&str]) -> Self {
        self.add(name, |name| {
            let arguments = arguments_of::<Args>(name, arguments)?;
            Ok(ServedMember::Signal(Signal {
                name: name.to_owned(),
                arguments,
                ..Signal::default()
            }))
        })
    }

    /// States the type that the setter of the property that was added last takes. It must be the
    /// same D-Bus type as the type of the property.
    #[must_use]
    pub fn setter_type<T: Typed>(mut self) -> Self {
        let property = match &self.annotation_target {
            AnnotationTarget::Property(name) => self.definition.properties.get(name),
            _ => None,
        };
        let Some(introspection::Property { name, types, .. }) = property.map(|it| &it.description)
        else {
            self.fail(InterfaceError::NoProperty);
            return self;
        };
        let member: Box<str> = name.as_str().into();
        match wire::body::signature_of::<T>() {
            Ok(setter) if setter.to_string() == *types => {}
            Ok(setter) => {
                let (property, setter) = (types.as_str().into(), setter.to_string().into());
                self.fail(InterfaceError::SetterType { member, property, setter });
            }
            Err(error) => self.fail(InterfaceError::Types { member, error }),
        }
        self
    }

    /// Sets how changes of the property that was added last are announced.
    #[must_use]
    pub fn emits_change(mut self, emits: EmitsChange) -> Self {
        let property = match &self.annotation_target {
            AnnotationTarget::Property(name) => self.definition.properties.get_mut(name),
            _ => None,
        };
        match property {
            Some(property) => property.description.emits_change = emits,
            None => self.fail(InterfaceError::NoProperty),
        }
        self
    }

    /// Adds an annotation to the member that was added last, or to the interface if there is none.
    #[must_use]
    pub fn annotate(mut self, name: &str, value: &str) -> Self {
        let definition = &mut self.definition;
        let annotations = match &self.annotation_target {
            AnnotationTarget::Interface => Some(&mut definition.annotations),
            AnnotationTarget::Method => {
                definition.handlers.last_mut().map(|method| &mut method.description.annotations)
            }
            AnnotationTarget::Property(name) => {
                definition.properties.get_mut(name).map(|one| &mut one.description.annotations)
            }
            AnnotationTarget::Signal(name) => {
                definition.signals.get_mut(name).map(|s| &mut s.annotations)
            }
        };
        let annotation = Annotation { name: name.into(), value: value.into() };
        annotations.into_iter().for_each(|annotations| annotations.push(annotation.clone()));
        self
    }

    /// Completes the definition.
    ///
    /// # Errors
    ///
    /// The first error in the definition, such as a malformed name or two members with the same
    /// name. It does not depend on the state of the program, so a test can check it.
    pub fn build(self) -> Result<ServedInterface<S>, InterfaceError> {
        match self.error {
            None => Ok(ServedInterface { definition: Arc::new(self.definition) }),
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
                self.annotation_target = AnnotationTarget::Method;
                let index = MethodIndex(definition.handlers.len());
                definition.handlers.push(method);
                insert(&mut definition.methods, text, index)
            }
            ServedMember::Property(property) => {
                self.annotation_target = AnnotationTarget::Property(text.clone());
                insert(&mut definition.properties, text, property)
            }
            ServedMember::Signal(signal) => {
                self.annotation_target = AnnotationTarget::Signal(text.clone());
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
    fn new<T: Typed>(name: &str, functions: PropertyFunctions<S>) -> Result<Self, InterfaceError> {
        let kind = wire::body::signature_of::<T>()
            .map_err(|error| InterfaceError::Types { member: name.into(), error })?;
        let (name, types, access) = (name.to_owned(), kind.to_string(), functions.access());
        // A change signal would need the value of a property, which cannot be read.
        let emits_change = if access.is_readable() { EmitsChange::Value } else { EmitsChange::No };
        let description =
            introspection::Property { name, types, access, emits_change, ..<_>::default() };
        Ok(Self { description, functions })
    }
}

fn getter<S, T: Encode>(get: impl Fn(&S) -> T + Send + Sync + 'static) -> PropertyGetter<S> {
    Box::new(move |state, writer| Variant(get(state)).encode(writer))
}

fn setter<S, T: for<'a> Decode<'a>>(
    set: impl Fn(&mut S, T) -> Result<(), MethodError> + Send + Sync + 'static,
) -> PropertySetter<S> {
    Box::new(move |state, request| {
        // The arguments of Properties.Set: interface, property, value.
        let (_, _, Variant(value)) = request.read::<(&str, &str, Variant<T>)>()?;
        set(state, value)
    })
}

/// The reason why the definition of an interface is invalid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterfaceError {
    /// The name of the interface or of a member is malformed.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The interface has two methods, properties or signals of this name.
    #[error("the member {member:?} is defined twice")]
    Duplicate {
        /// The name of the member.
        member: Box<str>,
    },
    /// The number of argument names, or of result names, differs from the number of types.
    #[error("{member:?} has {types} types but {names} names")]
    ArgNames {
        /// The name of the member.
        member: Box<str>,
        /// Number of argument types.
        types: usize,
        /// Number of argument names.
        names: usize,
    },
    /// The Rust types of a member cannot be represented as D-Bus types.
    #[error("the types of {member:?} are invalid: {error}")]
    Types {
        /// The name of the member.
        member: Box<str>,
        /// The rule that the types violate.
        error: WriteError,
    },
    /// The type of an argument or result is not a valid signature.
    #[error("the types of {member:?} are invalid: {error}")]
    Signature {
        /// The name of the member.
        member: Box<str>,
        /// The rule that the signature violates.
        error: SignatureError,
    },
    /// The setter of a property takes another D-Bus type than its getter returns.
    #[error(
        "the property {member:?} has the type \"{property}\", but its setter takes \"{setter}\""
    )]
    SetterType {
        /// The name of the property.
        member: Box<str>,
        /// The type of the property.
        property: Box<str>,
        /// The type that the setter takes.
        setter: Box<str>,
    },
    /// [`emits_change`](InterfaceBuilder::emits_change) or
    /// [`setter_type`](InterfaceBuilder::setter_type) was called when no property had been added
    /// last.
    #[error("`emits_change` or `setter_type` does not follow a property")]
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

fn arguments_of<T: ArgTypes>(
    member: &str,
    names: &[&str],
) -> Result<Vec<Argument>, InterfaceError> {
    let types =
        T::signatures().map_err(|error| InterfaceError::Types { member: member.into(), error })?;
    if types.len() != names.len() {
        let (types, names) = (types.len(), names.len());
        return Err(InterfaceError::ArgNames { member: member.into(), types, names });
    }
    Ok(names.iter().zip(types).map(|(name, types)| argument(name, &types.to_string())).collect())
}

fn parse_arguments(
    member: &str,
    arguments: &[(&str, &str)],
) -> Result<Vec<Argument>, InterfaceError> {
    let parse = |&(name, types): &(&str, &str)| match Signature::new(types) {
        Ok(_) => Ok(argument(name, types)),
        Err(error) => Err(InterfaceError::Signature { member: member.into(), error }),
    };
    arguments.iter().map(parse).collect()
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
    fn invalid_interface_definitions_fail_to_build() {
        check(|a| a.property("Size", |()| 1_u32).method("Size", &[], &[], no_op), Ok(()));
        check(
            |a| a.property("Size", |()| 1_u32).property("Size", |()| 2_u32),
            Err("the member \"Size\" is defined twice"),
        );
        check(
            |a| a.method("Run", &["x"], &[], no_op).property("a b", |()| 1_u32),
            Err("\"Run\" has 0 types but 1 names"),
        );
        check(|a| a.signal::<(u8,)>("Signal", &[]), Err("\"Signal\" has 1 types but 0 names"));
        check(
            |a| a.property("a b", |()| 1_u32),
            Err(
                "\"a b\" is not a valid member name: a byte is not allowed in this kind of name (at byte 1)",
            ),
        );
        check(
            |a| a.raw_method("Run", &[("x", "z")], &[], |(), _| {}),
            Err("the types of \"Run\" are invalid: a byte is not a type code (at byte 0)"),
        );
        check(
            |a| a.emits_change(EmitsChange::No),
            Err("`emits_change` or `setter_type` does not follow a property"),
        );
        check(|a| a.property("Name", |()| String::new()).setter_type::<&str>(), Ok(()));
        check(
            |a| a.property("Size", |()| 1_u32).setter_type::<u64>(),
            Err("the property \"Size\" has the type \"u\", but its setter takes \"t\""),
        );
        let error = ServedInterface::<()>::builder("A").build().map(drop).unwrap_err();
        assert!(matches!(error, InterfaceError::Name(_)), "{error}");
    }

    #[test]
    fn introspection_of_interfaces_lists_all_members() {
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

    fn no_op(_: &mut (), _: &IncomingCall, (): ()) -> Result<(), MethodError> {
        Ok(())
    }
}
