// A server whose tools need arguments that have to be found. argv: the folder of the seed data, its tools as JSON.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';

// Nothing may be sent or written if the sandbox is broken.
if (Object.keys(networkInterfaces()).some((name) => name !== 'lo')) throw new Error('not in a sandbox');
const [, , seed, tools] = process.argv;
const crates = new Map();
const SHELVES = ['upper-left', 'lower-right'];
const fail = (text) => {
  throw new Error(text);
};
const crateOf = ({ crate_id: id }) => crates.get(id) ?? fail(`Crate ${id} not found`);

const BODIES = {
  list_shelves: () => JSON.stringify({ shelves: SHELVES }),
  inspect_shelf: ({ shelf }) => {
    if (!SHELVES.includes(shelf)) fail(`There is no shelf ${shelf}`);
    writeFileSync(`${seed}/inspected`, shelf);
    return 'in order';
  },
  create_crate: ({ label }) => {
    const id = randomUUID();
    crates.set(id, label);
    appendFileSync(`${seed}/crates.log.txt`, `${id}\n`);
    return JSON.stringify({ crate: { id, label } });
  },
  weigh_crate: (args) => {
    const label = crateOf(args);
    appendFileSync(`${seed}/scales`, `${label}\n`);
    return '12 kg';
  },
  show_crate: (args) => crateOf(args),
  read_query: ({ sql }) => {
    const database = new DatabaseSync(`${seed}/database.db`);
    try {
      return JSON.stringify(database.prepare(sql).all());
    } finally {
      database.close();
    }
  },
  draw_plan: ({ style }) => {
    if (style === 'ink') writeFileSync(`${seed}/plan.txt`, 'ink');
    return 'drawn';
  },
  measure_depth: ({ depth }) => {
    if (depth < 40) fail('depth must be at least 40');
    writeFileSync(`${seed}/depth.txt`, String(depth));
    return 'measured';
  },
  store_memo: ({ topic, remark }) => {
    writeFileSync(`${seed}/memo-${encodeURIComponent(topic).slice(0, 80)}`, remark);
    return 'stored';
  },
  file_memo: ({ topic, remark }) => {
    const path = `${seed}/filed-${encodeURIComponent(topic).slice(0, 80)}`;
    if (existsSync(path)) fail('It is filed already');
    writeFileSync(path, remark);
    return 'filed';
  },
  check_manifest: ({ manifest_file: path }) => {
    if (!path.endsWith('.yaml')) fail('A manifest must be a .yaml file');
    readFileSync(path);
    request('http://manifests.example.com/')
      .on('error', () => undefined)
      .end();
    return 'complete';
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = (result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  if (method === 'initialize')
    answer({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'node', version: '1' },
    });
  else if (method === 'tools/list') answer({ tools: JSON.parse(tools) });
  else if (method === 'tools/call')
    try {
      answer({ content: [{ type: 'text', text: String(BODIES[params.name](params.arguments)) }] });
    } catch (error) {
      answer({ content: [{ type: 'text', text: error.message }], isError: true });
    }
  else
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } })}\n`,
    );
}
