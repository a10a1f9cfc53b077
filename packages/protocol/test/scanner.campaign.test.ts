import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALL_MEMBERS, buildPlan } from '../src/plan.ts';
import { ObjectScan, scanObject, type Scan } from '../src/scan.ts';
import { readRawValue } from '../src/spans.ts';
import { isObject, parseJson, type Json } from '../../../test/support/json.ts';
import { harmedObject, objectText } from '../../../test/support/json-texts.ts';
import { rounds } from '../../../test/support/campaign.ts';

const RUNS = { numRuns: rounds({ short: 300, long: 10_000 }) };
const PLAN = buildPlan({ a: { a: { a: {} }, id: {} }, b: {}, id: {} });

function scanned(bytes: Buffer, strict: boolean): Scan {
  return scanObject(bytes, { plan: PLAN, strict });
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isJsonObject(bytes: Buffer): boolean {
  return isUtf8(bytes) && isObject(parsed(bytes.toString()));
}

/** The text with the contents of its strings removed. */
function skeleton(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/"(?:\\[^]|[^"\\])*"/g, '""');
}

describe('a strict scan', () => {
  it('accepts exactly the objects that JSON.parse accepts', () => {
    fc.assert(
      fc.property(harmedObject, (bytes) => {
        expect(scanned(bytes, true).ok).toBe(isJsonObject(bytes));
      }),
      RUNS,
    );
  });

  it('yields members whose bytes are what JSON.parse finds under their keys', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const bytes = Buffer.from(text);
        const scan = scanObject(bytes, { plan: ALL_MEMBERS, strict: true });
        const members = scan.ok ? scan.value.members : [];
        const values = members.map((member) => [member.key, parseJson(readRawValue(bytes, member))] as const);
        expect(Object.fromEntries(values)).toEqual(parseJson(text));
        expect(members.map(({ keyStart }) => bytes[keyStart])).toEqual(members.map(() => 0x22));
      }),
      RUNS,
    );
  });
});

describe('a scan in steps', () => {
  const inSteps = (bytes: Buffer, strict: boolean, step: number): Scan => {
    const scan = new ObjectScan(bytes, { plan: PLAN, strict, refusesTwice: true }, true);
    for (;;) {
      const found = scan.step(step);
      if (found !== undefined) return found;
    }
  };

  it('has the same result as an uninterrupted one, however small the steps are', () => {
    const step = fc.constantFrom(1, 2, 7, 40);
    const long = fc.constantFrom('', 'x'.repeat(40), '\\"'.repeat(30), '\\\\'.repeat(20), 'é'.repeat(40));
    fc.assert(
      fc.property(harmedObject, long, step, fc.boolean(), (harmed, text, size, strict) => {
        const bytes = Buffer.concat([Buffer.from(`{"long":"${text}","b":`), harmed, Buffer.from('}')]);
        const whole = scanObject(bytes, { plan: PLAN, strict, refusesTwice: true });
        const steps = inSteps(bytes, strict, size);
        // A scan in steps no longer knows where an unterminated string began.
        const { offset } = steps.ok ? { offset: 0 } : steps.fault;
        expect(steps).toEqual(
          !whole.ok && whole.fault.reason === 'a string does not end'
            ? { ...whole, fault: { ...whole.fault, offset } }
            : whole,
        );
      }),
      RUNS,
    );
  });

  it('pauses inside a long string and continues there, wherever an escape is', () => {
    for (const strict of [true, false])
      for (let before = 0; before < 40; before += 1) {
        const text = `{"a":"${'x'.repeat(16_384 * 2 + before)}\\"${'\\"'.repeat(20_000)}","b":[1,{"c":2}]}`;
        expect([before, inSteps(Buffer.from(text), strict, 5_000 + before).ok]).toEqual([before, true]);
      }
  });
});

describe('a listed member', () => {
  it('is one that the plan names, with its position among the others', () => {
    const text = '{"x":0,"id":1,"y":[{"id":2}],"z":3,"a":{"q":1,"id":{}},"w":{}}';
    const scan = scanObject(Buffer.from(text), { plan: PLAN, strict: true });
    expect(scan.ok && scan.value).toEqual({
      start: 0,
      end: text.length,
      size: 6,
      members: [
        {
          key: 'id',
          keyStart: 7,
          start: 12,
          end: 13,
          object: undefined,
          index: 1,
          previousEnd: 6,
          nextStart: 14,
        },
        {
          key: 'a',
          keyStart: 35,
          start: 39,
          end: 54,
          index: 4,
          previousEnd: 34,
          nextStart: 55,
          object: {
            start: 39,
            end: 54,
            size: 2,
            members: [
              {
                key: 'id',
                keyStart: 46,
                start: 51,
                end: 53,
                object: undefined,
                index: 1,
                previousEnd: 45,
                nextStart: -1,
              },
            ],
          },
        },
      ],
    });
  });
});

describe('a lenient scan', () => {
  it('accepts what a strict one does, with the same spans', () => {
    fc.assert(
      fc.property(harmedObject, (bytes) => {
        const [strict, lenient] = [scanned(bytes, true), scanned(bytes, false)];
        if (strict.ok) expect(lenient).toEqual({ ...strict, isProven: expect.any(Boolean) });
      }),
      RUNS,
    );
  });

  it('accepts nothing that is invalid outside of strings', () => {
    fc.assert(
      fc.property(harmedObject, (bytes) => {
        if (scanned(bytes, false).ok) expect(parsed(skeleton(bytes))).toBeDefined();
      }),
      RUNS,
    );
  });

  it('marks only JSON as proven, apart from its encoding', () => {
    fc.assert(
      fc.property(harmedObject, (bytes) => {
        const scan = scanned(bytes, false);
        if (scan.ok && scan.isProven && isUtf8(bytes)) expect(isJsonObject(bytes)).toBe(true);
      }),
      RUNS,
    );
  });

  const check = (text: string, expected: { readonly strict: boolean; readonly lenient: boolean }): void => {
    const bytes = Buffer.from(text);
    expect({ strict: scanned(bytes, true).ok, lenient: scanned(bytes, false).ok }).toEqual(expected);
  };

  it('validates short strings, and searches long ones only for their end', () => {
    const [short, long] = ['x'.repeat(31), 'x'.repeat(32)];
    check(`{"a":"${short}\n"}`, { strict: false, lenient: false });
    check(`{"a":"${long}\n"}`, { strict: false, lenient: true });
    check(`{"a":"${long}\\x"}`, { strict: false, lenient: true });
    check(`{"a":"${long}\\u12"}`, { strict: false, lenient: true });
    check(`{"a":"${long}\\""}`, { strict: true, lenient: true });
    check(`{"a":"${long}\\"}`, { strict: false, lenient: false });
    check(`{"a":"${long}\\\\"}`, { strict: true, lenient: true });
    check(`{"a":"${long}\\\\\\"}`, { strict: false, lenient: false });
    check(`{"a":"${long}`, { strict: false, lenient: false });
  });

  it('finds the end of a string with backslashes at any position', () => {
    for (let before = 0; before < 72; before += 1) {
      check(`{"a":"${'x'.repeat(before)}\\","b":1}`, { strict: false, lenient: false });
      check(`{"a":"${'x'.repeat(before)}\\"","b":1}`, { strict: true, lenient: true });
      check(`{"a":"${'x'.repeat(before)}\\\\","b":1}`, { strict: true, lenient: true });
    }
  });

  it('finds the end of a string searched in several pieces, wherever one ends', () => {
    const quoted = `${'x'.repeat(32)}\\"`;
    for (const pieces of [1, 2]) {
      for (let past = -4; past <= 4; past += 1) {
        const start = `${quoted}${'x'.repeat(pieces * 16_384 + past)}`;
        check(`{"a":"${start}\\","b":1}`, { strict: false, lenient: false });
        check(`{"a":"${start}\\"","b":1}`, { strict: true, lenient: true });
        check(`{"a":"${start}\\\\","b":1}`, { strict: true, lenient: true });
        check(`{"a":"${start}`, { strict: false, lenient: false });
      }
    }
  });
});

describe('a byte inside a long string', () => {
  it('is refused by a strict scan exactly if JSON.parse refuses it, at every position in a word', () => {
    for (let byte = 0; byte < 0x80; byte += 1) {
      for (let place = 0; place < 8; place += 1) {
        const text = `{"a":"${'é'.repeat(20)}${'x'.repeat(place)}${String.fromCharCode(byte)}xxxxxxx"}`;
        expect([byte, place, scanned(Buffer.from(text), true).ok]).toEqual([
          byte,
          place,
          parsed(text) !== undefined,
        ]);
      }
    }
  });
});

describe('faults', () => {
  const check = (text: string, reason: string, offset: number, isJson = false): void => {
    const scan = scanObject(Buffer.from(text, 'latin1'), { plan: PLAN, strict: true, refusesTwice: true });
    expect(scan).toMatchObject({ ok: false, fault: { reason, isJson, offset } });
  };

  it('name the error and its byte offset', () => {
    check('', 'not a JSON object', 0);
    check(' []', 'not a JSON object', 1, true);
    check(' [', 'not a JSON object', 1);
    check('{', 'expected a member name in quotes', 1);
    check('{"a"', 'expected ":"', 4);
    check('{"a":', 'expected a JSON value', 5);
    check('{"a":1', 'expected "," or "}"', 6);
    check('{"a":1,}', 'expected a member name in quotes', 7);
    check('{a:1}', 'expected a member name in quotes', 1);
    check('{"a":01}', 'expected a JSON value', 5);
    check('{"a":[1 2]}', 'expected "," or the end of the object or array', 8);
    check('{"a":[1}', 'expected "," or the end of the object or array', 7);
    check('{"a":"\\x"}', 'a bad escape in a string', 6);
    check('{"a":"\t"}', 'a control character inside a string', 6);
    check('{"a":"x', 'a string does not end', 6);
    check('{} {}', 'text after the end of the JSON value', 3);
    check('{"a":"\xe9"}', 'not UTF-8', 0);
  });

  it('include a duplicate planned key, which is JSON but refused, however it is spelled', () => {
    check('{"id":1,"id":1}', 'the member "id" occurs twice', 8, true);
    check('{"id":1,"i\\u0064":1}', 'the member "id" occurs twice', 8, true);
    check('{"a":{"a":{"a":1,"a":2}}}', 'the member "a" occurs twice', 17, true);
  });

  it('include a planned key in another case, even alone, as readers that ignore case take it for the planned one', () => {
    const check1 = (text: string, offset: number): void => {
      const key = parseJson(/"(?:[^"\\]|\\.)*"(?=:1})/.exec(text)?.[0] ?? '');
      const reason = `the member ${JSON.stringify(key)} is read as "kids" by readers that ignore case`;
      const scan = scanObject(Buffer.from(text), {
        plan: buildPlan({ kids: {} }),
        strict: true,
        refusesTwice: true,
      });
      expect(scan).toMatchObject({ ok: false, fault: { reason, isJson: true, offset } });
    };
    for (const key of [
      'KIDS',
      'Kids',
      'kidS',
      '\\u004bids',
      'kid\u017f',
      '\u212aids',
      'kid\\u017F',
      '\\u212Aid\\u017f',
    ])
      check1(`{"${key}":1}`, 1);
    check1('{"kids":1,"x":2,"kidS":1}', 16);
  });

  it('do not include a key that only looks like a planned one', () => {
    const accepts = (key: string): boolean =>
      scanObject(Buffer.from(`{"_kid":1,"${key}":1}`), {
        plan: buildPlan({ _kid: {} }),
        strict: true,
        refusesTwice: true,
      }).ok;
    for (const key of [
      '_kids',
      '_ki',
      '\u007fkid',
      '_k\u0131d',
      '_k\u0130d',
      '_к',
      '_kid ',
      '\\u005f',
      '😀',
      '_\\ud83d',
    ])
      expect([key, accepts(key)]).toEqual([key, true]);
  });

  it('do not include duplicates of other keys, nor of planned ones if allowed', () => {
    const accepts = (text: string, refusesTwice: boolean): boolean =>
      scanObject(Buffer.from(text), { plan: PLAN, strict: true, refusesTwice }).ok;
    expect(accepts('{"x":1,"x":2,"b":{"id":1,"id":2},"a":[{"id":1,"id":2}]}', true)).toBe(true);
    expect(accepts('{"id":1,"id":2}', false)).toBe(true);
  });
});

describe('depth', () => {
  const nested = (depth: number, [open, inner, close]: readonly [string, string, string]): Buffer =>
    Buffer.from(`{"x":${open.repeat(depth - 1)}${inner}${close.repeat(depth - 1)}}`);
  const TOO_DEEP = { reason: 'nested more than 256 deep', isJson: true, offset: expect.any(Number) };
  const check = (bytes: Buffer, isAccepted: boolean): void => {
    for (const strict of [true, false]) {
      const scan = scanned(bytes, strict);
      expect(scan.ok ? 'accepted' : scan.fault).toEqual(isAccepted ? 'accepted' : TOO_DEEP);
    }
  };

  it('is at most 256, counting the outermost object', () => {
    check(nested(256, ['[', '1', ']']), true);
    check(nested(257, ['[', '1', ']']), false);
    check(nested(256, ['{"a":', '1', '}']), true);
    check(nested(257, ['{"a":', '1', '}']), false);
    check(nested(100_000, ['[', '1', ']']), false);
  });

  it('counts an empty object or array as one level, like any other', () => {
    check(nested(257, ['[', '', ']']), false);
  });

  it('measures nesting, not the number of earlier objects', () => {
    check(Buffer.from(`{"x":[${Array(1000).fill('[[{}]],{"a":{"a":[1]}}').join(',')}]}`), true);
  });
});
