// The everything server on its own: `main.ts [--era=both|legacy|modern] [--port=0]`. Prints its URL on stdout.
import { parseArgs } from 'node:util';
import { isEraChoice, serveEverything } from './serve-everything.ts';

const { values } = parseArgs({
  options: { era: { type: 'string', default: 'both' }, port: { type: 'string', default: '0' } },
});
if (!isEraChoice(values.era)) throw new Error(`"${values.era}" is none of both, legacy and modern.`);
const server = await serveEverything({ era: values.era, port: Number(values.port) });
process.stdout.write(`${server.url}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    void server.close().finally(() => process.exit(0));
  });
