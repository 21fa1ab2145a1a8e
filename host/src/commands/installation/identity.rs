//! Entities, groups and their aliases, which know each other by identifiers that every server chooses for itself.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Fields;
use super::client::{Segments, below, fixed};
use super::description::{Alias, Entity, Group, mount_path};
use super::reconciler::{Object, Reconciler, object};
use super::served::Kind;

/// The names by which descriptions call the members of a group, and the fields that take their identifiers.
const MEMBER_ENTITIES: (&str, &str) = ("member_entities", "member_entity_ids");
const MEMBER_GROUPS: (&str, &str) = ("member_groups", "member_group_ids");

/// The two families of identity, which differ in their paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Entity,
    Group,
}

impl Family {
    const fn name(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::Group => "group",
        }
    }

    fn at(self, name: &str) -> Segments {
        below(&format!("identity/{}/name", self.name()), name)
    }
}

/// An object that aliases lead to.
struct Owner<'a> {
    family: Family,
    name: &'a str,
    /// `None` where a dry run would have made it.
    id: Option<String>,
    aliases: Vec<Value>,
}

impl Reconciler<'_, '_> {
    pub(super) async fn entities(&mut self, entities: &BTreeMap<String, Entity>) -> Result<()> {
        for (name, entity) in entities {
            let label = format!("entity {name}");
            let outcome = self.entity(&label, name, entity).await;
            self.note(&label, outcome)?;
        }
        Ok(())
    }

    async fn entity(&mut self, label: &str, name: &str, entity: &Entity) -> Result<()> {
        let fields = &entity.fields;
        self.fields_at(label, Kind::Entity, Family::Entity.at(name), fields, true)
            .await?;
        if entity.aliases.is_empty() {
            return Ok(());
        }
        let owner = self.owner(Family::Entity, name).await?;
        for alias in &entity.aliases {
            let label = format!(
                "alias {}/{} of {label}",
                mount_path(&alias.mount),
                alias.name
            );
            let outcome = self.alias(&label, &owner, alias).await;
            self.note(&label, outcome)?;
        }
        Ok(())
    }

    /// Groups, members before those that have them.
    pub(super) async fn groups(&mut self, groups: &BTreeMap<String, Group>) -> Result<()> {
        let described: BTreeSet<&String> = groups.keys().collect();
        let mut waiting: Vec<(&String, &Group)> = groups.iter().collect();
        let mut done: BTreeSet<&String> = BTreeSet::new();
        while !waiting.is_empty() {
            let is_ready = |group: &Group| {
                let mut members = group.member_groups.iter().flatten();
                members.all(|it| !described.contains(it) || done.contains(it))
            };
            let (mut ready, later): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(_, group)| is_ready(group));
            waiting = later;
            if ready.is_empty() {
                // They are members of each other, which the server has to refuse.
                ready = std::mem::take(&mut waiting);
            }
            for (name, group) in ready {
                let label = format!("group {name}");
                let outcome = self.group(&label, name, group, &described).await;
                self.note(&label, outcome)?;
                done.insert(name);
            }
        }
        Ok(())
    }

    async fn group(
        &mut self,
        label: &str,
        name: &str,
        group: &Group,
        described: &BTreeSet<&String>,
    ) -> Result<()> {
        let mut wanted = self
            .served_fields(Kind::Group, label, &group.fields)?
            .into_owned();
        let segments = Family::Group.at(name);
        let mut present = object(self.server.read(&segments).await?.found()?);
        for (family, (field, ids_field), members) in [
            (Family::Entity, MEMBER_ENTITIES, &group.member_entities),
            (Family::Group, MEMBER_GROUPS, &group.member_groups),
        ] {
            let Some(members) = members else { continue };
            for member in members {
                let is_described = family == Family::Group && described.contains(member);
                self.member_id(family, member, is_described).await?;
            }
            wanted.insert(field.to_owned(), json!(members));
            if let Some(present) = &mut present {
                let names = self.names_of(family, members, present.get(ids_field));
                present.insert(field.to_owned(), names);
            }
        }
        let (entity_ids, group_ids) = (self.entity_ids.clone(), self.group_ids.clone());
        let object = Object::seen(label);
        self.settle(
            &object,
            &wanted,
            present.as_ref(),
            async |server, mut fields| {
                for ((field, ids_field), ids) in
                    [(MEMBER_ENTITIES, &entity_ids), (MEMBER_GROUPS, &group_ids)]
                {
                    if let Some(Value::Array(members)) = fields.remove(field) {
                        let members = members.iter().filter_map(Value::as_str);
                        let ids: Vec<&String> =
                            members.filter_map(|member| ids.get(member)).collect();
                        fields.insert(ids_field.to_owned(), json!(ids));
                    }
                }
                server.write(&segments, &Value::Object(fields)).await
            },
        )
        .await?;
        let Some(alias) = &group.alias else {
            return Ok(());
        };
        let owner = self.owner(Family::Group, name).await?;
        let label = format!(
            "alias {}/{} of {label}",
            mount_path(&alias.mount),
            alias.name
        );
        let outcome = self.alias(&label, &owner, alias).await;
        self.note(&label, outcome)
    }

    /// Makes sure that the identifier of a member is known, or would be after a dry run.
    async fn member_id(&mut self, family: Family, name: &str, is_described: bool) -> Result<()> {
        if self.ids(family).contains_key(name) {
            return Ok(());
        }
        let found = self.server.read(&family.at(name)).await?.found()?;
        let id = found.as_ref().and_then(|found| found.get("id")?.as_str());
        match id {
            Some(id) => {
                let id = id.to_owned();
                self.ids(family).insert(name.to_owned(), id);
                Ok(())
            }
            // A dry run has not made those that the description has besides.
            None if self.options.dry_run => Ok(()),
            None if is_described => {
                anyhow::bail!("its member, group {name}, was not made: see above")
            }
            None => anyhow::bail!(
                "there is no {} {name}, which is to be its member",
                family.name()
            ),
        }
    }

    fn ids(&mut self, family: Family) -> &mut BTreeMap<String, String> {
        match family {
            Family::Entity => &mut self.entity_ids,
            Family::Group => &mut self.group_ids,
        }
    }

    /// The names of identifiers, as the description spells them; identifiers of others stay.
    fn names_of(&mut self, family: Family, members: &[String], ids: Option<&Value>) -> Value {
        let known = self.ids(family);
        let by_id: BTreeMap<&String, &String> = members
            .iter()
            .filter_map(|name| Some((known.get(name)?, name)))
            .collect();
        let ids = ids.and_then(Value::as_array).into_iter().flatten();
        let name = |id: &str| {
            by_id
                .get(&id.to_owned())
                .map_or(id.to_owned(), |name| (*name).clone())
        };
        ids.filter_map(Value::as_str).map(name).collect()
    }

    /// The targets of aliases, as they are now.
    async fn owner<'n>(&mut self, family: Family, name: &'n str) -> Result<Owner<'n>> {
        let found = object(self.server.read(&family.at(name)).await?.found()?).unwrap_or_default();
        let id = found.get("id").and_then(Value::as_str).map(str::to_owned);
        let aliases = match family {
            Family::Entity => found.get("aliases").and_then(Value::as_array).cloned(),
            Family::Group => found.get("alias").map(|alias| vec![alias.clone()]),
        };
        Ok(Owner {
            family,
            name,
            id,
            aliases: aliases.unwrap_or_default(),
        })
    }

    async fn alias(&mut self, label: &str, owner: &Owner<'_>, alias: &Alias) -> Result<()> {
        let path = mount_path(&alias.mount);
        let accessor = self
            .mounts()
            .await?
            .get(path)
            .map(|mount| mount.accessor.clone());
        if accessor.is_none() && !self.options.dry_run {
            anyhow::bail!("there is no auth method at {path}/");
        }
        let text = |found: &Value, name: &str| {
            let text = found.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let mut wanted = Fields::from_iter([(owner.family.name().to_owned(), json!(owner.name))]);
        if let Some(metadata) = &alias.custom_metadata {
            wanted.insert("custom_metadata".to_owned(), metadata.clone());
        }
        let own = owner.aliases.iter().find(|found| {
            Some(text(found, "mount_accessor")) == accessor && text(found, "name") == alias.name
        });
        let present = match (own, &accessor) {
            (Some(found), _) => Some(Fields::from_iter([
                (owner.family.name().to_owned(), json!(owner.name)),
                (
                    "custom_metadata".to_owned(),
                    found.get("custom_metadata").cloned().unwrap_or_default(),
                ),
            ])),
            (None, Some(accessor)) => {
                self.other_owner(owner.family, accessor, &alias.name)
                    .await?
            }
            (None, None) => None,
        };
        let segments = match own {
            Some(found) => below(
                &format!("identity/{}-alias/id", owner.family.name()),
                &text(found, "id"),
            ),
            None => fixed(&format!("identity/{}-alias", owner.family.name())),
        };
        let object = Object::seen(label);
        self.settle(&object, &wanted, present.as_ref(), async |server, _| {
            let id = owner
                .id
                .as_deref()
                .context("what it leads to was not made")?;
            let mut request = json!({
                "name": alias.name,
                "mount_accessor": accessor,
                "canonical_id": id,
            });
            if let (Some(metadata), Some(request)) =
                (&alias.custom_metadata, request.as_object_mut())
            {
                request.insert("custom_metadata".to_owned(), metadata.clone());
            }
            server.write(&segments, &request).await
        })
        .await
    }

    /// The alias as it is now, where it leads to something else.
    async fn other_owner(
        &self,
        family: Family,
        accessor: &str,
        name: &str,
    ) -> Result<Option<Fields>> {
        let sought = json!({"alias_name": name, "alias_mount_accessor": accessor});
        let lookup = fixed(&format!("identity/lookup/{}", family.name()));
        let found = self.server.write(&lookup, &sought).await?.found();
        let found = found.context("it cannot be told what the alias leads to now")?;
        let Some(other) = found.as_ref().and_then(|found| found.get("name")?.as_str()) else {
            return Ok(None);
        };
        Ok(Some(Fields::from_iter([(
            family.name().to_owned(),
            json!(other),
        )])))
    }
}
