//! The page that says how the files are used, and what the files themselves say first.

use std::fs;

use gatehouse_deploy_tests::{found, read, workspace};

const PAGES: [&str; 2] = ["docs/operate/deploy.md", "docs/hosts/spin.md"];

/// The paths of all files below `folder`, from the root of the repository.
pub fn files(folder: &str, paths: &mut Vec<String>) {
    for entry in fs::read_dir(workspace().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files(&path, paths);
        } else {
            paths.push(path);
        }
    }
}

#[test]
fn every_path_below_deploy_that_a_page_names_is_there() {
    for page in PAGES {
        let text = read(page);
        let named = found(&text, r"\b(deploy/[\w./-]*\w)");
        assert!(!named.is_empty(), "{page}");
        for path in named {
            assert!(workspace().join(path).exists(), "{page}: {path}");
        }
    }
}

#[test]
fn files_that_run_servers_say_how_many() {
    let mut paths = Vec::new();
    files("deploy", &mut paths);
    let mut said = 0;
    for path in paths {
        let text = read(&path);
        let head: String = text
            .lines()
            .take_while(|line| line.starts_with('#') || line.is_empty())
            .map(|line| line.trim_start_matches("# ").to_owned() + " ")
            .collect();
        let has_workload = [
            "kind: Deployment",
            "kind: StatefulSet",
            "maxUnavailable",
            "\nExecStart=/usr/bin/gatehouse",
            "\nbackend ",
        ];
        if has_workload.iter().any(|part| text.contains(part)) {
            let head = head.replace(" # ", " ");
            assert!(
                head.contains("ne server at a time") || head.contains("ne process at a time"),
                "{path}: {head}"
            );
            assert!(head.contains("several-servers.md"), "{path}: {head}");
            said += 1;
        }
    }
    assert_eq!(said, 6);
}
