import { parseSync } from 'rolldown/utils';

type StaticImport = ReturnType<typeof parseSync>['module']['staticImports'][number];

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Loaded by the first call of one of their functions, since they take a start up to 7 ms and few starts need all of
 * them (docs/adr/0093).
 */
const DEFERRED: ReadonlySet<string> = new Set([
  'node:child_process',
  'node:crypto',
  'node:dns/promises',
  'node:fs/promises',
  'node:readline',
]);

/**
 * Takes Node's modules in a chunk by `process.getBuiltinModule` instead of by `import`, which would read all exports of
 * each: that loads what most programs never use, such as Web Crypto and file streams, and was a quarter of a warm start.
 * A chunk may have a `process` of its own, imported from "node:process".
 */
export function takeBuiltins(code: string): string {
  const { module, errors } = parseSync('chunk.js', code);
  if (errors[0] !== undefined) throw new Error(errors[0].message);
  const { staticImports, staticExports, dynamicImports } = module;
  const requests = staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest));
  if (requests.some((request) => request?.value.startsWith('node:')))
    throw new Error('a module of Node is exported on, which would load it by import');
  const edits = [
    ...staticImports.filter(({ moduleRequest }) => moduleRequest.value.startsWith('node:')).map(editImport),
    ...dynamicImports.flatMap(({ start, end, moduleRequest }): readonly Edit[] => {
      const name = code.slice(moduleRequest.start, moduleRequest.end);
      return /^["'`]node:/.test(name) ? [{ start, end, text: `Promise.resolve(${take(name)})` }] : [];
    }),
  ];
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((edited, { start, end, text }) => edited.slice(0, start) + text + edited.slice(end), code);
}

function editImport({ start, end, moduleRequest: { value: name }, entries }: StaticImport): Edit {
  const whole = take(JSON.stringify(name));
  const names: string[] = [];
  const statements: string[] = [];
  for (const { importName, localName } of entries) {
    const [member, local] = [importName.name, localName.value];
    if (member === null && DEFERRED.has(name))
      statements.push(`const ${local} = new Proxy({}, { get: (_, member) => ${whole}[member] });`);
    else if (member === null) statements.push(`const ${local} = ${whole};`);
    else if (isDeferred(name, member))
      statements.push(`let ${local} = (...given) => (${local} = ${whole}.${member})(...given);`);
    else names.push(member === local ? member : `${member}: ${local}`);
  }
  if (names.length > 0) statements.push(`const { ${names.join(', ')} } = ${whole};`);
  return { start, end, text: statements.join('\n') };
}

/** Whether it can be a function that loads its module; constants and classes cannot. */
function isDeferred(name: string, member: string): boolean {
  const builtin: unknown = process.getBuiltinModule(name);
  return (
    DEFERRED.has(name) && /^[a-z]/.test(member) && typeof Reflect.get(Object(builtin), member) === 'function'
  );
}

function take(quotedName: string): string {
  return `globalThis.process.getBuiltinModule(${quotedName})`;
}

/**
 * Escapes all other characters outside of licenses, as V8 keeps a text of ASCII in half the memory. No template may be a
 * raw one.
 */
export function toAscii(code: string): string {
  return code.replaceAll(/^\s*\/\*![^]*?\*\/|[^\0-\u007f]/gm, (found) =>
    found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
