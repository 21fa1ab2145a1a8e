// A check of the list: its steps in their order, each done by an instance of the component that it is about.

import { Storage } from './storage.mjs';
import { camel, fromJco, misfit, substituted, toJco } from './values.mjs';

/** `given` laid over `usual` where both are records; otherwise what is given, and the usual where nothing is. */
function overlaid(usual, given) {
  if (given === undefined) return usual;
  const records = [usual, given].every((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
  // A variant is no record: with another case nothing of the usual one must stay.
  return records && !('tag' in given) ? { ...usual, ...given } : given;
}

/** What a host of components does with checks. */
export class Checks {
  #list;
  #components;
  #allows;

  /** `components` by their names; `allows` says which origins they may call. */
  constructor(list, components, allows) {
    this.#list = list;
    this.#components = components;
    this.#allows = allows;
  }

  /** Why the check does not hold; undefined where it does. */
  async failure(check) {
    const stage = { storages: new Map(), instances: new Map(), kept: {} };
    for (const [index, step] of check.steps.entries()) {
      const why = step.do === 'new-instance' ? stage.instances.clear() : await this.#failureOf(step, stage);
      if (why !== undefined) return `step ${index + 1}, ${step.do}: ${why}`;
    }
    return undefined;
  }

  async #failureOf(step, stage) {
    const values = { ...this.#list.values, kept: stage.kept };
    const { do: operation, with: given = {}, never = [], keep = {}, ...outcome } = step;
    const answer = await this.#answer(this.#list.operations[operation], substituted(given, values), stage);
    const expected = substituted(outcome, values);
    const [side] = Object.keys(expected);
    if (!(side in answer)) return `gave ${JSON.stringify(answer)} instead of ${JSON.stringify(expected)}`;
    const text = JSON.stringify(answer);
    const shown = substituted(never, values).filter((secret) => text.includes(JSON.stringify(secret).slice(1, -1)));
    if (shown.length > 0) return 'the answer holds what it must never hold';
    for (const [name, field] of Object.entries(keep)) stage.kept[name] = answer.ok[field];
    return misfit(expected[side], answer[side]);
  }

  async #answer(operation, given, stage) {
    const usual = substituted(this.#list.defaults[operation.component], this.#list.values);
    const call = (await this.#instance(operation.component, stage))[camel(operation.interface)];
    const values = operation.parameters.map((name) => toJco(overlaid(usual[name], given[name])));
    try {
      const ok = fromJco(call[camel(operation.function)](...values));
      return { ok: operation.part === undefined ? ok : ok[operation.part] };
    } catch (error) {
      // Anything else is a trap, or a value that jco does not let in: a fault of this runner or of the component.
      if (!Object.hasOwn(error, 'payload')) throw error;
      return { err: fromJco(error.payload) };
    }
  }

  async #instance(name, { storages, instances }) {
    if (!storages.has(name)) storages.set(name, new Storage());
    if (!instances.has(name)) {
      const environment = this.#list.environment[name];
      const surroundings = { storage: storages.get(name), environment, allows: this.#allows };
      instances.set(name, await this.#components[name].instance(surroundings));
    }
    return instances.get(name);
  }
}
