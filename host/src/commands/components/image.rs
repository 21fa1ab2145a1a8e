//! Artifacts as OCI image layouts, in the form that tools for WebAssembly and registries share: the one layer of an image is the file
//! itself, and the type of its config says that it is WebAssembly.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

use super::artifacts::{Artifact, sha256};
use super::folder::File;

const CONFIG: &str = "application/vnd.wasm.config.v0+json";
const LAYER: &str = "application/wasm";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

const TITLE: &str = "org.opencontainers.image.title";
const DESCRIPTION: &str = "org.opencontainers.image.description";
const VERSION: &str = "org.opencontainers.image.version";
const LICENSES: &str = "org.opencontainers.image.licenses";
/// In the index of a layout: the tag.
const REFERENCE: &str = "org.opencontainers.image.ref.name";

/// Readers of a config want a time in it. With a true one, equal components would have different digests.
const CREATED: &str = "1970-01-01T00:00:00Z";

type Annotations = BTreeMap<&'static str, String>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: &'static str,
    digest: String,
    size: usize,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: Annotations,
}

/// Without an artifact type: what an image is then counts by the type of its config, on registries of every age.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u8,
    media_type: &'static str,
    config: Descriptor,
    layers: [Descriptor; 1],
    annotations: Annotations,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Index {
    schema_version: u8,
    media_type: &'static str,
    manifests: [Descriptor; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    created: &'static str,
    architecture: &'static str,
    os: &'static str,
    layer_digests: [&'a str; 1],
    component: Component<'a>,
}

#[derive(Serialize)]
struct Component<'a> {
    exports: &'a [String],
    imports: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    image_layout_version: &'static str,
}

/// A layout for each artifact, in a folder that is called like its file without the ending. Its tag is the artifact's version.
///
/// The index of a layout comes after what it leads to: where it is, the layout is whole.
///
/// # Errors
///
/// When a document cannot be written as JSON, which its types exclude.
pub(super) fn layouts(artifacts: &[Artifact]) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for artifact in artifacts {
        files.extend(layout(artifact)?);
    }
    Ok(files)
}

fn layout(artifact: &Artifact) -> Result<[File; 5]> {
    let folder = artifact.file.trim_end_matches(".wasm");
    let file = |name: &str, bytes: Vec<u8>| File {
        path: format!("{folder}/{name}"),
        bytes: Cow::Owned(bytes),
    };
    let config = serde_json::to_vec(&Config {
        created: CREATED,
        architecture: "wasm",
        os: "wasip2",
        layer_digests: [&artifact.digest],
        component: Component {
            exports: &artifact.exports,
            imports: &artifact.imports,
            target: artifact.world.as_deref(),
        },
    })?;
    let described_config = descriptor(CONFIG, &config, Annotations::new());
    let layer = Descriptor {
        media_type: LAYER,
        digest: artifact.digest.clone(),
        size: artifact.size,
        // The name by which tools call the file that they take out of the image.
        annotations: Annotations::from([(TITLE, format!("{}.wasm", artifact.name))]),
    };
    let config_path = blob(&described_config);
    let layer_path = blob(&layer);
    let manifest = serde_json::to_vec(&Manifest {
        schema_version: 2,
        media_type: MANIFEST,
        config: described_config,
        layers: [layer],
        annotations: Annotations::from([
            (TITLE, format!("gatehouse/{folder}")),
            (DESCRIPTION, artifact.description.to_owned()),
            (VERSION, artifact.version.clone()),
            (LICENSES, env!("CARGO_PKG_LICENSE").to_owned()),
        ]),
    })?;
    let tag = Annotations::from([(REFERENCE, artifact.version.clone())]);
    let described_manifest = descriptor(MANIFEST, &manifest, tag);
    let manifest_path = blob(&described_manifest);
    let index = serde_json::to_vec(&Index {
        schema_version: 2,
        media_type: INDEX,
        manifests: [described_manifest],
    })?;
    let layout = serde_json::to_vec(&Layout {
        image_layout_version: "1.0.0",
    })?;
    Ok([
        file("oci-layout", layout),
        File {
            path: format!("{folder}/{layer_path}"),
            bytes: Cow::Borrowed(artifact.bytes),
        },
        file(&config_path, config),
        file(&manifest_path, manifest),
        file("index.json", index),
    ])
}

fn descriptor(media_type: &'static str, bytes: &[u8], annotations: Annotations) -> Descriptor {
    Descriptor {
        media_type,
        digest: sha256(bytes),
        size: bytes.len(),
        annotations,
    }
}

/// Where a layout keeps what a descriptor describes.
fn blob(descriptor: &Descriptor) -> String {
    format!("blobs/{}", descriptor.digest.replace(':', "/"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::{Value, json};

    use super::super::{artifacts, folder};
    use super::*;

    fn parse(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    /// The content that a descriptor leads to, after it was compared with it.
    fn follow(layout: &Path, descriptor: &Value, media_type: &str) -> Vec<u8> {
        assert_eq!(descriptor["mediaType"], media_type);
        let digest = descriptor["digest"].as_str().unwrap();
        let (algorithm, hexadecimal) = digest.split_once(':').unwrap();
        let bytes = fs::read(layout.join("blobs").join(algorithm).join(hexadecimal)).unwrap();
        assert_eq!(sha256(&bytes), digest);
        assert_eq!(descriptor["size"], bytes.len());
        bytes
    }

    fn blobs(layout: &Path) -> usize {
        fs::read_dir(layout.join("blobs/sha256")).unwrap().count()
    }

    #[test]
    fn every_layout_leads_from_its_tag_to_the_file_by_digests_sizes_and_types() {
        let place = tempfile::tempdir().unwrap();
        let artifacts = artifacts::all(None).unwrap();
        folder::fill(place.path(), &layouts(&artifacts).unwrap(), false).unwrap();
        for artifact in artifacts {
            let layout = place.path().join(artifact.file.trim_end_matches(".wasm"));
            let version = parse(&fs::read(layout.join("oci-layout")).unwrap());
            assert_eq!(version["imageLayoutVersion"], "1.0.0");
            let index = parse(&fs::read(layout.join("index.json")).unwrap());
            assert_eq!(index["schemaVersion"], 2);
            assert_eq!(index["mediaType"], INDEX);
            assert_eq!(index["manifests"].as_array().unwrap().len(), 1);
            let tagged = &index["manifests"][0];
            assert_eq!(tagged["annotations"][REFERENCE], artifact.version);

            let manifest = parse(&follow(&layout, tagged, MANIFEST));
            assert_eq!(manifest["schemaVersion"], 2);
            assert_eq!(manifest["mediaType"], MANIFEST);
            assert_eq!(manifest["annotations"][VERSION], artifact.version);
            assert_eq!(manifest["annotations"][DESCRIPTION], artifact.description);
            assert_eq!(manifest["annotations"][LICENSES], "Apache-2.0");
            let title = format!("gatehouse/{}", artifact.file.trim_end_matches(".wasm"));
            assert_eq!(manifest["annotations"][TITLE], title);
            assert_eq!(manifest["layers"].as_array().unwrap().len(), 1);

            let layer = follow(&layout, &manifest["layers"][0], LAYER);
            assert!(layer == artifact.bytes, "{}", artifact.file);
            let config = parse(&follow(&layout, &manifest["config"], CONFIG));
            assert_eq!(config["architecture"], "wasm");
            assert_eq!(config["os"], "wasip2");
            assert_eq!(config["layerDigests"][0], artifact.digest);
            assert_eq!(config["component"]["imports"], json!(artifact.imports));
            assert_eq!(config["component"]["exports"], json!(artifact.exports));
            assert_eq!(
                config["component"]["target"].as_str(),
                artifact.world.as_deref()
            );
            assert_eq!(blobs(&layout), 3);
        }
    }

    #[test]
    fn the_same_artifacts_give_the_same_layouts() {
        let once = layouts(&artifacts::all(None).unwrap()).unwrap();
        let again = layouts(&artifacts::all(None).unwrap()).unwrap();
        assert_eq!(once.len(), again.len());
        for (once, again) in once.iter().zip(&again) {
            assert_eq!(once.path, again.path);
            assert!(once.bytes == again.bytes, "{}", once.path);
        }
    }
}
