//! How services are started, and units for services that name none.

use serde::{Deserialize, Serialize};

/// The process that starts services.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum UnitActivation {
    /// The bus starts services as its children.
    #[default]
    Direct,
    /// At the request of the bus, systemd starts the services that name a unit. The bus starts the
    /// others.
    Systemd,
    /// systemd starts all services: those without a unit as instances of this template. The bus
    /// executes no programs, and may be forbidden to.
    SystemdAlone(UnitTemplate),
}

/// A template unit (systemd.unit(5)) for any service, such as `helper@.service`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UnitTemplate {
    prefix: String,
    suffix: String,
}

impl UnitTemplate {
    /// Parses the name of a template; `None` if it is not one.
    ///
    /// ```
    /// use broker::startup::UnitTemplate;
    ///
    /// assert!(UnitTemplate::parse("helper@.service").is_some());
    /// assert!(UnitTemplate::parse("helper.service").is_none());
    /// ```
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ":_.-\\".contains(c);
        let (prefix, suffix) = name.split_once('@')?;
        let is_template = suffix == ".service" && !prefix.is_empty();
        (is_template && prefix.chars().all(is_plain))
            .then(|| Self { prefix: prefix.to_owned(), suffix: suffix.to_owned() })
    }

    /// The instance of the template for a service.
    #[must_use]
    pub(super) fn instance(&self, service: &str) -> String {
        // Of all characters in bus names, only the dash has another meaning in unit names
        // (systemd-escape(1)).
        let instance = service.replace('-', r"\x2d");
        format!("{}@{instance}{}", self.prefix, self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_templates_are_names_with_an_empty_instance() {
        for name in ["a@.service", r"a-b_c\x2d.d:e@.service"] {
            assert!(UnitTemplate::parse(name).is_some(), "{name}");
        }
        for name in ["", "a", "a.service", "@.service", "a@b.service", "a@.socket", "a/b@.service"]
        {
            assert_eq!(UnitTemplate::parse(name), None, "{name}");
        }
    }

    #[test]
    fn an_instance_is_escaped_as_by_systemd() {
        let template = UnitTemplate::parse("x@.service").expect("a template");
        let check = |service, unit: &str| assert_eq!(template.instance(service), unit);
        check("com.example.Service_1", "x@com.example.Service_1.service");
        check("com.example.a-b", r"x@com.example.a\x2db.service");
    }
}
