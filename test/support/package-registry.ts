import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cleanEnv } from './assay.ts';
import type { JsonObject } from './json.ts';
import { tempDir } from './paths.ts';
import { serveWeb } from './web-server.ts';

/** A registry of npm that has one package. */
export interface PackageRegistry {
  /** Variables for npm, and for programs that start it. */
  readonly env: NodeJS.ProcessEnv;
  /** `sha512-` and the digest of its tarball. */
  readonly integrity: string;
  /** The paths that were requested. */
  readonly requests: readonly string[];
}

/** Serves a package with these files over loopback. `more`: further members of its package.json. */
export async function servePackage(
  name: string,
  version: string,
  files: Readonly<Record<string, string>>,
  more: JsonObject = {},
): Promise<PackageRegistry> {
  const npm = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    npm_config_cache: tempDir(),
    npm_config_update_notifier: 'false',
  };
  const manifest = { name, version, type: 'module', ...more };
  const source = tempDir();
  for (const [path, text] of Object.entries({ ...files, 'package.json': JSON.stringify(manifest) })) {
    mkdirSync(dirname(join(source, path)), { recursive: true });
    writeFileSync(join(source, path), text);
  }
  const packed = tempDir();
  await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], {
    cwd: source,
    env: cleanEnv(npm),
  });
  const [file = ''] = readdirSync(packed);
  const tarball = readFileSync(join(packed, file));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const requests: string[] = [];
  const port = await serveWeb(({ url = '' }, response) => {
    requests.push(url);
    if (url === `/${name}`)
      response.end(
        JSON.stringify({
          name,
          'dist-tags': { latest: version },
          versions: { [version]: { ...manifest, dist: { tarball: `${registry}${file}`, integrity } } },
        }),
      );
    else if (url === `/${file}`) response.end(tarball);
    else response.writeHead(404).end('{}');
  });
  const registry = `http://127.0.0.1:${port}/`;
  return { env: cleanEnv({ ...npm, npm_config_registry: registry }), integrity, requests };
}
