import { LARGE_MESSAGE, readClientMessage, type RequestMessage } from './message.ts';
import { buildPlan } from './plan.ts';
import { scanObject } from './scan.ts';
import { findMember, isNull, readRawValue, readJsonString } from './spans.ts';
import { holdsOnly, splice } from './splice.ts';
import { OPEN_BRACE } from './tokens.ts';

const INNER_PLAN = buildPlan({ name: {}, arguments: {} });

/** The `tools/call` that the arguments of another one describe: `{"name": …, "arguments": {…}}`. */
export interface InnerCall {
  readonly name: string;
  /** The same message, calling the inner tool by this name. Its arguments are copied byte for byte. */
  readonly messageFor: (name: string) => RequestMessage;
}

/** Undefined if the arguments describe no call or have other members, or the message is larger than `LARGE_MESSAGE`. */
export function findInnerCall(message: RequestMessage): InnerCall | undefined {
  const { bytes, params } = message;
  const outerName = findMember(params, 'name');
  const outer = findMember(params, 'arguments');
  if (outerName === undefined || outer === undefined || bytes.length > LARGE_MESSAGE) return undefined;
  const text = bytes.subarray(outer.start, outer.end);
  const scan = scanObject(text, { plan: INNER_PLAN, strict: true, refusesTwice: true });
  // With `args` instead of `arguments`, the tool would run without its arguments.
  if (!scan.ok || !holdsOnly(scan.value, () => true)) return undefined;
  const name = readJsonString(text, findMember(scan.value, 'name'));
  const given = findMember(scan.value, 'arguments');
  const inner = given !== undefined && isNull(text, given) ? undefined : given;
  if (name === undefined || (inner !== undefined && text[inner.start] !== OPEN_BRACE)) return undefined;
  const innerText = inner === undefined ? '{}' : readRawValue(text, inner);
  return {
    name,
    messageFor: (called) => {
      const changed = splice(bytes, [
        { start: outerName.start, end: outerName.end, text: JSON.stringify(called) },
        { start: outer.start, end: outer.end, text: innerText },
      ]);
      const read = readClientMessage(changed);
      if (read.kind !== 'request') throw new Error('the inner call is not a request');
      return read;
    },
  };
}
