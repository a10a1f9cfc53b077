// Times each page of a list beside the same bytes from a plain server, one request at a time.
import { Pool } from 'undici';
import type { PagesJob, PagesOutcome } from './load-jobs.ts';
import { messageOf, outgoing } from './messages.ts';
import { askForPage } from './session.ts';

export async function pagesForJob(job: PagesJob): Promise<PagesOutcome> {
  const { origin, pathname } = new URL(job.endpoint);
  const gateway = new Pool(origin, { connections: 1 });
  const plain = new Pool(job.plainOrigin, { connections: 1 });
  const listedMs: number[] = [];
  const plainMs: number[] = [];
  try {
    for (let pass = 0; pass < job.passes; pass += 1) {
      let cursor: string | undefined;
      let page = 0;
      do {
        const message = outgoing(askForPage(cursor));
        const path = `/${String(page)}`;
        // The second request finds warmer caches, so the order alternates.
        const plainFirst = (pass + page) % 2 === 0;
        if (plainFirst) plainMs.push((await timed(plain, path, message)).tookMs);
        const listed = await timed(gateway, pathname, message);
        if (!plainFirst) plainMs.push((await timed(plain, path, message)).tookMs);
        listedMs.push(listed.tookMs);
        cursor = nextCursorOf(listed.body);
        page += 1;
      } while (cursor !== undefined);
    }
  } finally {
    await Promise.all([gateway.destroy(), plain.destroy()]);
  }
  return { listedMs, plainMs };
}

async function timed(
  pool: Pool,
  path: string,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
): Promise<{ tookMs: number; body: Buffer }> {
  const startedMs = performance.now();
  const { headers, body } = message;
  const response = await pool.request({ path, method: 'POST', headers, body });
  const chunks: Buffer[] = [];
  for await (const chunk of response.body) chunks.push(chunk as Buffer);
  const tookMs = performance.now() - startedMs;
  if (response.statusCode !== 200) throw new Error(`status ${String(response.statusCode)}`);
  return { tookMs, body: Buffer.concat(chunks) };
}

function nextCursorOf(body: Buffer): string | undefined {
  const said = messageOf(body.toString()) as { result?: { nextCursor?: string } };
  return said.result?.nextCursor;
}
