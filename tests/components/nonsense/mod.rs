//! Nonsense through WIT gets a typed answer from every function of every capability, and never a trap; also over a store that is wrong
//! about everything.
//!
//! There is no list of the functions: they are what the components export, and the values are made from the types of their parameters. What
//! is said is the same at every run. Pauses between attempts pass on Tokio's paused clock.

mod values;

use std::ops::Range;

use gatehouse_components::{Flavour, Part};
use wasmtime::Store;
use wasmtime::component::types::{ComponentFunc, ComponentItem};
use wasmtime::component::{Component, Func, Instance, Linker, Val};

use crate::faulty_backend::Fault;
use crate::surroundings::Surroundings;
use gatehouse::runtime::state::InstanceState;
use values::Speaker;

/// How often each function is called while the store does what it should.
const CALLS: u64 = 12;

/// The same for each fault that a store can have.
const CALLS_UNDER_FAULT: u64 = 1;

/// A function that a component exports.
struct Export {
    interface: String,
    name: String,
    parameters: usize,
}

fn exports(surroundings: &Surroundings, component: &Component) -> Vec<Export> {
    let mut exports = Vec::new();
    let component_type = component.component_type();
    for (interface, item) in component_type.exports(&surroundings.engine) {
        let ComponentItem::ComponentInstance(instance) = item.ty else {
            continue;
        };
        for (name, item) in instance.exports(&surroundings.engine) {
            if let ComponentItem::ComponentFunc(function) = item.ty {
                exports.push(Export {
                    interface: interface.to_owned(),
                    name: name.to_owned(),
                    parameters: function.params().len(),
                });
            }
        }
    }
    exports
}

/// One instance after another, over one store: what nonsense has left there, the next calls meet.
struct Subject {
    surroundings: Surroundings,
    component: Component,
    linker: Linker<InstanceState>,
    live: Option<(Store<InstanceState>, Instance)>,
    traps: Vec<String>,
}

impl Subject {
    fn new(part: Part, flavour: Flavour) -> Self {
        let surroundings = Surroundings::new();
        let (component, linker) = surroundings.load(part, flavour);
        Self {
            surroundings,
            component,
            linker,
            live: None,
            traps: Vec::new(),
        }
    }

    async fn live(&mut self) -> (Store<InstanceState>, Instance) {
        if let Some(live) = self.live.take() {
            return live;
        }
        let mut store = self.surroundings.store();
        let instance = self.linker.instantiate_async(&mut store, &self.component);
        let instance = instance.await.unwrap();
        (store, instance)
    }

    async fn call(&mut self, export: &Export, speaker: &mut Speaker) {
        let (mut store, instance) = self.live().await;
        let function = function(&mut store, &instance, export);
        let function_type: ComponentFunc = function.ty(&store);
        let said: Vec<Val> = function_type
            .params()
            .map(|(name, ty)| speaker.value(name, &ty))
            .collect();
        let mut answer = vec![Val::Bool(false); function_type.results().len()];
        match function.call_async(&mut store, &said, &mut answer).await {
            Ok(()) => self.live = Some((store, instance)),
            Err(trap) => {
                let mut said = format!("{said:?}");
                said.truncate(said.floor_char_boundary(1000));
                self.traps.push(format!(
                    "{} {}: {}\n  {said}",
                    export.interface,
                    export.name,
                    trap.root_cause()
                ));
            }
        }
    }

    async fn call_all(&mut self, exports: &[Export], rounds: Range<u64>) {
        for round in rounds.clone() {
            // The fuel of an instance counts from when it was made, and is meant to be enough for one round.
            self.live = None;
            for export in exports {
                // Without parameters there is nothing to say, and some of these make keys, which takes a while.
                if export.parameters > 0 || round == rounds.start {
                    let mut speaker = Speaker::new(round, &export.name);
                    self.call(export, &mut speaker).await;
                }
            }
        }
    }
}

fn function(store: &mut Store<InstanceState>, instance: &Instance, export: &Export) -> Func {
    let interface = instance
        .get_export_index(&mut *store, None, &export.interface)
        .unwrap();
    let index = instance
        .get_export_index(&mut *store, Some(&interface), &export.name)
        .unwrap();
    instance.get_func(store, index).unwrap()
}

async fn every_function_answers(part: Part, fewest: usize) {
    let mut subject = Subject::new(part, Flavour::Wide);
    let exports = exports(&subject.surroundings, &subject.component);
    assert!(exports.len() >= fewest, "only {}", exports.len());
    subject.call_all(&exports, 0..CALLS).await;
    let faults = [
        &Fault::OF_READING[..],
        &Fault::OF_SCANNING,
        &Fault::OF_WRITING,
    ];
    for (number, fault) in (0..).zip(faults.concat()) {
        let first = CALLS + number * CALLS_UNDER_FAULT;
        subject.surroundings.faults().set_fault(Some(fault));
        subject
            .call_all(&exports, first..first + CALLS_UNDER_FAULT)
            .await;
    }
    assert!(
        subject.traps.is_empty(),
        "{} traps:\n{}",
        subject.traps.len(),
        subject.traps.join("\n")
    );
}

#[tokio::test(start_paused = true)]
async fn nonsense_to_the_auth_method_is_answered() {
    every_function_answers(Part::AuthMethod, 20).await;
}

#[tokio::test(start_paused = true)]
async fn nonsense_to_access_is_answered() {
    every_function_answers(Part::Access, 50).await;
}

#[tokio::test(start_paused = true)]
async fn nonsense_to_orgs_is_answered() {
    every_function_answers(Part::Orgs, 40).await;
}
