// Answers of a component to a host that passes nonsense, or whose store fails: `node boundary.mjs AUTH_METHOD_FOLDER ORGS_FOLDER`, where the
// folders are what transpile.mjs has made of the components.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Component, MissingImports } from './component.mjs';
import { Storage } from './storage.mjs';

const [authMethod, orgs] = process.argv.slice(2).map((folder) => new Component(folder));
const MOUNT = { id: 'm1', accessor: 'auth_gcp_1', path: 'gcp/', defaultLease: 3600n, maximumLease: 86400n };
const ROLE = { roleType: 'iam', boundServiceAccounts: ['workload@demo-project.iam.gserviceaccount.com'], tokenPolicies: ['dev'] };
const BY = { identity: { principal: { tag: 'installation' } }, requestId: 'boundary' };

const MOST = 2n ** 64n - 1n;

/** What a call gives: its result, or the `err` of WIT. */
function outcome(call) {
  try {
    return { ok: call() };
  } catch (error) {
    if (!Object.hasOwn(error, 'payload')) throw error;
    return { err: error.payload };
  }
}

/** A store of which some functions answer otherwise. */
class Faulty extends Storage {
  /** From name to function, by the names of `gatehouse:storage/key-value`. */
  faults = {};

  imports() {
    const { 'gatehouse:storage/key-value': sound, ...others } = super.imports();
    const faulty = (name) => (...values) => (this.faults[name] ?? sound[name])(...values);
    const functions = Object.keys(sound).map((name) => [name, faulty(name)]);
    return { 'gatehouse:storage/key-value': Object.fromEntries(functions), ...others };
  }
}

const thrown = (error) => () => {
  throw error;
};

test('nonsense is refused by name, and nothing is stored', async () => {
  const storage = new Storage();
  const { config, roles, login } = await authMethod.instance({ storage });
  const written = (changes) => () => roles.write(MOUNT, 'dev', { ...ROLE, ...changes }, 'any');
  const configured = (changes) => () => config.write(MOUNT, changes);
  const expectations = [
    ...['', '\0', 'a/b', '..', '\ud800', 'x'.repeat(1_000_000)].map((name) => {
      return [() => roles.write(MOUNT, name, ROLE, 'any'), { tag: 'invalid-name' }];
    }),
    [written({ roleType: '\0' }), { tag: 'type-invalid', val: '\0' }],
    [written({ tokenNumUses: -(2n ** 63n) }), { tag: 'negative-number-of-uses' }],
    [written({ tokenPeriod: MOST }), { tag: 'period-above-mount-maximum', val: { given: MOST, bound: 86400n } }],
    [written({ tokenBoundCidrs: ['\u{1f600}'] }), { tag: 'bound-cidr', val: '\u{1f600}' }],
    [configured({ credentials: '{'.repeat(1_000_000) }), { tag: 'credentials', val: { tag: 'too-long' } }],
    [configured({ rotationSchedule: '* * 30 2 *' }), { tag: 'rotation-schedule', val: { tag: 'never' } }],
    [configured({ customEndpoint: [['api', 'http://[::1']] }), { tag: 'endpoint-value', val: { key: 'api', flaw: 'not-url' } }],
    [() => login.login(MOUNT, { role: '\0', jwt: '\0' }), { tag: 'role-not-found', val: '\0' }],
    [() => login.revalidate(MOUNT, { renewalState: new Uint8Array(1_000_000), tokenPolicies: [] }), { tag: 'state-unreadable' }],
  ];
  for (const [call, err] of expectations) assert.deepEqual(outcome(call), { err }, `${call}`);
  assert.deepEqual(storage.keys(), []);

  const another = new Storage();
  const { organizations } = await orgs.instance({ storage: another });
  for (const name of ['', '\0', 'x'.repeat(5_000_000), '\ud800']) {
    assert.deepEqual(outcome(() => organizations.read(name)), { ok: undefined });
    assert.deepEqual(outcome(() => organizations.delete(name, BY)), { ok: false });
  }
  assert.deepEqual(another.keys(), []);
});

test('values of other types than those of WIT do not get as far as the component, which goes on', async () => {
  const storage = new Storage();
  const { roles, login } = await authMethod.instance({ storage });
  const nonsense = [
    () => roles.write(),
    () => roles.read(null, 'dev'),
    () => roles.read(MOUNT, 5),
    () => roles.write(MOUNT, 'dev', ROLE, 'nonsense'),
    () => roles.write(MOUNT, 'dev', { ...ROLE, boundServiceAccounts: [5] }, 'any'),
    () => roles.write(MOUNT, 'dev', { ...ROLE, tokenTtl: 1.5 }, 'any'),
    () => login.revalidate(MOUNT, { renewalState: [999], tokenPolicies: [] }),
  ];
  for (const call of nonsense) {
    assert.throws(call, (error) => error instanceof Error && !(error instanceof WebAssembly.RuntimeError), `${call}`);
    assert.deepEqual(roles.list(MOUNT), [], `after ${call}`);
  }
  assert.deepEqual(storage.keys(), []);
});

test('a store that does not answer is told from one that is empty, and nothing is half done', async () => {
  const storage = new Faulty();
  const { config, roles, login } = await authMethod.instance({ storage });
  roles.write(MOUNT, 'dev', ROLE, 'any');
  const before = storage.keys();
  const unavailable = { tag: 'unavailable', val: 'the disk is full' };
  const damaged = { tag: 'corrupt', val: 'm1/role/dev' };
  for (const [fault, tag] of [[{ tag: 'sealed' }, 'sealed'], [unavailable, 'unavailable'], [damaged, 'damaged']]) {
    storage.faults = { get: thrown(fault), scan: thrown(fault), commit: thrown({ tag: 'failed', val: fault }) };
    assert.equal(outcome(() => config.read(MOUNT)).err?.tag, tag);
    assert.equal(outcome(() => roles.list(MOUNT)).err?.tag, tag);
    for (const call of [
      () => login.login(MOUNT, { role: 'dev', jwt: 'a.b.c' }),
      () => roles.write(MOUNT, 'dev', { tokenPolicies: ['ops'] }, 'any'),
      () => config.write(MOUNT, { iamAlias: 'unique_id' }),
    ]) {
      const { err } = outcome(call);
      assert.deepEqual([err?.tag, err?.val?.tag], ['storage', tag], `${call}`);
    }
  }
  storage.faults = { commit: thrown({ tag: 'conflict', val: 'm1/role/dev' }) };
  assert.equal(outcome(() => roles.write(MOUNT, 'dev', { tokenPolicies: ['ops'] }, 'any')).err?.val?.tag, 'contended');
  storage.faults = {};
  assert.deepEqual(storage.keys(), before);
  assert.deepEqual(roles.read(MOUNT, 'dev').token.policies, ['dev']);
});

test('a record that is garbage is damaged, and stays as it is', async () => {
  const storage = new Faulty();
  const { config, roles } = await authMethod.instance({ storage });
  storage.faults = { get: (keys) => keys.map(() => ({ value: Uint8Array.of(1, 2, 3), version: 1n })) };
  assert.equal(outcome(() => config.read(MOUNT)).err?.tag, 'damaged');
  assert.equal(outcome(() => roles.write(MOUNT, 'dev', ROLE, 'any')).err?.val?.tag, 'damaged');
  assert.deepEqual(storage.keys(), []);
});

test('what the store throws and WIT does not know is thrown to who called, and the instance goes on', async () => {
  const storage = new Faulty();
  const { config } = await authMethod.instance({ storage });
  const fault = new Error('a fault of the host');
  storage.faults = { get: thrown(fault) };
  assert.throws(() => config.read(MOUNT), fault);
  storage.faults = {};
  assert.equal(config.read(MOUNT).identityTokenTtl, 3600n);
});

test('each missing import is named on a line of its own, with what would provide it', async () => {
  const nothing = { imports: () => ({}) };
  await assert.rejects(orgs.instance({ storage: nothing }), /gatehouse:storage\/key-value/);
  const lines = [
    'the component imports what this program does not provide:',
    '  gatehouse:storage/cache: give it a cache, such as that of Storage of storage.mjs',
    '  gatehouse:storage/key-value: give it a store, such as Storage of storage.mjs',
  ];
  await assert.rejects(authMethod.instance({ storage: nothing }), { message: lines.join('\n') });
  const { message } = new MissingImports(['gatehouse:access/tokens', 'acme:paper/press']);
  assert.match(message, /\n {2}gatehouse:access\/tokens: the component access exports it; compose the two\n/);
  assert.match(message, /\n {2}acme:paper\/press: compose the component with one that exports it$/);
});

test('whom the program does not allow is not called', async () => {
  const storage = new Storage();
  const environment = { GATEHOUSE_GOOGLE_ALLOW_HTTP_LOOPBACK: 'true' };
  const asked = new Set();
  const allows = (origin) => {
    asked.add(origin);
    return false;
  };
  const { config, roles, login } = await authMethod.instance({ storage, environment, allows });
  config.write(MOUNT, { customEndpoint: [['api', 'http://127.0.0.1:1']] });
  roles.write(MOUNT, 'dev', ROLE, 'any');
  const part = (content) => Buffer.from(JSON.stringify(content)).toString('base64url');
  const header = { alg: 'RS256', kid: 'k', typ: 'JWT' };
  const claims = { sub: ROLE.boundServiceAccounts[0], aud: 'vault/dev', exp: Math.floor(Date.now() / 1000) + 600 };
  const jwt = `${part(header)}.${part(claims)}.${Buffer.alloc(256, 1).toString('base64url')}`;
  assert.equal(outcome(() => login.login(MOUNT, { role: 'dev', jwt })).err?.tag, 'endpoint-denied');
  assert.deepEqual([...asked], ['http://127.0.0.1:1']);
});
