/** How many times as long CI waits, since others use its machine too. */
const PATIENCE = process.env['CI'] === 'true' ? 3 : 1;

/** A wait that only a machine's lateness makes long, in ms: on a desk as it is given. */
export function patient(ms: number): number {
  return ms * PATIENCE;
}
