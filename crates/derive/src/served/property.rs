//! The properties of a served interface: pairs of a getter and a setter.

use syn::{Ident, ImplItemFn, LitStr, ReturnType, Type, Visibility};

use super::model::{ServedHead, ServedParameter};
use crate::members::{ChangeSignal, MemberAttributes, collect, error};
use crate::signature_types::{ArgumentType, ReturnedType, result_argument};

/// A property with its functions.
pub(crate) struct ServedProperty {
    pub(crate) member: LitStr,
    pub(crate) getter: Option<PropertyPart>,
    pub(crate) setter: Option<PropertyPart>,
}

/// One of the functions of a property.
pub(crate) struct PropertyPart {
    pub(crate) head: ServedHead,
    pub(crate) ident: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) kind: PartKind,
    /// The type of the value.
    pub(crate) value: Box<Type>,
    pub(crate) emits_change: Option<(ChangeSignal, proc_macro2::Span)>,
}

pub(crate) enum PartKind {
    Getter,
    Setter { parameters: Vec<ServedParameter>, returned: ReturnedType },
}

impl ServedProperty {
    /// Adds a function to the property with its name.
    pub(crate) fn add(properties: &mut Vec<Self>, part: PropertyPart) -> syn::Result<()> {
        let name = part.head.member.value();
        let place = match properties.iter_mut().find(|one| one.member.value() == name) {
            Some(property) => property,
            None => {
                let member = part.head.member.clone();
                properties.push(Self { member, getter: None, setter: None });
                let last = properties.len() - 1;
                &mut properties[last]
            }
        };
        let slot = match part.kind {
            PartKind::Getter => &mut place.getter,
            PartKind::Setter { .. } => &mut place.setter,
        };
        match slot {
            Some(_) => {
                let text = format!("another function of this kind is for the property {name}");
                Err(error(&part.ident, &text))
            }
            None => {
                *slot = Some(part);
                Ok(())
            }
        }
    }

    /// Checks the parts together.
    pub(crate) fn check(&self) -> syn::Result<()> {
        let Some((change, span)) = self.setter.as_ref().and_then(|setter| setter.emits_change)
        else {
            return match (&self.getter, &self.setter) {
                (
                    Some(PropertyPart { emits_change: Some((ChangeSignal::Const, span)), .. }),
                    Some(_),
                ) => Err(syn::Error::new(*span, "a constant property has no setter")),
                _ => Ok(()),
            };
        };
        match (&self.getter, change) {
            (Some(_), _) => Err(syn::Error::new(span, "`emits_change` belongs to the getter")),
            (None, ChangeSignal::No) => Ok(()),
            (None, _) => {
                let text = "changes of a property that cannot be read are not announced";
                Err(syn::Error::new(span, text))
            }
        }
    }

    /// How changes are announced.
    pub(crate) fn change_signal(&self) -> ChangeSignal {
        match &self.getter {
            Some(getter) => getter.emits_change.map_or(ChangeSignal::Value, |(change, _)| change),
            None => ChangeSignal::No,
        }
    }
}

impl PropertyPart {
    pub(crate) fn parse(
        function: &ImplItemFn,
        mut attributes: MemberAttributes,
    ) -> syn::Result<Self> {
        let signature = &function.sig;
        let parameters = collect(signature.inputs.iter().skip(1).map(ServedParameter::parse))?;
        let (kind, value) = match parameters.is_empty() {
            true => (PartKind::Getter, getter_value(function)?),
            false => {
                attributes.name_setter(&signature.ident)?;
                let value = setter_value(function, &parameters)?;
                let returned = ReturnedType::parse(&signature.output);
                if !returned.value().results.is_empty() {
                    return Err(error(
                        &signature.output,
                        "a setter returns `()` or `Result<(), E>`",
                    ));
                }
                (PartKind::Setter { parameters, returned }, value)
            }
        };
        let emits_change = attributes.options.emits_change;
        let (ident, visibility) = (signature.ident.clone(), function.vis.clone());
        let head = ServedHead::new(&ident, attributes)?;
        Ok(Self { head, ident, visibility, kind, value: Box::new(value), emits_change })
    }
}

fn getter_value(function: &ImplItemFn) -> syn::Result<Type> {
    let signature = &function.sig;
    let ReturnType::Type(_, kind) = &signature.output else {
        return Err(error(&signature.ident, "a getter returns the value of the property"));
    };
    if result_argument(kind).is_some() {
        let text = "a getter cannot fail: it also runs for change signals";
        return Err(error(kind, text));
    }
    if let Some(token) = signature.receiver().and_then(|receiver| receiver.mutability.as_ref()) {
        return Err(error(token, "a getter takes `&self`"));
    }
    ArgumentType::of(kind).plain().cloned()
}

fn setter_value(function: &ImplItemFn, parameters: &[ServedParameter]) -> syn::Result<Type> {
    let signature = &function.sig;
    let mut value = None;
    for parameter in parameters {
        match (parameter, &value) {
            (ServedParameter::Argument(argument), None) => value = Some(argument),
            (ServedParameter::Argument(argument), Some(_)) => {
                return Err(error(&argument.ident, "a setter has one argument, the value"));
            }
            (ServedParameter::Call, _) => {}
            (ServedParameter::Reply(_), _) => {
                return Err(error(&signature.inputs, "a setter answers at once"));
            }
        }
    }
    let missing = || error(&signature.inputs, "a setter has one argument, the value");
    value.ok_or_else(missing)?.kind.plain().cloned()
}
