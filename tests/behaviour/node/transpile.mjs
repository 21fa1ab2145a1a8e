// Makes a module for Node of a component: `node transpile.mjs COMPONENT.wasm FOLDER`.

import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { transpile, writeFiles } from '@bytecodealliance/jco-transpile';

/** Writes `component.js`, what belongs to it, and the names of what it imports into `folder`, from the component in `file`. */
export async function transpiled(file, folder) {
  const { files, imports } = await transpile(file, {
    name: 'component',
    outDir: folder,
    // The imports are arguments of a function, so that a program can have several instances with different ones.
    instantiation: 'async',
    // An `err` is thrown as the payload of a ComponentError, so that nothing else that is thrown can be taken for one.
    noComponentErrorWrapping: false,
    emitTypescriptDeclarations: false,
  });
  await writeFiles({ ...files, [join(folder, 'imports.json')]: JSON.stringify(imports) });
}

if (resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [file, folder] = process.argv.slice(2);
  await transpiled(file, folder);
}
