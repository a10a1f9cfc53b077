import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [main, home, config, withoutSandbox] = ['../dist/main.js', 'home', 'mcp.json', 'home/mcp.json'].map(
  (path) => fileURLToPath(new URL(path, import.meta.url)),
);
const check = spawnSync(process.execPath, [main, 'sandbox', 'check', '--json'], { encoding: 'utf8' });
const { canEnforce, reason, remedy } = JSON.parse(check.stdout);
if (!canEnforce) {
  const { mcpServers } = JSON.parse(
    readFileSync(config, 'utf8').replaceAll('${configDir}', '${configDir}/..'),
  );
  delete mcpServers.filesystem.sandbox;
  mkdirSync(home, { recursive: true });
  writeFileSync(withoutSandbox, JSON.stringify({ mcpServers }, undefined, 2));
  process.stderr.write(`"filesystem" runs without the sandbox of examples/mcp.json: ${reason}. ${remedy}\n`);
}

// What is given after `npm start --` comes last, and so wins.
const options = ['--config', canEnforce ? config : withoutSandbox, '--home', home, ...process.argv.slice(2)];
process.argv.splice(1, Infinity, main, 'serve', ...options);
await import(main);
