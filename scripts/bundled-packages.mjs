import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The packages that a build takes in: their licenses, and a list for the SBOM. */
export class BundledPackages {
  #names = new Set();

  /** For rolldown. The licenses of bundled packages ask for their texts in each copy. */
  banner = ({ moduleIds }) => {
    const folders = moduleIds.map((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0]);
    return [...new Set(folders)]
      .filter((folder) => folder !== undefined)
      .map((folder) => this.#licenseOf(folder))
      .join('\n');
  };

  /** A package of which the build copies files, and their licenses. */
  addCopied(folder) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    this.#names.add(`${name}@${version}`);
    return { name, version, license };
  }

  /** Those of vite, which writes their licenses into this file itself. */
  addLicensesFile(path) {
    for (const { name, version } of JSON.parse(readFileSync(path, 'utf8')))
      this.#names.add(`${name}@${version}`);
  }

  /** For `npm run release`: `name@version` of each. */
  write(path) {
    writeFileSync(path, `${JSON.stringify([...this.#names].sort(), undefined, 2)}\n`);
  }

  #licenseOf(folder) {
    const { name, version, license } = this.addCopied(folder);
    const file = readdirSync(folder).find((one) => /^licen[cs]e(?:\.|$)/i.test(one));
    const text = file === undefined ? license : readFileSync(join(folder, file), 'utf8');
    return `/*! ${name} ${version}\n${text.replaceAll('*/', '* /')}*/`;
  }
}
