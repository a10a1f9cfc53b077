import { readFile } from 'node:fs/promises';

const PAGE_BYTES = 4096;

/** Resident memory of a process; undefined on systems other than Linux, see proc_pid_statm(5). */
export async function measureResidentBytes(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => undefined);
  const pages = Number(text?.split(' ')[1]);
  return Number.isNaN(pages) ? undefined : pages * PAGE_BYTES;
}
