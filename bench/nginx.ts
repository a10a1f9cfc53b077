import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

export interface NginxFiles {
  /** Where the configuration has to be written. */
  readonly config: string;
  /** How it starts, up to and into the `http` block, so that nginx writes to this folder only. */
  readonly start: string;
}

/** Creates the folder of an nginx that runs as a single process. */
export function prepareNginx(folder: string): NginxFiles {
  mkdirSync(folder, { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `  ${kind}_temp_path ${folder}/${kind};`,
  );
  const start = [
    'daemon off;',
    'master_process off;',
    `pid ${folder}/pid;`,
    'events { worker_connections 1024; }',
    'http {',
    '  access_log off;',
    ...temporary,
  ];
  return { config: join(folder, 'nginx.conf'), start: start.join('\n') };
}
