import type { ReactNode } from 'react';
import { HostileText } from './hostile-text.tsx';

interface BeforeAfterProps {
  /** Such as `inputSchema.properties.path`; empty for the whole. */
  readonly path: string;
  /** JSON texts. Undefined: there was or is no such member. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** They are plain texts. */
  readonly isText?: boolean;
}

/** One change of a definition. What differs within a text is marked. */
export function BeforeAfter({ path, before, after, isText = false }: BeforeAfterProps): ReactNode {
  const [was, is] = isText ? [before, after] : [shown(before), shown(after)];
  // Within a number or an object, half a value marked says less than all of it.
  const isMarkedWithin = isText || (isTextual(before) && isTextual(after));
  const { start, end } = isMarkedWithin ? common(was ?? '', is ?? '') : NOTHING_IN_COMMON;
  return (
    <div className="change">
      <code className="path">
        <HostileText text={path === '' ? 'definition' : path} />
      </code>
      <div className="sides">
        <Side label="Before" text={was} start={start} end={end} />
        <Side label="After" text={is} start={start} end={end} />
      </div>
    </div>
  );
}

interface SideProps {
  readonly label: 'Before' | 'After';
  readonly text: string | undefined;
  readonly start: number;
  readonly end: number;
}

function Side({ label, text, start, end }: SideProps): ReactNode {
  return (
    <div className="side" data-side={label}>
      <div className="quiet small">{label}</div>
      {text === undefined ? (
        <p className="quiet">{label === 'Before' ? 'Not there' : 'Removed'}</p>
      ) : (
        <pre className="arguments" tabIndex={0} aria-label={label}>
          <HostileText text={text.slice(0, start)} />
          <mark>
            <HostileText text={text.slice(start, text.length - end)} />
          </mark>
          <HostileText text={text.slice(text.length - end)} />
        </pre>
      )}
    </div>
  );
}

const NOTHING_IN_COMMON = { start: 0, end: 0 } as const;

function isTextual(json: string | undefined): boolean {
  return json?.startsWith('"') === true;
}

/** A JSON string as its text, anything else indented. */
function shown(json: string | undefined): string | undefined {
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  } catch {
    return json;
  }
}

/** How many characters two texts share at the start and at the end, without splitting a surrogate pair. */
function common(one: string, other: string): { readonly start: number; readonly end: number } {
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  if (start > 0 && isHighSurrogate(one.charCodeAt(start - 1))) start -= 1;
  let end = 0;
  while (end < most - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  if (end > 0 && isLowSurrogate(one.charCodeAt(one.length - end))) end -= 1;
  return { start, end };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
