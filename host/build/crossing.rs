//! Writes the conversions of `src/embed/crossing.rs`, from the WIT.

use anyhow::{Context, Result, bail};
use gatehouse_interfaces::Package;
use heck::{ToSnakeCase as _, ToUpperCamelCase as _};
use wit_parser::decoding::{DecodedWasm, decode};
use wit_parser::{TypeDef, TypeDefKind};

/// A line for each type that the auth method defines, in both directions.
///
/// # Errors
///
/// When a type is of a sort that nothing here knows.
pub(crate) fn conversions() -> Result<String> {
    let DecodedWasm::WitPackage(resolve, package) =
        decode(gatehouse_interfaces::bytes(Package::AuthMethod))?
    else {
        bail!("a component instead of a package");
    };
    let package = resolve.packages.get(package).context("no such package")?;
    let mut lines = String::new();
    for (interface, id) in &package.interfaces {
        let module = format!("{}_wit", interface.to_snake_case());
        let types = &resolve
            .interfaces
            .get(*id)
            .context("no such interface")?
            .types;
        for (name, defined) in types {
            let defined = resolve.types.get(*defined).context("no such type")?;
            let name = name.to_upper_camel_case();
            if let Some((sort, content)) = content(defined)? {
                lines += &format!("{sort}!(api => {module}::{name} {content});\n");
                lines += &format!("{sort}!({module} => api::{name} {content});\n");
            }
        }
    }
    Ok(lines)
}

/// The macro for a type, and its fields or cases in braces; `None` for a name that another interface's type has here.
fn content(defined: &TypeDef) -> Result<Option<(&'static str, String)>> {
    Ok(Some(match &defined.kind {
        TypeDefKind::Record(record) => {
            let fields = record.fields.iter().map(|field| field.name.to_snake_case());
            ("record", braced(fields))
        }
        TypeDefKind::Enum(of) => {
            let cases = of.cases.iter().map(|case| case.name.to_upper_camel_case());
            ("cases", braced(cases))
        }
        TypeDefKind::Variant(variant) => {
            let (holding, empty) = variant
                .cases
                .iter()
                .partition::<Vec<_>, _>(|case| case.ty.is_some());
            let [empty, holding] = [empty, holding]
                .map(|cases| braced(cases.iter().map(|case| case.name.to_upper_camel_case())));
            ("cases", format!("{empty} holds {holding}"))
        }
        TypeDefKind::Type(_) => return Ok(None),
        kind => bail!("no conversion for a {}", kind.as_str()),
    }))
}

fn braced(names: impl Iterator<Item = String>) -> String {
    format!("{{ {} }}", names.collect::<Vec<_>>().join(", "))
}
