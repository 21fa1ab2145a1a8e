// Makes organizations with the component `orgs` and lists them: `node make_organizations.mjs FOLDER`, where FOLDER is what transpile.mjs
// has made of the component. The store is a Map, and no host can be reached.

import { Component } from './component.mjs';
import { Storage } from './storage.mjs';

const FIELDS = [
  'sessionTimeout', 'sessionRemember', 'collaboratorAuthPolicy', 'costEstimationEnabled',
  'sendPassingStatusesForUntriggeredSpeculativePlans', 'aggregatedCommitStatusEnabled', 'speculativePlanManagementEnabled',
  'ownersTeamSamlRoleId', 'assessmentsEnforced', 'allowForceDeleteWorkspaces', 'defaultExecutionMode', 'defaultAgentPoolId',
  'defaultAgentPool', 'stacksEnabled', 'stacksDefaultExecutionMode', 'stacksDefaultAgentPool', 'userTokensEnabled', 'maxTtlEnabled',
  'enforceHyok', 'registryMonorepoSupportEnabled', 'recoverableItemsEnabled',
];
const NOTHING = Object.fromEntries(FIELDS.map((field) => [field, { tag: 'absent' }]));
const BY = { identity: { principal: { tag: 'installation' } }, requestId: 'example' };

const value = (val) => ({ tag: 'value', val });
const orgs = await new Component(process.argv[2]).instance({ storage: new Storage() });

function make(name, email) {
  try {
    orgs.organizations.create({ ...NOTHING, name: value(name), email: value(email) }, undefined, BY);
    console.log('made:', name);
  } catch (error) {
    if (!Object.hasOwn(error, 'payload')) throw error;
    console.log('refused:', JSON.stringify(error.payload));
  }
}

make('beta', 'it@beta.example');
make('Acme', 'it@acme.example');
make('ACME', 'other@acme.example');
const { organizations } = orgs.organizations.list({ tag: 'everything' }, {}, undefined, 100);
console.log('listed:', organizations.map(({ name }) => name).join(', '));
