import assert from 'node:assert/strict';
import { toBundleJson } from '../../../src/core/bundle/bundle-json.ts';
import { readBundle } from '../../../src/core/bundle/read-bundle.ts';
import { jsonOf } from '../readers.ts';

/** A bundle is refused with its faults, or its serialized form reads as the same bundle. */
export function fuzz(bytes: Buffer): void {
  const read = readBundle(jsonOf(bytes));
  if (!read.ok) {
    assert.ok(read.error.length > 0);
    return;
  }
  const written: unknown = JSON.parse(
    JSON.stringify(toBundleJson(read.value, { exportedMs: 0, sealed: read.value.sealed })),
  );
  const again = readBundle(written);
  assert.ok(again.ok, 'what was read is written as a bundle');
  assert.deepEqual(
    JSON.parse(JSON.stringify(toBundleJson(again.value, { exportedMs: 0, sealed: again.value.sealed }))),
    written,
  );
}
