import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { readBytesWithinNow, readTextWithinNow } from '@assay-mcp/kit/platform/bounded-file';
import { MAX_STUDY_BYTES, readStudy, type Study } from '../../core/hints/study.ts';

/** The verdicts that ship with Assay, or those in the home, if they are not older. Undefined if there are none. */
export function loadStudy(home: string, from: string = import.meta.dirname): Study | undefined {
  const own = readTextWithinNow(join(home, STUDY_FILE), MAX_STUDY_BYTES);
  const [newer, shipped] = [own.ok ? readStudy(own.value) : undefined, readShipped(from)];
  if (newer === undefined || shipped === undefined) return newer ?? shipped;
  return newer.atMs >= shipped.atMs ? newer : shipped;
}

const STUDY_FILE = 'verdicts.json';

function readShipped(folder: string): Study | undefined {
  const packed = readBytesWithinNow(join(folder, `${STUDY_FILE}.br`), MAX_STUDY_BYTES);
  if (!packed.ok) return undefined;
  const text = brotliDecompressSync(packed.value.bytes, { maxOutputLength: MAX_STUDY_BYTES });
  return readStudy(text.toString('utf8'));
}
