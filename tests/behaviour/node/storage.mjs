// Storage for one component, in memory: what `gatehouse:storage` asks of its host, over a Map.

const MAXIMUM_VALUE = 1024 * 1024;
const MAXIMUM_KEYS = 1024;
const MAXIMUM_ITEMS = 1000;
const KEY = /^[\x21-\x7e]{1,512}$/;

/** Throws the `invalid` of the WIT where what was asked is not a question for a store. */
function demand(holds, why) {
  if (!holds) throw { tag: 'invalid', val: why };
}

function demandKeys(keys) {
  demand(keys.length <= MAXIMUM_KEYS, 'too many keys in one call');
  for (const key of keys) demand(KEY.test(key), 'a key is malformed');
}

/** A Map whose entries have a version each, and expire. A version is never used twice, so that no check holds by accident. */
class Entries {
  #entries = new Map();
  #versions = 0n;

  get(key) {
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    if (found.expiresAt === undefined || found.expiresAt > BigInt(Date.now())) return found;
    this.#entries.delete(key);
    return undefined;
  }

  put(key, value, expiresAt) {
    this.#versions += 1n;
    // A copy: what is stored must not change with the bytes that the caller passed.
    this.#entries.set(key, { value: value.slice(), version: this.#versions, expiresAt });
  }

  delete(key) {
    this.#entries.delete(key);
  }

  /** Keys in ascending order. They are ASCII, so the order of JavaScript is that of bytes. */
  keys() {
    return [...this.#entries.keys()].filter((key) => this.get(key) !== undefined).sort();
  }
}

const shown = ({ value, version }) => ({ value, version });

/** `gatehouse:storage/key-value` over `entries`. */
function keyValue(entries) {
  const meets = ({ key, requirement }) => {
    const entry = entries.get(key);
    return requirement.tag === 'absent' ? entry === undefined : entry?.version === requirement.val;
  };
  const commit = (checks, changes) => {
    demandKeys(checks.map(({ key }) => key));
    const changed = changes.map(({ tag, val }) => (tag === 'put' ? val.key : val));
    demandKeys(changed);
    demand(new Set(changed).size === changed.length, 'a key is changed twice');
    const fits = ({ tag, val }) => tag !== 'put' || val.value.length <= MAXIMUM_VALUE;
    demand(changes.every(fits), 'a value is too large');
    const failed = checks.find((check) => !meets(check));
    if (failed !== undefined) throw { tag: 'conflict', val: failed.key };
    for (const { tag, val } of changes) {
      if (tag === 'put') entries.put(val.key, val.value, val.expiresAt);
      else entries.delete(val);
    }
  };
  return {
    get(keys) {
      demandKeys(keys);
      return keys.map((key) => entries.get(key)).map((entry) => entry && shown(entry));
    },
    getChanged(held) {
      demandKeys(held.map(({ key }) => key));
      return held.map(({ key, version }) => {
        const entry = entries.get(key);
        if (entry === undefined) return { tag: 'absent' };
        return entry.version === version ? { tag: 'unchanged' } : { tag: 'changed', val: shown(entry) };
      });
    },
    scan(prefix, after, limit) {
      demand(limit >= 1 && limit <= MAXIMUM_ITEMS, 'the limit is not 1 to 1000');
      const matching = entries.keys().filter((key) => key.startsWith(prefix) && (after === undefined || key > after));
      const items = matching.slice(0, limit).map((key) => ({ key, entry: shown(entries.get(key)) }));
      return { items, more: matching.length > limit };
    },
    commit(checks, changes) {
      try {
        commit(checks, changes);
      } catch (error) {
        // A commit has an error type of its own, which holds those of the other functions.
        throw error.tag === 'invalid' ? { tag: 'failed', val: error } : error;
      }
    },
  };
}

/** `gatehouse:storage/cache` over `entries`. */
function cache(entries) {
  return {
    get(key) {
      const entry = entries.get(key);
      return entry && shown(entry);
    },
    swap(key, expected, value, expiresAt) {
      if (entries.get(key)?.version !== expected) return false;
      entries.put(key, value, expiresAt);
      return true;
    },
  };
}

/** A store that belongs to one component, and the cache that its instances share. */
export class Storage {
  #stored = new Entries();
  #cached = new Entries();

  /** The imports of a component that is to have this store. */
  imports() {
    return {
      'gatehouse:storage/key-value': keyValue(this.#stored),
      'gatehouse:storage/cache': cache(this.#cached),
    };
  }

  /** The keys of everything that is stored, in ascending order. */
  keys() {
    return this.#stored.keys();
  }
}
