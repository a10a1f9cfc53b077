// Loaded into a program with `--import`: at SIGUSR2 it writes the longest turn of the event loop since the last signal,
// as CPU time in ms, to the file named by TURN_PROBE.
import { writeFileSync } from 'node:fs';

const file = process.env['TURN_PROBE'] ?? '/dev/null';
let longestMs = 0;
let before = process.threadCpuUsage();

function look(): void {
  const { user, system } = process.threadCpuUsage(before);
  before = process.threadCpuUsage();
  longestMs = Math.max(longestMs, (user + system) / 1_000);
  setImmediate(look).unref();
}

process.on('SIGUSR2', () => {
  writeFileSync(file, String(longestMs));
  longestMs = 0;
});
setImmediate(look).unref();
// An unreferenced immediate does not run while the loop sleeps; this wakes it.
setInterval(() => undefined, 5).unref();
