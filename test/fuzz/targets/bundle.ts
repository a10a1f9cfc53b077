import assert from 'node:assert/strict';
import { toBundleJson } from '../../../packages/gateway/src/core/bundle/bundle.ts';
import { type BundleFile, readBundle } from '../../../packages/gateway/src/core/bundle/read-bundle.ts';
import { jsonOf } from '../readers.ts';

/** A bundle is refused with its faults, or its serialized form reads as the same bundle. */
export function fuzz(bytes: Buffer): void {
  const read = readBundle(jsonOf(bytes), 0);
  if (!read.ok) {
    assert.ok(read.error.length > 0);
    return;
  }
  const written = writtenOf(read.value);
  const again = readBundle(written, 0);
  assert.ok(again.ok, 'what was read is written as a bundle');
  assert.deepEqual(writtenOf(again.value), written);
}

function writtenOf({ records, sealed }: BundleFile): unknown {
  return JSON.parse(JSON.stringify(toBundleJson(records, { exportedMs: 0, sealed })));
}
