import type { ContentComparison } from '@assay-mcp/sandbox/observation';

// A pair of contents on its way to the process that compares them: their sizes, then the two.

export const TASK_HEADER_BYTES = 8;

export function encodeTask(before: Buffer, after: Buffer): readonly Buffer[] {
  const header = Buffer.alloc(TASK_HEADER_BYTES);
  header.writeUInt32LE(before.length, 0);
  header.writeUInt32LE(after.length, 4);
  return [header, before, after];
}

export function readTaskSizes(header: Buffer): { readonly before: number; readonly after: number } {
  return { before: header.readUInt32LE(0), after: header.readUInt32LE(4) };
}

/** What needs no structure: everything is still there, byte for byte. */
export function compareAsAppended(before: Buffer, after: Buffer): ContentComparison | undefined {
  return after.subarray(0, before.length).equals(before)
    ? { format: 'bytes', isAdditive: true, isTimestamps: false }
    : undefined;
}
