// Run as an ordinary user: one observation as JSON.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changesIn, observed } from './observed.ts';

const cwd = mkdtempSync(join(tmpdir(), 'assay-test-'));
for (const name of ['kept', 'gone']) writeFileSync(join(cwd, name), `${name}\n`);
const { observation, stdout, stderr } = await observed(
  cwd,
  `const fs = require('fs');
  fs.writeFileSync('new', 'x'); fs.appendFileSync('kept', 'more'); fs.unlinkSync('gone');
  fs.writeFileSync('/tmp/t', 'x'); fs.unlinkSync('/tmp/t');
  fs.readFileSync(process.env.HOME + '/.ssh/id_rsa');
  let failure; try { fs.writeFileSync('/var/tmp/../x', ''); } catch (error) { failure = error.code; }
  fetch('http://example.test/path').finally(() => console.log(JSON.stringify([process.getuid(), failure])));`,
);
console.log(
  JSON.stringify({
    seen: stdout.trim(),
    stderr,
    mechanisms: observation.mechanisms,
    changes: changesIn(cwd, observation),
    events: observation.events.map(({ kind }) => kind),
    network: observation.network.map(({ kind }) => kind),
    incomplete: observation.incomplete,
  }),
);
