//! The image that `deploy/image/layout` makes of the program, unpacked and run where no engine is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gatehouse_tests::{Installation, Program, Storage, gatehouse_binary, workspace};
use serde_json::{Value, json};

/// An unpacked image.
struct Image {
    folder: tempfile::TempDir,
    config: Value,
}

impl Image {
    /// The image of `program` without debug information, which is most of a build for tests.
    fn with_program(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [stripped, layout, root] =
            ["gatehouse", "layout", "root"].map(|name| folder.path().join(name));
        done(Command::new("strip").arg("-o").arg(&stripped).arg(program));
        let script = workspace().join("deploy/image/layout");
        done(Command::new(script).arg(&stripped).arg(&layout));

        let blob = |descriptor: &Value| -> PathBuf {
            let (algorithm, name) = descriptor["digest"]
                .as_str()
                .unwrap()
                .split_once(':')
                .unwrap();
            layout.join("blobs").join(algorithm).join(name)
        };
        let parse =
            |path: PathBuf| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
        let index = parse(layout.join("index.json"));
        let manifest = parse(blob(&index["manifests"][0]));
        fs::create_dir(&root).unwrap();
        for layer in manifest["layers"].as_array().unwrap() {
            let mut unpack = Command::new("tar");
            unpack.args(["-xz", "--no-same-owner", "-C"]).arg(&root);
            done(unpack.arg("-f").arg(blob(layer)));
        }
        Self {
            config: parse(blob(&manifest["config"])),
            folder,
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// The files of the image whose names begin with this.
    fn files(&self, beginning: &str) -> Vec<PathBuf> {
        let listed = done(Command::new("find").arg(self.root()).args(["-type", "f"]));
        let listed = String::from_utf8(listed.stdout).unwrap();
        let named = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(beginning)
        };
        listed.lines().map(PathBuf::from).filter(named).collect()
    }

    /// The image's own loader, with arguments that make it load the program with the image's libraries and none of this machine's.
    fn program(&self) -> (PathBuf, Vec<String>) {
        let [loader] = &self.files("ld-linux")[..] else {
            panic!("the image has one loader");
        };
        let libraries = self.files("lib");
        let folders: Vec<&str> = libraries
            .iter()
            .map(|library| library.parent().unwrap().to_str().unwrap())
            .collect();
        let entry = self.config["config"]["Entrypoint"][0].as_str().unwrap();
        let program = self.root().join(entry.trim_start_matches('/'));
        let arguments = [
            "--inhibit-cache",
            "--library-path",
            &folders.join(":"),
            program.to_str().unwrap(),
        ];
        (loader.clone(), arguments.map(str::to_owned).to_vec())
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let (loader, first) = self.program();
        let mut command = Command::new(loader);
        // An image does not come with the settings of the user who runs the tests.
        command.args(first).args(arguments).env_clear();
        command.output().unwrap()
    }
}

fn done(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

#[test]
fn the_program_of_an_image_serves_with_the_loader_and_the_libraries_that_the_image_has() {
    let image = Image::with_program(gatehouse_binary());
    let (loader, mut arguments) = image.program();
    arguments.insert(arguments.len() - 1, "--list".to_owned());
    let listed = done(Command::new(&loader).args(&arguments).env_clear());
    let listed = String::from_utf8(listed.stdout).unwrap();
    let root = image.root();
    let loaded = listed.lines().filter_map(|line| line.split_once(" => "));
    let loaded: Vec<&str> = loaded.map(|(_, path)| path).collect();
    assert!(loaded.len() > 1, "{listed}");
    for path in loaded {
        assert!(path.starts_with(root.to_str().unwrap()), "{listed}");
    }

    let version = image.run(&["--version"]);
    let printed = String::from_utf8(version.stdout).unwrap();
    assert_eq!(
        printed,
        format!("gatehouse {}\n", env!("CARGO_PKG_VERSION"))
    );
    let nobody = image.run(&["health", "--address", "http://127.0.0.1:1"]);
    assert_eq!(nobody.status.code(), Some(1), "{nobody:?}");
    // The status is not 2, which means that a server is sealed.
    let misspelled = image.run(&["status", "--adress", "http://127.0.0.1:1"]);
    assert_eq!(misspelled.status.code(), Some(64), "{misspelled:?}");

    // The program as it was built compiles the code: run by a loader, it does not find its own executable to compile in a process of its own.
    let code = image.folder.path().join("code");
    let mut compile = Command::new(gatehouse_binary());
    done(compile.args(["components", "compile", "--to"]).arg(&code));
    let settings = format!("[components]\ncache_directory = {code:?}\n");
    let command = image.config["config"]["Cmd"].as_array().unwrap();
    let [server, config] = &command[..2] else {
        panic!("{command:?}");
    };
    let (path, mut arguments) = image.program();
    arguments.extend([server, config].map(|it| it.as_str().unwrap().to_owned()));
    let program = Program {
        path,
        arguments,
        needs_database: false,
        has_children: false,
        first_root_token: None,
    };
    let mut installation =
        Installation::not_started_program(program, Storage::Durable, &settings).unwrap();
    installation.run().unwrap();
    let address = format!("http://{}", installation.address());
    let asked = |command: &str| image.run(&[command, "--address", &address]);
    let (status, health) = (asked("status"), asked("health"));
    assert_eq!(status.status.code(), Some(2), "{status:?}");
    assert_eq!(health.status.code(), Some(1), "{health:?}");
    let made = installation.send("PUT", "/v1/sys/init", None, Some(&json!({})));
    assert_eq!(made.status, 200, "{made:?}");
    let (status, health) = (asked("status"), asked("health"));
    assert_eq!(status.status.code(), Some(0), "{status:?}");
    assert_eq!(health.status.code(), Some(0), "{health:?}");
    assert_eq!(installation.server().terminate().unwrap(), Some(0));
}
