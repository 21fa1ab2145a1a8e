// Values of WIT: as the checks write them, in JSON with the names of WIT, and as jco has them.

export const camel = (name) => name.replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function renamed(object, rename, convert) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [rename(name), convert(value)]));
}

/** A value of the checks, for an argument. */
export function toJco(value) {
  // jco makes numbers of 64 bits of plain ones too, so their types need not be known here.
  if (Array.isArray(value)) return value.map(toJco);
  if (value === null) return undefined;
  return typeof value === 'object' ? renamed(value, camel, toJco) : value;
}

/** A value that a component gave, as the checks would write it. */
export function fromJco(value) {
  if (value === undefined) return null;
  if (typeof value === 'bigint') return Number(value);
  if (ArrayBuffer.isView(value)) return [...value];
  if (Array.isArray(value)) return value.map(fromJco);
  return typeof value === 'object' && value !== null ? renamed(value, kebab, fromJco) : value;
}

/** `template` with every text that begins with `$` replaced by what it stands for among `values`. */
export function substituted(template, values) {
  if (Array.isArray(template)) return template.map((item) => substituted(item, values));
  if (typeof template === 'string' && template.startsWith('$')) return named(template, values);
  if (typeof template !== 'object' || template === null) return template;
  const members = Object.entries(template).map(([name, value]) => [name, substituted(value, values)]);
  return Object.fromEntries(members);
}

function named(name, values) {
  let value = values;
  for (const member of name.slice(1).split('.')) value = value?.[member];
  if (value === undefined) throw new Error(`nothing is called ${name}`);
  return value;
}

/** Why `answer` does not fit what is expected of it; undefined where it does. */
export function misfit(expected, answer, path = 'the answer') {
  if (Array.isArray(expected)) {
    if (!Array.isArray(answer) || answer.length !== expected.length) return differs(expected, answer, path);
    return first(expected.map((item, index) => () => misfit(item, answer[index], `${path}[${index}]`)));
  }
  if (typeof expected !== 'object' || expected === null) {
    return Object.is(expected, answer) ? undefined : differs(expected, answer, path);
  }
  if (Array.isArray(expected.$has)) {
    const found = (item) => Array.isArray(answer) && answer.some((one) => misfit(item, one) === undefined);
    return expected.$has.every(found) ? undefined : differs(expected, answer, path);
  }
  if (typeof answer !== 'object' || answer === null) return differs(expected, answer, path);
  const fields = Object.entries(expected);
  // A `none` is missing in what jco gives.
  return first(fields.map(([name, value]) => () => misfit(value, answer[name] ?? null, `${path}.${name}`)));
}

function first(attempts) {
  for (const attempt of attempts) {
    const found = attempt();
    if (found !== undefined) return found;
  }
  return undefined;
}

function differs(expected, answer, path) {
  return `${path} is ${JSON.stringify(answer)} instead of ${JSON.stringify(expected)}`;
}
