//! Looks for the programs that read the files of `deploy` in the end. Tests that need one are shown as ignored where it is missing.

use std::path::PathBuf;

/// The programs, each with the cfg that is set where it is there.
const PROGRAMS: [(&str, &str); 3] = [
    ("haproxy", "with_haproxy"),
    ("kubectl", "with_kubectl"),
    ("systemd-analyze", "with_systemd"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    for (program, cfg) in PROGRAMS {
        println!("cargo::rustc-check-cfg=cfg({cfg})");
        let mut found = folders.iter().map(|folder| folder.join(program));
        if let Some(found) = found.find(|found| found.is_file()) {
            println!("cargo::rerun-if-changed={}", found.display());
            println!("cargo::rustc-cfg={cfg}");
            continue;
        }
        println!("cargo::warning=files of `deploy` are not tried without {program}");
        // It may come to any of them.
        for folder in folders.iter().filter(|folder| folder.is_dir()) {
            println!("cargo::rerun-if-changed={}", folder.display());
        }
    }
}
