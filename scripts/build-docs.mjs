// npm run docs [-- --root FOLDER] [-- --out FOLDER]: builds the documentation site, and fails if a link leads nowhere.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSite } from './docs-site.mjs';

const { values } = parseArgs({ options: { root: { type: 'string' }, out: { type: 'string' } } });
const root = resolve(values.root ?? join(import.meta.dirname, '..'));
const out = resolve(values.out ?? join(root, 'site'));

// In a workflow of GitHub; elsewhere, source files are named without a link.
const { pages, faults } = buildSite(root, { repository: process.env.GITHUB_REPOSITORY });
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`${faults.length} links lead nowhere, so no site was written.`);
  process.exit(1);
}
rmSync(out, { recursive: true, force: true });
for (const [path, html] of pages) {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), html);
}
copyFileSync(join(import.meta.dirname, 'docs-site.css'), join(out, 'style.css'));
// Pages of GitHub are not processed further.
writeFileSync(join(out, '.nojekyll'), '');
console.log(`${pages.size} pages in ${out}`);
