// Asks the component `auth-method` who holds a token: `node judge_login.mjs FOLDER KEY_FILE JWT [GOOGLE]`.
//
// FOLDER is what transpile.mjs has made of the component, KEY_FILE the service-account key as which Google is asked, JWT a login token for
// role `dev`, and GOOGLE the base URL of a stand-in for Google. The store is a Map, and nothing but Google can be reached.

import { readFile } from 'node:fs/promises';

import { Component } from './component.mjs';
import { Storage } from './storage.mjs';

const [folder, keyFile, jwt, standIn] = process.argv.slice(2);
const credentials = await readFile(keyFile, 'utf8');
const { client_email: account, token_uri: tokenUrl } = JSON.parse(credentials);

const googles = ['https://www.googleapis.com', 'https://iam.googleapis.com', standIn ?? [], tokenUrl].flat();
const origins = new Set(googles.map((url) => new URL(url).origin));
const authMethod = await new Component(folder).instance({
  storage: new Storage(),
  environment: {
    GATEHOUSE_GOOGLE_TOKEN_URL: tokenUrl,
    GATEHOUSE_GOOGLE_ALLOW_HTTP_LOOPBACK: `${standIn !== undefined}`,
  },
  allows: (origin) => origins.has(origin),
});

const mount = { id: 'm1', accessor: 'auth_gcp_1', path: 'gcp/', defaultLease: 3600n, maximumLease: 86400n };
const customEndpoint = standIn === undefined ? [] : [['api', standIn], ['iam', standIn]];
authMethod.config.write(mount, { credentials, customEndpoint });
authMethod.roles.write(mount, 'dev', { roleType: 'iam', boundServiceAccounts: [account], tokenPolicies: ['dev'] }, 'any');

// Where the caller is; without it, it counts as not known.
const sourceAddress = { tag: 'ipv4', val: [127, 0, 0, 1] };

function judge(token) {
  try {
    const { role, displayName, token: { policies } } = authMethod.login.login(mount, { role: 'dev', jwt: token, sourceAddress });
    console.log(`${displayName} is in under role ${role}, with ${policies.join(', ')}`);
  } catch (error) {
    // An `err` of WIT is the payload of what is thrown; anything else is a fault.
    if (!Object.hasOwn(error, 'payload')) throw error;
    console.log('refused:', JSON.stringify(error.payload));
  }
}

judge(jwt);
const [header, claims, signature] = jwt.split('.');
judge([header, claims, (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)].join('.'));
