import type { Cause } from '../../core/cause.ts';
import type { SealedSecret } from '../../core/record.ts';
import { computeOriginIdentity } from '../../core/server-identity.ts';
import {
  type EntryReference,
  formatReferenceMember,
  type ValueReference,
} from '../../core/secrets/value-reference.ts';
import { listHeaderSecrets, listVariableSecrets } from '../../core/secrets/secret-values.ts';
import { isHeaderName, isHeaderValue, isProtocolHeader } from '../../core/sources/http-header.ts';
import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import type { ServerSpec, Transport } from '../../core/server-spec.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { readTextWithin } from '@assay-mcp/kit/platform/bounded-file';
import { TokenBucket } from '@assay-mcp/kit/token-bucket';
import { MAX_VALUE_BYTES, printValue } from './print-value.ts';

export interface ResolverOptions {
  /** The stored secret. Undefined if there is none. The error is the end of a sentence. */
  readonly findSecret: (name: string) => Promise<Result<SealedSecret | undefined, string>>;
  /** The value of a stored secret. The error is the end of a sentence. */
  readonly open: (name: string, secret: SealedSecret) => Promise<Result<string, string>>;
  /** Masks these values everywhere from now on. */
  readonly learn: (values: readonly string[]) => void;
  /** The folder in which programs start. */
  readonly home: string;
}

/**
 * Reads the values that an entry refers to, when its server is connected. What a program printed is kept until the process
 * ends or the server refuses it; secrets and files are read again each time.
 */
export class ReferenceResolver {
  readonly #options: ResolverOptions;
  readonly #printed = new Map<string, Promise<Result<string, string>>>();
  /** By program with its arguments. */
  readonly #runs = new Map<string, TokenBucket>();

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  /** The same server with its values. Each value is masked from then on. */
  async resolve(spec: ServerSpec): Promise<Result<ServerSpec, Cause>> {
    const { references = [] } = spec;
    if (references.length === 0) return ok(spec);
    const values: ReferenceValue[] = [];
    for (const reference of references) {
      if (reference.member === 'headerCommand') {
        const headers = await this.#printHeaders(reference, spec);
        if (!headers.ok) return headers;
        values.push(...headers.value);
        continue;
      }
      const value = await this.#valueOf(reference, spec);
      if (!value.ok) return value;
      values.push({ reference, value: value.value });
    }
    return ok({ ...spec, transport: replaceValues(spec.transport, values) });
  }

  /** Forgets what programs printed for a server that refused it, so that it is printed again. Returns whether there was any. */
  forget({ references = [] }: ServerSpec): boolean {
    const keys = references.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        typeof part !== 'string' && part.kind === 'command' ? [toKey(part.argv)] : [],
      ),
    );
    return keys.map((key) => this.#mayRunAgain(key) && this.#printed.delete(key)).some(Boolean);
  }

  /** A server that keeps refusing must not make a program run with every call. */
  #mayRunAgain(key: string): boolean {
    const nowMs = performance.now();
    const runs =
      this.#runs.get(key) ?? new TokenBucket({ perSecond: MAX_RUNS / 60, capacity: MAX_RUNS, nowMs });
    this.#runs.set(key, runs);
    return runs.take(nowMs);
  }

  async #printHeaders(
    { parts, ...reference }: EntryReference,
    spec: ServerSpec,
  ): Promise<Result<readonly ReferenceValue[], Cause>> {
    const [command] = parts;
    const member = formatReferenceMember(reference);
    if (command === undefined || typeof command === 'string') return ok([]);
    const printed = await this.#read(command, member, spec);
    if (!printed.ok) return printed;
    const headers = readPrintedHeaders(printed.value);
    if (!headers.ok) {
      this.forget(spec);
      return err({ code: 'VALUE_INVALID', member, reason: headers.error });
    }
    this.#options.learn(headers.value.flatMap(([, value]) => listHeaderSecrets(value)));
    return ok(
      headers.value.map(([name, value]) => ({ reference: { member: 'headers', name, parts: [] }, value })),
    );
  }

  async #valueOf(reference: EntryReference, spec: ServerSpec): Promise<Result<string, Cause>> {
    const { member, parts } = reference;
    const shownMember = formatReferenceMember(reference);
    const texts: string[] = [];
    for (const part of parts) {
      const text = typeof part === 'string' ? ok(part) : await this.#read(part, shownMember, spec);
      if (!text.ok) return text;
      if (typeof part !== 'string') this.#options.learn([text.value]);
      // Whatever a password contains, the URL leads to the same proxy.
      const isInUrl = member === 'proxy' && typeof part !== 'string';
      texts.push(isInUrl ? encodeURIComponent(text.value.toWellFormed()) : text.value);
    }
    const value = texts.join('');
    const fault = findValueFault(member, value);
    if (fault !== undefined) return err({ code: 'VALUE_INVALID', member: shownMember, reason: fault });
    this.#options.learn(member === 'proxy' ? listVariableSecrets(member, value) : [value]);
    return ok(value);
  }

  async #read(reference: ValueReference, member: string, spec: ServerSpec): Promise<Result<string, Cause>> {
    switch (reference.kind) {
      case 'secret':
        return this.#readSecret(reference.name, member, spec);
      case 'file': {
        const text = await readTextWithin(reference.path, MAX_VALUE_BYTES);
        if (text.ok) return ok(withoutLastBreak(text.value));
        return err({ code: 'VALUE_FILE_UNREADABLE', member, path: reference.path, reason: text.error });
      }
      case 'command': {
        const text = await this.#print(reference.argv);
        if (text.ok) return ok(withoutLastBreak(text.value));
        return err({ code: 'VALUE_COMMAND_FAILED', member, program: reference.argv[0], reason: text.error });
      }
    }
  }

  async #readSecret(name: string, member: string, spec: ServerSpec): Promise<Result<string, Cause>> {
    const { findSecret, open } = this.#options;
    const found = await findSecret(name);
    if (!found.ok) return err({ code: 'SECRET_UNREADABLE', member, secret: name, reason: found.error });
    if (found.value === undefined) return err({ code: 'SECRET_UNKNOWN', member, secret: name });
    const identity = computeOriginIdentity(spec);
    const isAllowed = found.value.uses.some((use) => use.server === spec.name && use.identity === identity);
    if (!isAllowed) return err({ code: 'SECRET_NOT_ALLOWED', member, secret: name, server: spec.name });
    const value = await open(name, found.value);
    return value.ok ? value : err({ code: 'SECRET_UNREADABLE', member, secret: name, reason: value.error });
  }

  /** Servers that are connected at the same time share one run. A failed one is not kept. */
  async #print(argv: readonly [string, ...string[]]): Promise<Result<string, string>> {
    const key = toKey(argv);
    const printing = this.#printed.get(key) ?? printValue(argv, this.#options.home);
    this.#printed.set(key, printing);
    const printed = await printing;
    if (!printed.ok && this.#printed.get(key) === printing) this.#printed.delete(key);
    return printed;
  }
}

function toKey(argv: readonly string[]): string {
  return JSON.stringify(argv);
}

/** Editors and programs end a text with a line break. */
function withoutLastBreak(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function findValueFault(member: EntryReference['member'], value: string): string | undefined {
  if (value === '') return 'it is empty';
  if (value.includes('\0')) return 'it contains a NUL character';
  return member === 'headers' && !isHeaderValue(value)
    ? 'it contains a line break or another character that is not allowed in a header'
    : undefined;
}

const MAX_HEADERS = 50;
/** How often a program runs again because a server refused what it printed: the largest burst, and the rate per minute. */
const MAX_RUNS = 10;

/** The headers that a program printed. The error ends a sentence, and holds nothing of them. */
function readPrintedHeaders(text: string): Result<readonly (readonly [string, string])[], string> {
  const printed = parseJson(text);
  if (!isJsonObject(printed)) return err('it is not a JSON object');
  const headers = Object.entries(printed);
  if (headers.length > MAX_HEADERS) return err(`it has more than ${MAX_HEADERS} headers`);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  if (names.size < headers.length) return err('a header appears twice');
  const read: (readonly [string, string])[] = [];
  for (const [name, value] of headers) {
    if (!isHeaderName(name)) return err('a key is not a valid header name');
    if (isProtocolHeader(name)) return err(`Assay sets the header ${name.toLowerCase()} itself`);
    if (typeof value !== 'string' || value === '') return err('a value is not a string, or is empty');
    if (!isHeaderValue(value))
      return err('a value contains a line break or another character that is not allowed in a header');
    read.push([name, value]);
  }
  return ok(read);
}

interface ReferenceValue {
  readonly reference: EntryReference;
  readonly value: string;
}

function replaceValues(transport: Transport, values: readonly ReferenceValue[]): Transport {
  const of = (member: EntryReference['member']): Readonly<Record<string, string>> =>
    Object.fromEntries(
      values
        .filter(({ reference }) => reference.member === member)
        .map(({ reference, value }) => [reference.name, value]),
    );
  switch (transport.kind) {
    case 'stdio':
    case 'codebase':
      return { ...transport, env: { ...transport.env, ...of('env') } };
    case 'http':
      return {
        ...transport,
        headers: mergeHeaders(transport.headers, of('headers')),
        // Its only reference is named like the member.
        ...of('proxy'),
      };
    default:
      return transport;
  }
}

/** Later ones replace earlier ones, whatever their case. */
function mergeHeaders(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const merged = new Map<string, readonly [string, string]>();
  for (const [name, value] of [...Object.entries(one), ...Object.entries(other)])
    merged.set(name.toLowerCase(), [name, value]);
  return Object.fromEntries(merged.values());
}
