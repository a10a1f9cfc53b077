// The client under test of the suite's client scenarios: Assay, with the suite's server behind it, driven by the
// official client. The suite runs `client.ts URL` and names the scenario in the environment.
import { SLOTS_PORT, takeSlot } from './slots.ts';

const { env } = process;

await takeSlot(env[SLOTS_PORT]);
// Loaded only now: all scenarios start at once, and waiting ones should cost little.
const name = env['MCP_CONFORMANCE_SCENARIO'] ?? '';
if (name.startsWith('auth/')) await import('./auth-client.ts');
else {
  const { driveAssay } = await import('./drive-assay.ts');
  await driveAssay({
    name,
    version: env['MCP_CONFORMANCE_PROTOCOL_VERSION'] ?? '',
    context: JSON.parse(env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as unknown,
    url: process.argv.at(-1) ?? '',
  });
}
