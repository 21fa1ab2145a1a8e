// Runs the checks of a list on components in Node: `node main.mjs LIST.json`. See ../README.md for what it is given and prints.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Checks } from './checks.mjs';
import { Component } from './component.mjs';
import { transpiled } from './transpile.mjs';

const list = JSON.parse(await readFile(process.argv[2], 'utf8'));
const folder = await mkdtemp(join(dirname(fileURLToPath(import.meta.url)), 'transpiled-'));
try {
  const components = {};
  for (const [name, file] of Object.entries(list.components)) {
    await transpiled(file, join(folder, name));
    components[name] = new Component(join(folder, name));
  }
  // The Googles of the test, and no other host.
  const addresses = [...Object.values(list.values.google), ...Object.values(list.environment['auth-method'])];
  const origins = new Set(addresses.filter((address) => URL.canParse(address)).map((address) => new URL(address).origin));
  const checks = new Checks(list, components, (origin) => origins.has(origin));
  for (const check of list.checks) {
    const why = await checks.failure(check).catch((error) => String(error?.stack ?? error));
    console.log(JSON.stringify({ id: check.id, passed: why === undefined, why }));
  }
} finally {
  await rm(folder, { recursive: true });
}
