//! The two ways to an image: the instructions for an engine, and the script that needs none.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use aws_lc_rs::digest::{SHA256, digest};
use flate2::read::GzDecoder;
use gatehouse_deploy_tests::{found, read, workspace};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{outcome, run};

const CONTAINERFILE: &str = "deploy/image/Containerfile";

/// The arguments of each instruction of a kind, in both stages.
fn instructions(name: &str) -> Vec<String> {
    let text = read(CONTAINERFILE);
    found(&text, &format!("(?m)^{name} (.*)$"))
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// The paths of the repository that are copied into the build of the image.
fn copied() -> Vec<String> {
    let copies = instructions("COPY");
    let from_here = copies.iter().filter(|copy| !copy.contains("--from="));
    let mut copied = Vec::new();
    for copy in from_here {
        let mut words: Vec<&str> = copy.split(' ').collect();
        let to = words.pop().unwrap();
        assert!(to == "./" || words == [to], "{copy}");
        copied.extend(words.into_iter().map(str::to_owned));
    }
    copied
}

/// `path` without `..`, from the root of the repository.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normalized.pop()),
            part => normalized.push(part),
        }
    }
    normalized
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn everything_that_the_build_reads_is_copied() {
    let copied = copied();
    for path in &copied {
        assert!(workspace().join(path).exists(), "{path}");
    }
    let is_copied = |path: &Path| copied.iter().any(|copied| path.starts_with(copied));
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    for member in manifest["workspace"]["members"].as_array().unwrap() {
        let member = Path::new(member.as_str().unwrap());
        assert!(is_copied(member), "{}", member.display());
    }
    let mut files = Vec::new();
    for room in ["components", "host"] {
        rust_files(&workspace().join(room), &mut files);
    }
    let mut included = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let file = file.strip_prefix(workspace()).unwrap();
        for path in found(&text, r#"include_(?:str|bytes)!\(\s*"(\.\.[^"]*)""#) {
            let path = normalized(&file.parent().unwrap().join(path));
            assert!(is_copied(&path), "{}: {}", file.display(), path.display());
            included += 1;
        }
    }
    assert!(included > 0, "the host includes pages of docs/hosts");
}

#[test]
fn the_build_asks_for_a_program_and_a_feature_that_are_there_by_the_pinned_compiler() {
    let build = instructions("RUN")
        .into_iter()
        .find(|run| run.starts_with("cargo build"));
    let build = build.unwrap();
    let host: toml::Table = toml::from_str(&read("host/Cargo.toml")).unwrap();
    assert_eq!(
        found(&build, r"--package (\S+)"),
        [host["package"]["name"].as_str().unwrap()]
    );
    assert_eq!(
        found(&build, r"--bin (\S+)"),
        [host["package"]["default-run"].as_str().unwrap()]
    );
    for feature in found(&build, r"--features (\S+)") {
        assert!(host["features"].get(feature).is_some(), "{feature}");
    }
    assert!(
        build.contains("--locked") && build.contains("--features compiled-ahead"),
        "{build}"
    );

    let bases = instructions("FROM");
    let toolchain: toml::Table = toml::from_str(&read("rust-toolchain.toml")).unwrap();
    let pinned = toolchain["toolchain"]["channel"].as_str().unwrap();
    // The tag names Debian 12, which the program runs on as well.
    let version = found(&bases[0], r"/rust:([\d.]+)-bookworm AS build$");
    assert!(pinned.starts_with(version[0]), "{bases:?}");
    assert_eq!(bases[1], "gcr.io/distroless/cc-debian12:nonroot");
}

#[test]
fn what_the_second_stage_takes_from_the_first_was_made_there() {
    let text = read(CONTAINERFILE);
    let made = found(&text, r"(?m)^COPY --from=build (?:--\S+ )*(\S+) \S+$");
    assert_eq!(
        made,
        [
            "/gatehouse/target/release/gatehouse",
            "/gatehouse/LICENSE",
            "/state"
        ]
    );
    assert!(text.contains("\nWORKDIR /gatehouse\n") && copied().contains(&"LICENSE".to_owned()));
    assert!(text.contains("\nRUN install -d -m 0700 /state\n"));
}

/// Makes a layout of `program`; returns whether the script succeeded, and its output.
fn layout(program: &Path, folder: &Path) -> (bool, String) {
    let mut command = Command::new(workspace().join("deploy/image/layout"));
    outcome(command.arg(program).arg(folder))
}

/// The content that a descriptor leads to, after it was compared with it.
fn follow(layout: &Path, descriptor: &Value, media_type: &str) -> Vec<u8> {
    assert_eq!(descriptor["mediaType"], media_type);
    let name = descriptor["digest"].as_str().unwrap();
    let (algorithm, hexadecimal) = name.split_once(':').unwrap();
    let bytes = fs::read(layout.join("blobs").join(algorithm).join(hexadecimal)).unwrap();
    assert_eq!(sha256(&bytes), name);
    assert_eq!(descriptor["size"], bytes.len());
    bytes
}

fn sha256(bytes: &[u8]) -> String {
    let digest = digest(&SHA256, bytes);
    format!("sha256:{}", base16ct::lower::encode_string(digest.as_ref()))
}

/// An entry of an archive.
#[derive(Debug, PartialEq)]
struct Entry {
    mode: u64,
    user: u64,
    is_folder: bool,
    content: Vec<u8>,
}

/// The entries of an uncompressed archive in the format `ustar`.
fn entries(mut archive: &[u8]) -> BTreeMap<String, Entry> {
    let mut entries = BTreeMap::new();
    while archive.len() >= 512 && archive[0] != 0 {
        let text = |from: usize, to: usize| {
            let field = &archive[from..to];
            let end = field.iter().position(|byte| *byte == 0);
            String::from_utf8(field[..end.unwrap_or(field.len())].to_vec()).unwrap()
        };
        let number = |from, to| u64::from_str_radix(text(from, to).trim(), 8).unwrap();
        let size = usize::try_from(number(124, 136)).unwrap();
        let name = text(0, 100).trim_end_matches('/').to_owned();
        let entry = Entry {
            mode: number(100, 108),
            user: number(108, 116),
            is_folder: archive[156] == b'5',
            content: archive[512..512 + size].to_vec(),
        };
        assert_eq!(number(136, 148), 0, "{name} has a time");
        assert!(entries.insert(name, entry).is_none());
        archive = &archive[512 + size.next_multiple_of(512)..];
    }
    entries
}

/// An image that was read from a layout.
struct Image {
    config: Value,
    files: BTreeMap<String, Entry>,
    manifest: Value,
}

fn image(layout: &Path) -> Image {
    let parse = |bytes: &[u8]| -> Value { serde_json::from_slice(bytes).unwrap() };
    let version = parse(&fs::read(layout.join("oci-layout")).unwrap());
    assert_eq!(version, json!({"imageLayoutVersion": "1.0.0"}));
    let index = parse(&fs::read(layout.join("index.json")).unwrap());
    assert_eq!(index["schemaVersion"], 2);
    assert_eq!(index["manifests"].as_array().unwrap().len(), 1);
    let tagged = &index["manifests"][0];
    let tag = &tagged["annotations"]["org.opencontainers.image.ref.name"];
    assert_eq!(tag, "0.1.0");
    let manifest = follow(layout, tagged, "application/vnd.oci.image.manifest.v1+json");
    let manifest = parse(&manifest);
    assert_eq!(manifest["schemaVersion"], 2);
    let config = "application/vnd.oci.image.config.v1+json";
    let config = parse(&follow(layout, &manifest["config"], config));
    let layers = manifest["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 1);
    let compressed = "application/vnd.oci.image.layer.v1.tar+gzip";
    let compressed = follow(layout, &layers[0], compressed);
    let mut archive = Vec::new();
    GzDecoder::new(&compressed[..])
        .read_to_end(&mut archive)
        .unwrap();
    assert_eq!(config["rootfs"]["diff_ids"], json!([sha256(&archive)]));
    assert_eq!(
        fs::read_dir(layout.join("blobs/sha256")).unwrap().count(),
        3
    );
    Image {
        config,
        files: entries(&archive),
        manifest,
    }
}

fn stand_in() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    fs::write(&program, "#!/bin/false\n").unwrap();
    (folder, program)
}

#[test]
fn a_layout_leads_by_digests_to_the_program_and_to_what_it_needs() {
    let (folder, program) = stand_in();
    let layout_folder = folder.path().join("image");
    let (done, said) = layout(&program, &layout_folder);
    assert!(done, "{said}");
    let image = image(&layout_folder);
    let version = &image.manifest["annotations"]["org.opencontainers.image.version"];
    assert_eq!(version, "0.1.0");
    assert_eq!(image.config["os"], "linux");
    assert!(["amd64", "arm64"].contains(&image.config["architecture"].as_str().unwrap()));

    let file = |name: &str| &image.files[name];
    assert_eq!(file("usr/bin/gatehouse").content, b"#!/bin/false\n");
    assert_eq!(file("usr/bin/gatehouse").mode, 0o755);
    let authorities = &file("etc/ssl/certs/ca-certificates.crt").content;
    assert!(String::from_utf8_lossy(authorities).contains("BEGIN CERTIFICATE"));
    let users = String::from_utf8(file("etc/passwd").content.clone()).unwrap();
    assert!(users.contains("nonroot:x:65532:65532:"), "{users}");
    let state = file("var/lib/gatehouse");
    assert_eq!((state.mode, state.user), (0o700, 65532));
    for (name, entry) in &image.files {
        if name != "var/lib/gatehouse" {
            assert_eq!(entry.user, 0, "{name}");
            assert!(entry.mode & 0o022 == 0 || name == "tmp", "{name}");
        }
        // The image has the folder of every file, so that the unpacking program creates none by its own rules.
        if let Some((folder, _)) = name.rsplit_once('/') {
            assert!(file(folder).is_folder, "{name}");
        }
    }
}

#[test]
fn both_ways_to_an_image_start_the_server_in_the_same_way() {
    let (folder, program) = stand_in();
    let layout_folder = folder.path().join("image");
    assert!(layout(&program, &layout_folder).0);
    let started = image(&layout_folder).config["config"].clone();
    let only = |name: &str| {
        let values = instructions(name);
        assert_eq!(values.len(), 1, "{name}");
        values[0].clone()
    };
    let list = |name: &str| -> Value { serde_json::from_str(&only(name)).unwrap() };
    assert_eq!(started["User"], only("USER"));
    assert_eq!(started["Entrypoint"], list("ENTRYPOINT"));
    assert_eq!(started["Cmd"], list("CMD"));
    assert_eq!(started["StopSignal"], only("STOPSIGNAL"));
    let port = format!("{}/tcp", only("EXPOSE"));
    assert_eq!(started["ExposedPorts"], json!({port: {}}));
}

#[test]
fn a_program_comes_with_the_libraries_that_it_is_linked_with() {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new("/bin/true").canonicalize().unwrap();
    let linked = run(Command::new("ldd").arg(&program));
    assert!(layout(&program, folder.path()).0);
    let image = image(folder.path());
    let libraries = found(&linked, r"(?m)(/\S+) \(0x");
    assert!(!libraries.is_empty(), "{linked}");
    for library in libraries {
        let entry = &image.files[library.trim_start_matches('/')];
        assert_eq!(entry.content, fs::read(library).unwrap(), "{library}");
    }
}

#[test]
fn the_same_program_gives_the_same_image() {
    let (folder, program) = stand_in();
    let (_, once) = layout(&program, &folder.path().join("once"));
    let (_, again) = layout(&program, &folder.path().join("again"));
    assert!(once.starts_with("sha256:"), "{once}");
    assert_eq!(once, again);
}

#[test]
fn nothing_is_written_where_something_is_and_without_a_program() {
    let (folder, program) = stand_in();
    assert!(!layout(&program, folder.path()).0);
    assert!(!layout(&folder.path().join("none"), &folder.path().join("image")).0);
    assert!(!folder.path().join("image").exists());
}
