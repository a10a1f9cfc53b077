import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const scratch = new URL('scratch/', import.meta.url);
const welcome =
  'The filesystem server of examples/mcp.json reads and writes in this folder, and nowhere else.\n';

mkdirSync(scratch, { recursive: true });
try {
  // wx: what somebody, or some model, made of this file stays.
  writeFileSync(new URL('welcome.txt', scratch), welcome, { flag: 'wx' });
} catch (error) {
  if (error.code !== 'EEXIST') throw error;
}

// A home of its own, so that trying the examples changes nothing of yours; and no database of yours is touched. What was
// made of its toolsets stays.
const home = fileURLToPath(new URL('home', import.meta.url));
if (!existsSync(`${home}/assay.db`) && process.env.ASSAY_DATABASE_URL === undefined) {
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
  const [config, toolsets] = ['mcp.json', 'toolsets.json'].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const args = ['import', toolsets, '--apply', '--home', home, '--config', config];
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  if (status !== 0) {
    process.stderr.write(stderr);
    process.exitCode = 1;
  }
}
