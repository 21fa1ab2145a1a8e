//! Brings a server into the described state, object by object, in the order in which they need each other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Fields;
use super::client::{Answer, Segments, Server, below, fixed};
use super::comparison::{Difference, differences};
use super::description::{AuthMount, Description, PolicyText, SECRET_FIELDS, mount_path};
use super::report::Report;
use super::served::{Kind, ServedFields};
use crate::commands::status::{is_sealed, why_not_now};

/// How a description is applied.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::commands) struct Options {
    /// Nothing is written.
    pub(in crate::commands) dry_run: bool,
    /// Writes fields that no server shows, although the server may have them already.
    pub(in crate::commands) write_secrets: bool,
    /// Leaves out the fields that the server does not have, in place of refusing their object.
    pub(in crate::commands) leave_unknown_fields: bool,
}

/// An auth method of the server.
#[derive(Debug, Clone)]
pub(super) struct PresentMount {
    pub(super) mount_type: String,
    pub(super) accessor: String,
    /// The tuning as it was set, where a read of the tuning would show the values that apply.
    tuning: Fields,
}

/// A kind of object and the fields that are not shown for it.
pub(super) struct Object<'a> {
    pub(super) label: &'a str,
    /// Fields that cannot be compared.
    pub(super) unseen: &'a [&'a str],
    /// Tells whether there are values for them.
    pub(super) has_unseen: bool,
    /// Fields among them whose values are not shown.
    pub(super) secret: &'a [&'a str],
}

impl<'a> Object<'a> {
    /// An object that is shown whole.
    pub(super) fn seen(label: &'a str) -> Self {
        Self {
            label,
            unseen: &[],
            has_unseen: true,
            secret: &[],
        }
    }
}

/// Compares and writes, one object after the other.
pub(in crate::commands) struct Reconciler<'a, 'output> {
    pub(super) server: &'a Server,
    pub(super) options: Options,
    pub(super) report: &'a mut Report<'output>,
    served: ServedFields,
    mounts: Option<BTreeMap<String, PresentMount>>,
    /// Identifiers of entities and groups, by name.
    pub(super) entity_ids: BTreeMap<String, String>,
    pub(super) group_ids: BTreeMap<String, String>,
    left_out: Vec<String>,
}

impl<'a, 'output> Reconciler<'a, 'output> {
    /// A reconciler for a server that is there and serves.
    ///
    /// # Errors
    ///
    /// When the server does not answer, is not initialized, is sealed, or cannot serve otherwise.
    pub(in crate::commands) async fn connect(
        server: &'a Server,
        options: Options,
        report: &'a mut Report<'output>,
    ) -> Result<Self> {
        let health = server.read(&fixed("sys/health")).await?;
        match health.status.as_u16() {
            501 => bail!(
                "{} is not initialized: initialize it first (sys/init)",
                server.address()
            ),
            503 if is_sealed(&health.body) => bail!(
                "{} is sealed: unseal it with its shares first, or start it anew if its key is in a file",
                server.address()
            ),
            503 => bail!(
                "{} cannot serve now: {}",
                server.address(),
                why_not_now(&health.body)
            ),
            _ => {}
        }
        Ok(Self {
            server,
            options,
            report,
            served: ServedFields::ask(server).await,
            mounts: None,
            entity_ids: BTreeMap::new(),
            group_ids: BTreeMap::new(),
            left_out: Vec::new(),
        })
    }

    /// Applies all that is described, and continues after objects that fail.
    ///
    /// # Errors
    ///
    /// When the report cannot be written; failures of objects are in it.
    pub(in crate::commands) async fn apply(&mut self, description: &Description) -> Result<()> {
        for (name, text) in &description.policies {
            let outcome = self.policy(name, text).await;
            self.note(&format!("policy {name}"), outcome)?;
        }
        for (path, mount) in &description.auth {
            self.auth_method(path, mount).await?;
        }
        for (name, fields) in &description.token_roles {
            let label = format!("token role {name}");
            let path = below("auth/token/roles", name);
            let outcome = self
                .fields_at(&label, Kind::TokenRole, path, fields, true)
                .await;
            self.note(&label, outcome)?;
        }
        self.entities(&description.entities).await?;
        self.groups(&description.groups).await?;
        for (name, attributes) in &description.organizations {
            let label = format!("organization {name}");
            let outcome = self.organization(&label, name, attributes).await;
            self.note(&label, outcome)?;
        }
        Ok(())
    }

    /// The fields that were left out because the server does not have them, each with its object.
    pub(in crate::commands) fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Reports a failure, so that the run continues.
    pub(super) fn note(&mut self, label: &str, outcome: Result<()>) -> Result<()> {
        if let Err(error) = outcome {
            self.report.failed(label, &error)?;
        }
        Ok(())
    }

    async fn policy(&mut self, name: &str, text: &PolicyText) -> Result<()> {
        let PolicyText::Here(text) = text else {
            bail!("its file was not read");
        };
        let segments = below("sys/policies/acl", name);
        let present = object(self.server.read(&segments).await?.found()?);
        let wanted = Fields::from_iter([("policy".to_owned(), json!(text))]);
        let label = format!("policy {name}");
        self.settle(
            &Object::seen(&label),
            &wanted,
            present.as_ref(),
            async |server, fields| server.write(&segments, &Value::Object(fields)).await,
        )
        .await
    }

    async fn auth_method(&mut self, path: &str, mount: &AuthMount) -> Result<()> {
        let label = format!("auth method {path}/");
        let exists = match self.mount(&label, path, mount).await {
            Ok(exists) => exists,
            Err(error) => {
                let error = error.context("its configuration and its roles were left as well");
                return self.note(&label, Err(error));
            }
        };
        if !mount.config.is_empty() {
            let label = format!("configuration of {path}/");
            let outcome = self
                .configuration(&label, path, &mount.config, exists)
                .await;
            self.note(&label, outcome)?;
        }
        for (name, fields) in &mount.roles {
            let label = format!("role {path}/{name}");
            let segments = below(&format!("auth/{path}/role"), name);
            let outcome = self
                .fields_at(&label, Kind::MethodRole, segments, fields, exists)
                .await;
            self.note(&label, outcome)?;
        }
        Ok(())
    }

    /// Enables a method, or tunes it. Tells whether it was there before, and so may have a configuration and roles.
    async fn mount(&mut self, label: &str, path: &str, mount: &AuthMount) -> Result<bool> {
        let tune = self
            .served_fields(Kind::Tuning, label, &mount.tune)?
            .into_owned();
        let present = self.mounts().await?.get(path).cloned();
        if let Some(present) = &present
            && present.mount_type != mount.mount_type
        {
            bail!(
                "it is of type {}, which cannot be changed: disable it, or choose another path",
                present.mount_type
            );
        }
        let mut wanted = tune.clone();
        if let Some(description) = &mount.description {
            wanted.insert("description".to_owned(), json!(description));
        }
        let enabling = present.is_none();
        if enabling {
            wanted.insert("type".to_owned(), json!(mount.mount_type));
        }
        let at = fixed(&format!("sys/auth/{path}"));
        let tuning = fixed(&format!("sys/auth/{path}/tune"));
        let present = present.map(|present| present.tuning);
        self.settle(
            &Object::seen(label),
            &wanted,
            present.as_ref(),
            async |server, fields| {
                if !enabling {
                    return server.write(&tuning, &Value::Object(fields)).await;
                }
                let request = json!({
                    "type": mount.mount_type,
                    "description": mount.description.as_deref().unwrap_or_default(),
                });
                let enabled = server.write(&at, &request).await?;
                if tune.is_empty() {
                    return Ok(enabled);
                }
                enabled.warnings()?;
                server.write(&tuning, &Value::Object(tune)).await
            },
        )
        .await?;
        if enabling && !self.options.dry_run {
            self.mounts = None;
            // A server describes the fields of a method only once one is enabled.
            self.served = ServedFields::ask(self.server).await;
        }
        Ok(!enabling)
    }

    async fn configuration(
        &mut self,
        label: &str,
        path: &str,
        fields: &Fields,
        exists: bool,
    ) -> Result<()> {
        let fields = self.served_fields(Kind::MethodConfig, label, fields)?;
        let segments = fixed(&format!("auth/{path}/config"));
        let present = match exists {
            true => object(self.server.read(&segments).await?.found()?),
            false => None,
        };
        let has_key = present.as_ref().is_some_and(|present| {
            let text = |name: &str| {
                present
                    .get(name)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            !text("private_key_id").is_empty() || text("credentials_source") == "static"
        });
        let object = Object {
            label,
            unseen: &SECRET_FIELDS,
            has_unseen: has_key,
            secret: &SECRET_FIELDS,
        };
        self.settle(
            &object,
            &fields,
            present.as_ref(),
            async |server, fields| server.write(&segments, &Value::Object(fields)).await,
        )
        .await
    }

    /// An object that is read and written at one path. `exists` says whether the object above it exists.
    pub(super) async fn fields_at(
        &mut self,
        label: &str,
        kind: Kind,
        segments: Segments,
        fields: &Fields,
        exists: bool,
    ) -> Result<()> {
        let fields = self.served_fields(kind, label, fields)?;
        let present = match exists {
            true => object(self.server.read(&segments).await?.found()?),
            false => None,
        };
        self.settle(
            &Object::seen(label),
            &fields,
            present.as_ref(),
            async |server, fields| server.write(&segments, &Value::Object(fields)).await,
        )
        .await
    }

    /// The fields that the server has.
    ///
    /// # Errors
    ///
    /// When there are others, unless they are to be left out.
    pub(super) fn served_fields<'f>(
        &mut self,
        kind: Kind,
        label: &str,
        fields: &'f Fields,
    ) -> Result<Cow<'f, Fields>> {
        if !self.options.leave_unknown_fields {
            self.served.ensure_all(kind, fields)?;
            return Ok(Cow::Borrowed(fields));
        }
        let unknown = self.served.unknown(kind, fields);
        if unknown.is_empty() {
            return Ok(Cow::Borrowed(fields));
        }
        let mut known = fields.clone();
        for name in unknown {
            // An empty value can be left out without loss.
            let alone = known
                .remove(&name)
                .map(|value| Fields::from_iter([(name.clone(), value)]));
            if alone.is_some_and(|alone| !differences(&alone, &Fields::new()).is_empty()) {
                self.left_out.push(format!("field {name} of {label}"));
            }
        }
        Ok(Cow::Owned(known))
    }

    /// Compares an object with its wanted fields, reports the differences, and sends them.
    pub(super) async fn settle(
        &mut self,
        object: &Object<'_>,
        wanted: &Fields,
        present: Option<&Fields>,
        send: impl AsyncFnOnce(&Server, Fields) -> Result<Answer>,
    ) -> Result<()> {
        let is_new = present.is_none();
        let mut differing = match present {
            Some(present) => differences(wanted, present),
            None => all_of(wanted),
        };
        if !is_new {
            let writes_unseen = self.options.write_secrets || !object.has_unseen;
            let is_unseen = |name: &str| object.unseen.contains(&name);
            differing.retain(|it| !is_unseen(&it.field) || writes_unseen);
        }
        if differing.is_empty() && !is_new {
            self.report.unchanged();
            return Ok(());
        }
        self.report
            .differing(object.label, is_new, &differing, object.secret)?;
        if !self.options.dry_run {
            let fields = differing
                .into_iter()
                .map(|it| (it.field, it.wanted))
                .collect();
            let answer = send(self.server, fields).await?;
            for warning in answer.warnings()? {
                self.report.remark("the server warns", &warning)?;
            }
        }
        self.report.settled(is_new);
        Ok(())
    }

    /// The auth methods of the server, by path.
    pub(super) async fn mounts(&mut self) -> Result<&BTreeMap<String, PresentMount>> {
        let mounts = match self.mounts.take() {
            Some(mounts) => mounts,
            None => {
                let listed = self.server.read(&fixed("sys/auth")).await?.data();
                present_mounts(&listed.context("the auth methods cannot be listed")?)
            }
        };
        Ok(self.mounts.insert(mounts))
    }
}

/// The fields of an answer.
pub(super) fn object(data: Option<Value>) -> Option<Fields> {
    match data {
        Some(Value::Object(fields)) => Some(fields),
        Some(_) => Some(Fields::new()),
        None => None,
    }
}

fn all_of(wanted: &Fields) -> Vec<Difference> {
    let difference = |(field, wanted): (&String, &Value)| Difference {
        field: field.clone(),
        present: None,
        wanted: wanted.clone(),
    };
    wanted.iter().map(difference).collect()
}

/// The mounts in an answer of `sys/auth`.
fn present_mounts(listed: &Value) -> BTreeMap<String, PresentMount> {
    let mounts = listed.as_object().into_iter().flatten();
    let mount = |(path, mount): (&String, &Value)| {
        let text = |name: &str| {
            mount
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let mut tuning = object(mount.get("config").cloned()).unwrap_or_default();
        for name in ["description", "options"] {
            tuning.insert(
                name.to_owned(),
                mount.get(name).cloned().unwrap_or_default(),
            );
        }
        let present = PresentMount {
            mount_type: text("type"),
            accessor: text("accessor"),
            tuning,
        };
        (mount_path(path).to_owned(), present)
    };
    mounts.map(mount).collect()
}
