// Components of which there can be instances, each with nothing but what it is given.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { http } from '@bytecodealliance/preview2-shim';
import { WASIShim } from '@bytecodealliance/preview2-shim/instantiation';

/** The system's clock, read once a call. The shim's own reads it twice, for seconds and for the rest, and so can go back by a second. */
const wallClock = {
  now() {
    const now = Date.now();
    return { seconds: BigInt(Math.floor(now / 1000)), nanoseconds: (now % 1000) * 1_000_000 };
  },
  resolution() {
    return { seconds: 0n, nanoseconds: 1_000_000 };
  },
};

/** Sends requests to origins that `allows` says yes to, such as `https://oauth2.googleapis.com`. */
function outgoingHandler(allows) {
  return {
    handle(request, options) {
      const scheme = request.scheme()?.tag.toLowerCase();
      if (!allows(`${scheme}://${request.authority()}`)) throw { tag: 'HTTP-request-denied' };
      return http.outgoingHandler.handle(request, options);
    },
  };
}

/** Beginnings of interface names with what provides the interface; the first that fits counts. */
const REMEDIES = [
  ['gatehouse:storage/key-value', 'give it a store, such as Storage of storage.mjs'],
  ['gatehouse:storage/cache', 'give it a cache, such as that of Storage of storage.mjs'],
  ['gatehouse:access/', 'the component access exports it; compose the two'],
  ['gatehouse:auth-method/', 'the component auth-method exports it; compose the two'],
  ['gatehouse:gateway/', 'the component gateway exports it; compose the two'],
  ['gatehouse:orgs/', 'the component orgs exports it; compose the two'],
  ['gatehouse:host/', 'the program gatehouse provides it, which runs the whole server'],
  ['wasi:', 'the component of the portable flavour does without it'],
  ['', 'compose the component with one that exports it'],
];

function remedy(name) {
  return REMEDIES.find(([beginning]) => name.startsWith(beginning))[1];
}

/** The component imports what it has not been given. */
export class MissingImports extends Error {
  constructor(names) {
    const lines = names.map((name) => `\n  ${name}: ${remedy(name)}`);
    super(`the component imports what this program does not provide:${lines.join('')}`);
  }
}

/** A component that transpile.mjs has put into `folder`. */
export class Component {
  #folder;
  #modules = new Map();

  constructor(folder) {
    this.#folder = folder;
  }

  /**
   * An instance with a store, environment variables, and origins that it may call, nobody if nothing is said. It has no files, no sockets,
   * and not the environment of this process.
   */
  async instance({ storage, environment = {}, allows = () => false }) {
    const { instantiate } = await import(pathToFileURL(join(this.#folder, 'component.js')));
    const imported = JSON.parse(await readFile(join(this.#folder, 'imports.json'), 'utf8'));
    const shim = new WASIShim({ sandbox: { preopens: {}, args: [], env: environment, enableNetwork: false } });
    const imports = {
      ...shim.getImportObject(),
      'wasi:clocks/wall-clock': wallClock,
      'wasi:http/outgoing-handler': outgoingHandler(allows),
      ...storage.imports(),
    };
    // The module that jco has written would name only the first.
    const missing = imported.filter((name) => imports[name] === undefined);
    if (missing.length > 0) throw new MissingImports(missing);
    return instantiate((file) => this.#module(file), imports);
  }

  /** Compiled once for all instances. */
  #module(file) {
    if (!this.#modules.has(file)) {
      this.#modules.set(file, readFile(join(this.#folder, file)).then((bytes) => WebAssembly.compile(bytes)));
    }
    return this.#modules.get(file);
  }
}
