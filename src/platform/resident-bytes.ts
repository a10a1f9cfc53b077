import { readFile } from 'node:fs/promises';

const PAGE_BYTES = 4096;

/** Memory that a process occupies; undefined where the system does not tell (Linux alone does, in proc_pid_statm(5)). */
export async function residentBytes(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => undefined);
  const pages = Number(text?.split(' ')[1]);
  return Number.isNaN(pages) ? undefined : pages * PAGE_BYTES;
}
