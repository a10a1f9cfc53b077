// Run as an ordinary user: tries to reach the sockets in argv from an observed server, and prints the results as JSON.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { observed } from './observed.ts';

const code = `const net = require('net'), fs = require('fs');
const reach = (path) => new Promise((resolve) => {
  if (path.endsWith('.fifo'))
    return fs.open(path, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK, (error) => resolve(error?.code ?? 'reached'));
  const socket = net.connect(path, () => { socket.end('x'); resolve('reached'); });
  socket.on('error', ({ code }) => resolve(code));
});
const own = net.createServer().listen('/tmp/own.sock', async () => {
  const found = {};
  for (const path of ['/tmp/own.sock', ...${JSON.stringify(process.argv.slice(2))}]) found[path] = await reach(path);
  console.log(JSON.stringify(found));
  process.exit();
});`;
const cwd = mkdtempSync(join(tmpdir(), 'assay-test-'));
const { stdout, stderr, observation } = await observed(cwd, code);
const tried = observation.events.flatMap((event) =>
  event.kind === 'connect' && event.address.family === 'unix' ? [event.address.path] : [],
);
console.log(JSON.stringify({ reached: JSON.parse(stdout || 'null') as unknown, tried, stderr }));
