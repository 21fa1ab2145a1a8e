// node-vault: status, policies, mounts, tokens, wrapping, leases, and plain reads and writes.

'use strict';

const assert = require('node:assert/strict');
const nodeVault = require('node-vault');

const METHOD = 'gcp';
const MOUNT = 'node-vault';
const POLICY = 'node-vault';
const POLICY_TEXT = 'path "auth/token/create" { capabilities = ["update"] }';

/** The setting that the environment must have. */
function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`not set: ${name} (see tests/clients/README.md)`);
  return value;
}

const endpoint = setting('GATEHOUSE_ADDRESS');
const rootToken = setting('GATEHOUSE_ROOT_TOKEN');
const root = as(rootToken);

/** Runs one check and reports that its rule was seen to hold. */
async function check(rule, holds) {
  try {
    await holds();
  } catch (error) {
    error.message = `FAILED: ${rule}: ${error.message}`;
    throw error;
  }
  console.log(`ok: ${rule}`);
}

/** Expects a refusal with this status, and this text somewhere in its message. */
async function refused(call, status, text) {
  await assert.rejects(call, (error) => {
    assert.equal(error.response?.statusCode, status, error.message);
    assert.ok(error.message.includes(text), error.message);
    return true;
  });
}

/** The server with this token. The client takes on every token that it is given, so who makes tokens is a client of its own. */
function as(token) {
  return nodeVault({ endpoint, token });
}

async function checkStatus() {
  const anonymous = nodeVault({ endpoint, token: '' });
  await check('status', async () => assert.equal((await anonymous.status()).sealed, false));
  await check('initialized', async () => assert.equal((await anonymous.initialized()).initialized, true));
  await check('health', async () => assert.equal((await anonymous.health()).standby, false));
  await check('leader', async () => assert.ok('ha_enabled' in (await anonymous.leader())));
  await check('no token, no mounts', () => refused(anonymous.auths(), 403, 'permission denied'));
  await check('help', async () => assert.ok((await root.help('sys/auth')).help));
}

async function checkPolicies() {
  await root.addPolicy({ name: POLICY, rules: POLICY_TEXT });
  await check('getPolicy', async () => {
    assert.equal((await root.getPolicy({ name: POLICY })).data.rules, POLICY_TEXT);
  });
  await check('policies', async () => assert.ok((await root.policies()).policies.includes(POLICY)));
  await root.addPolicy({ name: 'node-passing', rules: POLICY_TEXT });
  await root.removePolicy({ name: 'node-passing' });
  await check('removePolicy', () => refused(root.getPolicy({ name: 'node-passing' }), 404, ''));
}

async function checkMounts() {
  await root.enableAuth({ mount_point: MOUNT, type: METHOD, description: 'for node' });
  await check('auths', async () => {
    const mount = (await root.auths()).data[`${MOUNT}/`];
    assert.deepEqual([mount.type, mount.description], [METHOD, 'for node']);
  });
  await check('remount', async () => {
    await root.remount({ from: `auth/${MOUNT}`, to: 'auth/moved-by-node' });
    assert.ok('moved-by-node/' in (await root.auths()).data);
  });
  await root.disableAuth({ mount_point: 'moved-by-node' });
  await check('disableAuth', async () => assert.ok(!('moved-by-node/' in (await root.auths()).data)));
}

async function checkTokens() {
  const made = await as(rootToken).tokenCreate({
    policies: [POLICY], meta: { team: 'a' }, ttl: '1h', explicit_max_ttl: '2h', display_name: 'node', renewable: true,
  });
  const { client_token: token, accessor } = made.auth;
  await check('tokenCreate', () => {
    assert.deepEqual(made.auth.token_policies, ['default', POLICY]);
    assert.equal(made.auth.lease_duration, 3600);
  });
  await check('tokenLookup', async () => {
    const { data } = await root.tokenLookup({ token });
    assert.deepEqual([data.display_name, data.meta], ['token-node', { team: 'a' }]);
  });
  await check('tokenLookupSelf', async () => assert.equal((await as(token).tokenLookupSelf()).data.id, token));
  await check('tokenLookupAccessor', async () => {
    assert.equal((await root.tokenLookupAccessor({ accessor })).data.id, '');
  });
  await check('tokenAccessors', async () => assert.ok((await root.tokenAccessors()).data.keys.includes(accessor)));
  await check('tokenRenew', async () => {
    assert.equal((await as(rootToken).tokenRenew({ token, increment: 1800 })).auth.lease_duration, 1800);
  });
  await check('tokenRenewSelf', async () => {
    assert.equal((await as(token).tokenRenewSelf({ increment: '20m' })).auth.lease_duration, 1200);
  });

  const orphan = (await as(rootToken).tokenCreateOrphan({ policies: [POLICY], ttl: '5m' })).auth;
  await check('tokenCreateOrphan', () => assert.equal(orphan.orphan, true));
  const child = (await as(orphan.client_token).tokenCreate({ ttl: '5m' })).auth;
  await root.tokenRevokeOrphan({ token: orphan.client_token });
  await check('tokenRevokeOrphan: the child is left', async () => {
    assert.equal((await root.tokenLookup({ token: child.client_token })).data.orphan, true);
  });
  await root.tokenRevokeAccessor({ accessor: child.accessor });
  await check('tokenRevokeAccessor', () => refused(root.tokenLookup({ token: child.client_token }), 403, 'bad token'));
  await root.tokenRevoke({ token });
  await check('tokenRevoke', () => refused(root.tokenLookup({ token }), 403, 'bad token'));
  const own = (await as(rootToken).tokenCreate({ ttl: '5m', policies: [POLICY], num_uses: 2, no_default_policy: false })).auth;
  await as(own.client_token).tokenRevokeSelf();
  await check('tokenRevokeSelf', () => refused(as(own.client_token).tokenLookupSelf(), 403, 'permission denied'));
}

async function checkTokenRoles() {
  const role = { role_name: MOUNT, allowed_policies: POLICY, orphan: true, renewable: true, path_suffix: 'suffix' };
  await root.addTokenRole(role);
  await check('getTokenRole', async () => {
    const { data } = await root.getTokenRole({ role_name: MOUNT });
    assert.deepEqual([data.allowed_policies, data.orphan, data.path_suffix], [[POLICY], true, 'suffix']);
  });
  await check('tokenRoles', async () => assert.ok((await root.tokenRoles()).data.keys.includes(MOUNT)));
  await check('tokenCreateRole', async () => {
    const made = (await as(rootToken).tokenCreateRole({ role_name: MOUNT, ttl: '5m' })).auth;
    assert.equal((await root.tokenLookup({ token: made.client_token })).data.role, MOUNT);
    await root.tokenRevoke({ token: made.client_token });
  });
  await root.removeTokenRole({ role_name: MOUNT });
  await check('removeTokenRole', () => refused(root.getTokenRole({ role_name: MOUNT }), 404, ''));
}

async function checkWrapping() {
  const headers = { 'X-Vault-Wrap-TTL': '1m' };
  const wrapped = (await root.write('sys/wrapping/wrap', { a: 'b' }, { headers })).wrap_info;
  await check('unwrap', async () => assert.deepEqual((await root.unwrap({ token: wrapped.token })).data, { a: 'b' }));
  await check('unwrap: once only', () => refused(root.unwrap({ token: wrapped.token }), 400, 'wrapping token is not valid'));
}

async function checkLeases() {
  await check('renew: no such lease', () => refused(root.renew({ lease_id: 'none', increment: 1 }), 400, 'lease not found'));
  await check('revoke: nothing to do', () => root.revoke({ lease_id: 'none' }));
  await check('revokePrefix: nothing to do', () => root.revokePrefix({ path_prefix: 'auth/none/login' }));
}

async function checkPlainRequests() {
  const made = await root.write('identity/entity', { name: 'node-vault', policies: ['a'] });
  const place = `identity/entity/id/${made.data.id}`;
  await check('write, read', async () => assert.deepEqual((await root.read(place)).data.policies, ['a']));
  await check('list', async () => assert.ok((await root.list('identity/entity/id')).data.keys.includes(made.data.id)));
  const withGet = nodeVault({ endpoint, token: root.token, noCustomHTTPVerbs: true });
  await check('list with GET', async () => {
    assert.ok((await withGet.list('identity/entity/id')).data.keys.includes(made.data.id));
  });
  await root.delete(place);
  await check('delete', () => refused(root.read(place), 404, ''));
  await check('update', () => refused(root.update('sys/auth', {}), 405, 'unsupported operation'));
}

async function main() {
  await checkStatus();
  await checkPolicies();
  await checkMounts();
  await checkTokens();
  await checkTokenRoles();
  await checkWrapping();
  await checkLeases();
  await checkPlainRequests();
  await root.removePolicy({ name: POLICY });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
