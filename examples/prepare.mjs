import { mkdirSync, writeFileSync } from 'node:fs';

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
